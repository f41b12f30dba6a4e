"""The snapshot cache: bounded, appended to in place, never stale, also across processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ltm_core.config import Config
from ltm_core.store.base import ChunkWrite
from ltm_core.store.sql.columns import Columns
from ltm_core.store.sql.snapshot import SnapshotCache
from ltm_core.store.sqlite import SqliteStore, open_store
from ltm_core.testing.builders import DIMENSION, T0, at, message, say, vector

MIB = 1024 * 1024


def opened(path: Path, **values: object) -> SqliteStore:
    store = open_store(path, config=Config.make(**values))
    store.operations().set_embedder_identity("e", dimension=DIMENSION, now=T0)
    return store


def cache_of(store: SqliteStore) -> SnapshotCache:
    return store.core.snapshots()


def write_rows(store: SqliteStore, user: str, count: int) -> None:
    with store.write(user) as w:
        m = w.add_message(message(f"m{w.counts()['messages']}"))
        w.set_chunks(
            "message",
            m.item,
            [
                ChunkWrite(start=0, end=1, terms={"word": 1, f"t{i % 50}": 1}, vector=vector(i % 20))
                for i in range(count)
            ],
            at=T0,
        )


def test_the_cache_keeps_to_its_budget_and_forgets_the_oldest(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "data", vector_cache_mb=1)) as store:
        for i in range(5):
            write_rows(store, f"u{i}", 1800)
        cache = cache_of(store)
        loads = 0
        real = Columns.load.__func__  # type: ignore[attr-defined]

        def counted(cls: type[Columns], view: object) -> Columns:
            nonlocal loads
            loads += 1
            return real(cls, view)  # type: ignore[no-any-return]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Columns, "load", classmethod(counted))
            for user in ("u0", "u1", "u2", "u0", "u3", "u4", "u0"):
                with store.read(user) as r:
                    assert len(r.snapshot().rows.item) == 1800
                    assert len(r.snapshot().postings(["word"])[0][0]) == 1800
                assert 0 < cache.used <= MIB
            assert 5 <= loads <= 7
            before = loads
            with store.read("u0") as r:
                r.snapshot()
            assert loads == before
        write_rows(store, "huge", 12_000)
        with store.read("huge") as r:
            assert len(r.snapshot().rows.item) == 12_000
        assert cache.used <= MIB


def test_a_write_is_appended_and_a_removal_keeps_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(opened(tmp_path / "data")) as store:
        with store.write("ana") as w:
            rows = [say(w, f"m{i}", f"word w{i}", seed=i) for i in range(50)]
        with store.read("ana") as r:
            old = r.snapshot()
            old.postings(["word"])
        monkeypatch.setattr(Columns, "load", lambda *_: pytest.fail("loaded whole again"))
        for i in range(50, 90):
            with store.write("ana") as w:
                rows.append(say(w, f"m{i}", f"word w{i}", seed=i))
            with store.read("ana") as r:
                snapshot = r.snapshot()
                assert len(snapshot.rows.item) == i + 1
                assert snapshot.postings(["word", f"w{i}"])[1][0].tolist() == [i]
                assert snapshot.cosine(vector(i))[i] >= 0.999
                assert len(snapshot.postings(["word"])[0][0]) == i + 1
        with store.write("ana") as w:
            w.delete_messages([r.item for r in rows[::2]])
            say(w, "last", "word last", seed=500)
        with store.read("ana") as r:
            snapshot = r.snapshot()
            assert snapshot.rows.owner.tolist()[:-1] == [r.item for r in rows[1::2]]
            assert [np.nanargmax(snapshot.cosine(vector(i))) for i in range(1, 90, 2)] == list(range(45))
            assert snapshot.cosine(vector(500))[45] >= 0.999
            assert snapshot.postings(["w1", "w2"])[0][0].tolist() == [0]
            assert len(snapshot.postings(["word"])[0][0]) == 46
        assert len(old.rows.item) == 50 and len(old.cosine(vector(1))) == 50


WRITER = """
import sys
from ltm_core.config import Config
from ltm_core.store.sqlite import open_store
from ltm_core.testing.builders import T0, say
store = open_store(sys.argv[1], config=Config.make())
for line in sys.stdin:
    what, n = line.split()
    with store.write("ana") as w:
        if what == "add": say(w, f"m{n}", "word", seed=int(n))
        if what == "drop": w.delete_messages([w.messages(ids=[f"m{n}"])[0].item])
        if what == "erase": w.erase_user(now=T0)
    print("done", flush=True)
store.close()
"""


def test_another_process_is_seen_at_once(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with closing(opened(path)) as store:
        run = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert run.stdin is not None and run.stdout is not None

        def tell(what: str, n: int = 0) -> list[str]:
            assert run.stdin is not None and run.stdout is not None
            run.stdin.write(f"{what} {n}\n")
            run.stdin.flush()
            assert run.stdout.readline() == "done\n"
            with store.read("ana") as r:
                snapshot = r.snapshot()
                names = {m.item: m.id for m in r.messages()}
                assert len(snapshot.postings(["word"])[0][0]) == len(names)
                return [names[i] for i in snapshot.rows.owner.tolist()]

        expected = []
        for i in range(40):
            expected.append(f"m{i}")
            assert tell("add", i) == expected
            if i % 5 == 4:
                expected.remove(f"m{i - 2}")
                assert tell("drop", i - 2) == expected
        assert tell("erase") == []
        assert tell("add", 99) == ["m99"]
        run.stdin.close()
        run.wait(20)
        run.stdout.close()


def test_readers_of_different_moments_share_the_cache(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "data")) as store:
        errors: list[BaseException] = []
        done = threading.Event()

        def read() -> None:
            try:
                while not done.is_set():
                    with store.read("ana") as r:
                        n = len(r.messages())
                        snapshot = r.snapshot()
                        assert len(snapshot.rows.item) == n
                        assert len(snapshot.postings(["word"])[0][0]) == n
                        found = snapshot.cosine(vector(3))
                        assert len(found) == n and np.isfinite(found).all()
            except BaseException as e:  # noqa: BLE001
                errors.append(e)

        readers = [threading.Thread(target=read) for _ in range(4)]
        for t in readers:
            t.start()
        for i in range(120):
            with store.write("ana") as w:
                row = say(w, f"m{i}", "word", seed=i)
            if i % 10 == 9:
                with store.write("ana") as w:
                    w.delete_messages([row.item])
        done.set()
        for t in readers:
            t.join()
        assert not errors
        with store.read("ana") as r:
            assert len(r.snapshot().rows.item) == 108


def test_an_erased_user_is_not_kept_in_memory(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "data")) as store:
        write_rows(store, "ana", 500)
        with store.read("ana") as r:
            r.snapshot()
        assert cache_of(store).used > 0
        with store.write("ana") as w:
            w.erase_user(now=at(1))
        assert cache_of(store).used == 0
