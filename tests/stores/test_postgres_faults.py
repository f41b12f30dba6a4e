"""Connections that die, servers that stop, locks that are taken: clear errors, nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory
from ltm_core.config import Config
from ltm_core.errors import BusyError, LTMError, UnavailableError
from ltm_core.store.postgres import open_store
from ltm_core.testing.builders import DIMENSION, T0, at, fact, say
from ltm_core.types import FactChange

psycopg = pytest.importorskip("psycopg")
from ltm_core.store.postgres.faults import Lost, translate  # noqa: E402
from ltm_core.store.postgres.pool import Pool  # noqa: E402
from ltm_core.store.postgres.store import PostgresStore  # noqa: E402

pytestmark = pytest.mark.servers
QUICK = Config.make(busy_timeout_seconds=0.5)


@pytest.fixture
def url(postgres_url: str, tmp_path: Path) -> str:
    return f"{postgres_url}?partitions=2&key_file={tmp_path / 'store.key'}"


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with closing(open_store(url, config=Config.make())) as store:
        store.operations().set_embedder_identity("test-embedder", dimension=DIMENSION, now=T0)
        yield store


@pytest.fixture
def server(postgres_server: Any) -> Iterator[Any]:
    """The server, which runs again afterwards."""
    yield postgres_server
    if not postgres_server._alive():
        postgres_server.start()


def end_sessions(postgres_server: Any) -> int:
    """Every session of the product is ended by the server; how many."""
    said = postgres_server.run(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'ltm-core'"
    )
    return int(said)


def contents(store: PostgresStore, user: str = "ana") -> list[str]:
    with store.read(user) as reader:
        return [m.content for m in reader.messages()]


# connections ------------------------------------------------------------------------------------------
def test_idle_connections_that_died_are_not_noticed(store: PostgresStore, server: Any) -> None:
    with store.write("ana") as w:
        say(w, "m1", "one")
    for _ in range(3):
        assert end_sessions(server) >= 1
        assert contents(store) == ["one"]
    end_sessions(server)
    with store.write("ana") as w:
        say(w, "m2", "two")
    assert contents(store) == ["one", "two"]


def test_a_read_whose_connection_dies_says_so(store: PostgresStore, server: Any) -> None:
    with pytest.raises(UnavailableError, match=r"ended the connection|lost"), store.read("ana") as reader:
        end_sessions(server)
        reader.messages()
    assert contents(store) == []


def test_a_write_whose_connection_dies_leaves_nothing(store: PostgresStore, server: Any) -> None:
    with pytest.raises(UnavailableError), store.write("ana") as w:
        say(w, "m1", "one")
        end_sessions(server)
        say(w, "m2", "two")
    assert contents(store) == []
    with store.write("ana") as w:
        say(w, "m1", "one")
    assert contents(store) == ["one"]


def test_a_commit_whose_answer_was_lost_is_repeated_by_id(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = Pool._commit

    def deaf(self: Pool, conn: Any) -> None:
        conn.execute("COMMIT")
        conn.close()
        commit(self, conn)

    with LongTermMemory.open(url, embedder="none", timezone="UTC") as memory:
        said: dict[str, Any] = {"user_id": "ana", "session_id": "s", "user": "I live in Porto.", "message_id": "m1"}
        with monkeypatch.context() as patched:
            patched.setattr(Pool, "_commit", deaf)
            with pytest.raises(UnavailableError, match="not known whether it was stored"):
                memory.observe(**said)
        seen = memory.observe(**said)
        assert [m.status for m in seen.messages] == ["duplicate"]
        assert [m.content for m in memory.messages(user_id="ana", session_id="s")] == ["I live in Porto."]
        assert len(memory.facts(user_id="ana").items) == 1


# the server -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_server_that_comes_back_is_used_again(url: str, server: Any, how: str) -> None:
    with closing(open_store(url, config=QUICK)) as store:
        with store.write("ana") as w:
            w.ensure_user(now=T0)
        getattr(server, how)()
        with pytest.raises(UnavailableError, match=r"cannot be reached|lost|stopping"), store.read("ana"):
            pass
        with pytest.raises(UnavailableError), store.write("ben") as w:
            w.ensure_user(now=T0)
        with pytest.raises(UnavailableError, match=r"cannot be reached|lost"):
            open_store(url, config=QUICK)
        server.start()
        with store.read("ana") as reader:
            assert reader.user() is not None
        with store.write("ben") as w:
            w.ensure_user(now=T0)
        assert store.operations().users() == ["ana", "ben"]


def test_what_was_acknowledged_outlives_a_crash(store: PostgresStore, server: Any) -> None:
    done = []
    for i in range(20):
        with store.write("ana") as w:
            say(w, f"m{i}", f"word {i}")
        done.append(f"word {i}")
    server.kill()
    server.start()
    assert contents(store) == done


# locks ------------------------------------------------------------------------------------------------
def test_writers_of_one_user_wait_and_of_two_do_not(url: str, store: PostgresStore) -> None:
    with closing(open_store(url, config=QUICK)) as other, store.write("ana") as w:
        say(w, "m1", "one")
        with pytest.raises(BusyError, match="may be repeated"):
            _write_in_a_thread(other, "ana")
        _write_in_a_thread(other, "ben")
        assert contents(other, "ben") == ["from a thread"]
        assert contents(other) == []
    assert contents(store) == ["one"]


def _write_in_a_thread(store: PostgresStore, user: str) -> None:
    failed: list[LTMError] = []

    def work() -> None:
        try:
            with store.write(user) as w:
                say(w, "t1", "from a thread")
        except LTMError as e:
            failed.append(e)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    if failed:
        raise failed[0]


def test_a_change_of_the_whole_store_waits_for_writers(url: str, store: PostgresStore) -> None:
    with closing(open_store(url, config=QUICK)) as other, store.write("ana") as w:
        w.ensure_user(now=T0)
        with pytest.raises(BusyError):
            other.operations().close_idle_sessions(idle_before=at(5), now=at(5), limit=5)
        other.operations().set_setting("floor:e", "1")
    assert store.operations().setting("floor:e") == "1"


def test_when_every_connection_is_at_work_the_next_call_waits_and_says_so(url: str) -> None:
    few = Config.make(busy_timeout_seconds=0.5, postgres_connections=2)
    with closing(open_store(url, config=few)) as store:
        with (
            store.read("a"),
            store.read("b"),
            pytest.raises(BusyError, match="every connection of this process was in use"),
            store.read("c"),
        ):
            pass
        with store.read("c") as reader:
            assert reader.user() is None


def test_the_feed_waits_for_numbers_that_are_not_committed(url: str, store: PostgresStore) -> None:
    def log(writer: Any, id: str) -> None:
        writer.add_fact(fact(id, id, user_id=writer.user_id))
        writer.log_change(FactChange(op="add", fact=fact(id, id, user_id=writer.user_id), at=T0))

    with closing(open_store(url, config=QUICK)) as other:
        with store.write("ana") as first:
            log(first, "f1")
            with other.write("ben") as second:
                log(second, "f2")
            # A later number is there; to show it now would hide the earlier one for ever.
            with pytest.raises(BusyError):
                other.operations().change_marks(after=0, limit=10)
        marks = other.operations().change_marks(after=0, limit=10)
        assert [user for _, user in marks] == ["ana", "ben"]
        assert [n for n, _ in marks] == sorted(n for n, _ in marks)


# processes, threads and loops ---------------------------------------------------------------------------
def test_two_processes_lose_nothing(url: str, store: PostgresStore) -> None:
    code = (
        "import sys\nfrom ltm_core.config import Config\nfrom ltm_core.store.postgres import open_store\n"
        "from ltm_core.testing.builders import say\n"
        "store = open_store(sys.argv[1], config=Config.make(busy_timeout_seconds=60))\n"
        "for i in range(25):\n"
        "    with store.write('ana') as w:\n        say(w, f'{sys.argv[2]}-{i}', f'{sys.argv[2]} {i}')\n"
        "store.close()\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code, url, name]) for name in ("one", "two")]
    assert [w.wait(100) for w in workers] == [0, 0]
    assert sorted(contents(store)) == sorted(f"{n} {i}" for n in ("one", "two") for i in range(25))
    with store.read("ana") as reader:
        state = reader.user()
        assert state is not None and state.revision == 50
        assert len(reader.snapshot().rows.item) == 50
        assert not reader.index_faults().owners


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_uses_the_store_with_connections_of_its_own(store: PostgresStore) -> None:
    with store.write("ana") as w:
        say(w, "m1", "parent")
    child = os.fork()
    if not child:
        code = 1
        try:
            with store.write("ana") as w:
                say(w, "m2", "child")
            code = 0 if contents(store) == ["parent", "child"] else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert contents(store) == ["parent", "child"]


def test_two_hundred_questions_at_once_share_a_few_connections(url: str) -> None:
    async def ask(memory: LongTermMemory) -> list[Any]:
        for i in range(5):
            await memory.aobserve(user_id=f"u{i}", session_id="s", user=f"My cat is called Miso {i}.")
        return await asyncio.gather(
            *(memory.acontext("What is my cat called?", user_id=f"u{i % 5}") for i in range(200))
        )

    with LongTermMemory.open(url, embedder="none", timezone="UTC", postgres_connections=3) as memory:
        found = asyncio.run(ask(memory))
    assert [f"Miso {i % 5}" in c.text for i, c in enumerate(found)] == [True] * 200


@pytest.mark.faults
def test_a_standby_takes_no_writes_until_it_is_promoted(tmp_path: Path) -> None:
    from ltm_core.testing.servers import PostgresServer

    settings = {"fsync": "off", "wal_level": "replica", "hot_standby": "on"}
    with PostgresServer(settings=settings) as server:
        place = f"{server.new_database()}?partitions=2&key_file={tmp_path / 'store.key'}"
        with LongTermMemory.open(place, embedder="none", timezone="UTC") as memory:
            memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
            server.stop()
            (server._data / "standby.signal").touch()
            server.start()
            for _ in range(2):
                with pytest.raises(UnavailableError, match=r"takes no writes.*target_session_attrs"):
                    memory.observe(user_id="ana", session_id="s", user="I moved to Lisbon.")
                assert "Porto" in memory.context("Where do I live?", user_id="ana").text
            server.run("SELECT pg_promote()")
            memory.observe(user_id="ana", session_id="s", user="I moved to Lisbon.")
            assert "Lisbon" in memory.context("Where do I live?", user_id="ana").text


@pytest.mark.parametrize(
    ("said", "kind", "reason"),
    [
        ('connection failed: FATAL:  too many connections for role "app"', BusyError, "no connection left"),
        ("connection failed: FATAL:  sorry, too many clients already", BusyError, "no connection left"),
        ("connection failed: SSL error: certificate verify failed", UnavailableError, "certificate"),
        ("connection failed: server does not support SSL, but SSL was required", UnavailableError, "no TLS"),
        ("SSL connection has been closed unexpectedly", UnavailableError, "was lost"),
        ("connection failed: could not translate host name", UnavailableError, "name of the host"),
    ],
)
def test_a_refused_connection_says_why_in_our_words(said: str, kind: type[LTMError], reason: str) -> None:
    error = translate(psycopg.OperationalError(f"{said} secret"), "postgresql://db/app")
    assert type(error) is kind or (kind is UnavailableError and isinstance(error, Lost))
    assert reason in str(error) and "secret" not in str(error)
