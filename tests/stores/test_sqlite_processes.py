"""Many processes and threads on one SQLite store: nothing lost, nobody locked out, no fork surprise."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from ltm_core.config import Config
from ltm_core.errors import UnavailableError
from ltm_core.store.sqlite import files, open_store
from ltm_core.testing.builders import DIMENSION, T0, fact, say

CONFIG = Config.make()
PROCESSES, THREADS, WRITES = 4, 5, 50


def prepared(path: Path) -> Path:
    with closing(open_store(path, config=CONFIG)) as store:
        store.operations().set_embedder_identity("e", dimension=DIMENSION, now=T0)
    return path


def write_many(path: str, process: int) -> None:
    """In a process of its own: threads that write distinct messages and facts; exits 1 on any error."""
    errors: list[BaseException] = []
    with closing(open_store(path, config=CONFIG)) as store:

        def work(thread: int) -> None:
            try:
                for i in range(WRITES):
                    id = f"{process}-{thread}-{i}"
                    with store.write("ana" if thread % 2 else "ben") as w:
                        say(w, id, f"word {id}", session_id=f"s{process}")
                        w.add_fact(fact(id, id))
            except BaseException as e:  # noqa: BLE001
                errors.append(e)

        threads = [threading.Thread(target=work, args=(t,)) for t in range(THREADS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    if errors:
        raise errors[0]


@pytest.mark.slow
def test_four_processes_of_five_threads_lose_nothing(tmp_path: Path) -> None:
    path = prepared(tmp_path / "data")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(str(path), p)) for p in range(PROCESSES)]
    for worker in workers:
        worker.start()
    slowest = 0.0
    with closing(open_store(path, config=CONFIG)) as store:
        while any(w.is_alive() for w in workers):
            for user in ("ana", "ben"):
                began = time.monotonic()
                with store.read(user) as r:
                    messages, facts, snapshot = r.messages(), r.facts(), r.snapshot()
                slowest = max(slowest, time.monotonic() - began)
                assert len(messages) == len(facts) == len(snapshot.rows.item)
            time.sleep(0.01)
        for worker in workers:
            worker.join()
        assert [w.exitcode for w in workers] == [0] * PROCESSES
        found = set()
        for user in ("ana", "ben"):
            with store.read(user) as r:
                found |= {f.id for f in r.facts()}
                assert len(r.snapshot().postings(["word"])[0][0]) == len(r.messages())
        assert found == {f"{p}-{t}-{i}" for p in range(PROCESSES) for t in range(THREADS) for i in range(WRITES)}
    assert slowest < 5
    with closing(sqlite3.connect(path / files.DATABASE)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_processes_that_open_at_once_agree_on_one_key(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom ltm_core.config import Config\nfrom ltm_core.store.sqlite import open_store\n"
        "s = open_store(sys.argv[1], config=Config.make()); print(s.mac('ana')); s.close()\n"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "data")], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    answers = {run.communicate()[0] for run in runs}
    assert len(answers) == 1 and all(run.returncode == 0 for run in runs)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_opens_its_own_connections(tmp_path: Path) -> None:
    path = prepared(tmp_path / "data")
    with closing(open_store(path, config=CONFIG)) as store:
        with store.write("ana") as w:
            say(w, "parent")
        with store.read("ana") as r:
            r.snapshot()
        holding, release = threading.Event(), threading.Event()

        def hold() -> None:
            with store.write("ben") as w:
                say(w, "held")
                holding.set()
                release.wait(20)

        thread = threading.Thread(target=hold)
        thread.start()
        holding.wait(20)
        # A thread of the parent is inside a write: the fork waits until it is done.
        threading.Timer(0.3, release.set).start()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with store.read("ana") as r:
                    alone = [m.id for m in r.messages()] == ["parent"] and len(r.snapshot().rows.item) == 1
                with store.write("ana") as w:
                    say(w, "child")
                code = 0 if alone else 2
            finally:
                os._exit(code)
        assert release.is_set()
        thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with store.write("ana") as w:
            say(w, "after")
        with store.read("ana") as r:
            assert [m.id for m in r.messages()] == ["parent", "child", "after"]
            assert len(r.snapshot().rows.item) == 3
        with store.read("ben") as r:
            assert len(r.messages()) == 1
    with closing(sqlite3.connect(path / files.DATABASE)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_inside_a_block_is_refused_in_the_child_only(tmp_path: Path) -> None:
    path = prepared(tmp_path / "data")
    with closing(open_store(path, config=CONFIG)) as store:
        with store.write("ana") as w:
            say(w, "one")
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    for open_again in (False, True):
                        with pytest.raises(UnavailableError, match="forked"):
                            door = open_store(path, config=CONFIG) if open_again else store
                            with door.read("ana"):
                                pass
                    code = 0
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            say(w, "two")
        with store.read("ana") as r:
            assert [m.id for m in r.messages()] == ["one", "two"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_log_outlives_the_parent_while_a_child_uses_it(tmp_path: Path) -> None:
    path = prepared(tmp_path / "data")
    store = open_store(path, config=CONFIG)
    with store.write("ana") as w:
        say(w, "parent")
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with store.write("ana") as w:
                say(w, "before")
            os.write(ready[1], b"x")
            os.read(go[0], 1)
            with store.write("ana") as w:
                say(w, "after")
            code = 0
        finally:
            os._exit(code)
    os.read(ready[0], 1)
    # As the last one of its process the parent would remove the log, did the child not hold its own lock.
    store.close()
    os.write(go[1], b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for fd in (*ready, *go):
        os.close(fd)
    with closing(open_store(path, config=CONFIG)) as store, store.read("ana") as r:
        assert [m.id for m in r.messages()] == ["parent", "before", "after"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forks_amid_busy_threads_lose_nothing(tmp_path: Path) -> None:
    path = prepared(tmp_path / "data")
    with closing(open_store(path, config=CONFIG)) as store:
        errors: list[BaseException] = []
        written: list[str] = []
        stop = threading.Event()

        def read() -> None:
            while not stop.wait(0.001):
                try:
                    with store.read("ana") as r:
                        assert len(r.snapshot().rows.item) == len(r.messages())
                except BaseException as e:  # noqa: BLE001
                    errors.append(e)

        def write() -> None:
            while not stop.wait(0.002):
                try:
                    with store.write("ana") as w:
                        say(w, f"parent-{len(written)}")
                    written.append(f"parent-{len(written)}")
                except BaseException as e:  # noqa: BLE001
                    errors.append(e)

        threads = [threading.Thread(target=t) for t in (read, read, write)]
        for t in threads:
            t.start()
        children = []
        for i in range(10):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    for k in range(4):
                        with store.write("ana") as w:
                            say(w, f"child-{i}-{k}")
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        assert [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children] == [0] * 10
        stop.set()
        for t in threads:
            t.join()
        assert not errors
        with store.read("ana") as r:
            found = {m.id for m in r.messages()}
        assert found == {*written, *(f"child-{i}-{k}" for i in range(10) for k in range(4))}
    with closing(sqlite3.connect(path / files.DATABASE)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)


KILLED = """
import sys
from pathlib import Path
from ltm_core.config import Config
from ltm_core.store.sqlite import open_store
from ltm_core.testing.builders import fact, say
store = open_store(sys.argv[1], config=Config.make())
i = int(sys.argv[2])
while True:
    with store.write("ana") as w:
        for k in range(3):
            say(w, f"{i}-{k}", f"word {i}", seed=i)
        w.add_fact(fact(f"{i}", f"{i}"))
    sys.stdout.write(f"{i}\\n"); sys.stdout.flush()
    i += 1
