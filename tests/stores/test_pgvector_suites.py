"""What holds for every store holds with pgvector as its index: the wall between users, and erasures."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ltm_core import ConfigError, LongTermMemory
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.erasure_contract import WAYS, ErasureContract
from ltm_core.testing.isolation_contract import IsolationContract
from ltm_core.testing.servers import PostgresServer

pytest.importorskip("psycopg")
ENOUGH = 200.0
"""Seconds in which the thread of an index has copied a few vectors."""


def opened_at(url: str, place: Path, clock: Clock, new_id: Callable[[], str], **options: Any) -> LongTermMemory:
    """A place is a schema of the database; every user of it is searched by pgvector's graph."""
    schema = "s" + hashlib.sha256(str(place).encode()).hexdigest()[:16]
    given: dict[str, Any] = {
        "embedder": HashEmbedder(),
        "timezone": "UTC",
        "external_vectors_from": 1,
        "pgvector_graph_from": 1,
        **options,
    }
    location = f"{url}?partitions=1&schema={schema}&key_file={place.with_suffix('.key')}"
    return LongTermMemory.open(location, clock=clock, new_id=new_id, vectors="pgvector", **given)


def agrees(memory: LongTermMemory) -> None:
    """Every user is copied, and the copies are those of the store."""
    index = memory._runtime.store.core.attached.index  # type: ignore[attr-defined]
    deadline = time.monotonic() + ENOUGH
    while index.step() or index.is_behind():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert index.differing() == {}


@pytest.mark.servers
class TestIsolation(IsolationContract):
    """A thread makes copies and graphs while the users go on: what it has done must make no difference."""

    EXAMPLES = 2
    AT_LENGTH = 20
    url = ""

    @pytest.fixture(autouse=True)
    def _database(self, postgres_url: str) -> None:
        self.url = postgres_url

    def opened(self, place: Path, clock: Clock, new_id: Callable[[], str], /, **options: Any) -> LongTermMemory:
        return opened_at(self.url, place, clock, new_id, **options)


@pytest.mark.servers
class TestErasure(ErasureContract):
    """The bytes are gone from the files of the database when its tables were written anew."""

    url = ""
    folder = Path()

    @pytest.fixture(autouse=True)
    def _database(self, postgres_server: PostgresServer, postgres_url: str) -> None:
        self.url, self._server = postgres_url, postgres_server
        name = postgres_url.rpartition("/")[2]
        oid = postgres_server.run(f"SELECT oid FROM pg_database WHERE datname = '{name}'")
        self.folder = postgres_server._data / "base" / oid

    def __getstate__(self) -> dict[str, Any]:
        # What the child of a test needs; the server is its parent's.
        return {"url": self.url}

    def opened(self, place: Path, clock: Clock, new_id: Callable[[], str], /, **options: Any) -> LongTermMemory:
        return opened_at(self.url, place, clock, new_id, **options)

    def files(self, place: Path) -> list[Path]:
        return [self.folder]

    def settle(self, memory: LongTermMemory) -> None:
        agrees(memory)
        self._server.run("CHECKPOINT")

    def finish(self, memory: LongTermMemory, is_clean: bool) -> None:
        memory.maintain()

    @pytest.mark.parametrize("way", ["a user", "a session", "a fact, sources masked", "an edit"])
    def test_no_byte_is_left_then_or_after_a_restart(self, tmp_path: Path, way: str) -> None:
        assert way in WAYS
        super().test_no_byte_is_left_then_or_after_a_restart(tmp_path, way)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_directory_has_no_pgvector(tmp_path: Path, read_only: bool) -> None:
    LongTermMemory.open(tmp_path, embedder="none").close()
    with pytest.raises(ConfigError, match="needs a store in PostgreSQL"):
        LongTermMemory.open(tmp_path, embedder="none", vectors="pgvector", read_only=read_only)