"""


@pytest.mark.slow
def test_killed_writers_keep_what_they_acknowledged(tmp_path: Path) -> None:
    path = prepared(tmp_path / "data")
    acknowledged: set[str] = set()
    begin = 0
    for round in range(8):
        run = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path), str(begin)], stdout=subprocess.PIPE, bufsize=0
        )
        assert run.stdout is not None
        first = run.stdout.readline()
        time.sleep(0.01 + 0.04 * round)
        run.send_signal(signal.SIGKILL)
        rest, _ = run.communicate()
        lines = (first + rest).split(b"\n")[:-1]
        acknowledged |= {line.decode() for line in lines}
        begin += len(lines) + 5
        with closing(open_store(path, config=CONFIG)) as store:
            with store.read("ana") as r:
                facts = {f.id for f in r.facts()}
                per_fact = sorted(m.id for m in r.messages())
                assert acknowledged <= facts
                # No half write: three messages, chunks and vectors for each fact, no more.
                assert per_fact == sorted(f"{f}-{k}" for f in facts for k in range(3))
                snapshot = r.snapshot()
                assert len(snapshot.rows.item) == len(per_fact) == len(snapshot.postings(["word"])[0][0])
                assert r.counts()["vectors"] == len(per_fact)
            with store.connection() as conn:
                assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(acknowledged) > 8


def test_connections_follow_the_readers_and_not_the_threads(tmp_path: Path) -> None:
    path = prepared(tmp_path / "data")
    with closing(open_store(path, config=CONFIG)) as store:

        def handles() -> int:
            barrier = threading.Barrier(16)

            def read() -> None:
                with store.read("ana") as r:
                    barrier.wait(20)
                    r.messages()

            threads = [threading.Thread(target=read) for _ in range(16)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            links = Path("/proc/self/fd")
            return len(list(links.iterdir())) if links.is_dir() else 0

        first = handles()
        assert max(handles() for _ in range(5)) <= first + 1
