"""What holds for every store holds with Chroma as its index, in the process and on a server: the contract, kills, the
wall between users, erasures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("chromadb")

from ltm_core import LongTermMemory
from ltm_core.config import Config
from ltm_core.ids import new_uuid7
from ltm_core.store.base import Store
from ltm_core.store.sqlite import open_store
from ltm_core.testing import chroma
from ltm_core.testing.builders import DIMENSION
from ltm_core.testing.builders import T0 as BUILT_AT
from ltm_core.testing.clock import Clock
from ltm_core.testing.contract_life import LifeContract
from ltm_core.testing.contract_second import SecondSetContract
from ltm_core.testing.contract_snapshot import SnapshotContract
from ltm_core.testing.crash import CrashRun
from ltm_core.testing.crash_work import T0
from ltm_core.testing.erasure_contract import ErasureContract
from ltm_core.testing.isolation_contract import IsolationContract
from ltm_core.testing.servers import ChromaServer
from ltm_core.testing.store_contract import StoreContract

pytestmark = pytest.mark.servers
KILLS = 100


class TestContract(StoreContract):
    """Every user is covered, and the index has heard of each commit before the next call."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with closing(chroma.settled_store(tmp_path / "data")) as store:
            yield store

    @pytest.fixture
    def reopen(self, store: Store) -> Iterator[Callable[[], Store]]:
        with ExitStack() as stack:
            yield lambda: stack.enter_context(closing(open_store(store.location, config=Config.make())))


class TestContractOnAServer(SnapshotContract, LifeContract, SecondSetContract):
    """The collections are on a server: what the contract says of vectors, erasures and two sets."""

    @pytest.fixture
    def store(self, tmp_path: Path, chroma_url: str) -> Iterator[Store]:
        with closing(chroma.settled_store(tmp_path / "data", vectors=chroma_url)) as store:
            yield store

    @pytest.fixture
    def reopen(self, store: Store) -> Iterator[Callable[[], Store]]:
        with ExitStack() as stack:
            yield lambda: stack.enter_context(closing(open_store(store.location, config=Config.make())))

    @pytest.fixture(autouse=True)
    def _embedder(self, store: Store) -> None:
        store.operations().set_embedder_identity("test-embedder", dimension=DIMENSION, now=BUILT_AT)


class TestIsolation(IsolationContract):
    """A thread tells the index while the users go on: what it has heard must make no difference."""

    EXAMPLES = 3
    AT_LENGTH = 60
    vectors = "chroma"

    def opened(self, place: Path, clock: Clock, new_id: Callable[[], str], /, **options: Any) -> LongTermMemory:
        return chroma.opened(place, clock, new_id, vectors=self.vectors, **options)


class TestIsolationOnAServer(TestIsolation):
    """All stores of the test are on one server."""

    @pytest.fixture(autouse=True)
    def _server(self, chroma_url: str) -> None:
        self.vectors = chroma_url


class TestErasure(ErasureContract):
    """The files of the index are files of the store."""

    vectors = "chroma"

    def opened(self, place: Path, clock: Clock, new_id: Callable[[], str], /, **options: Any) -> LongTermMemory:
        return chroma.opened(place, clock, new_id, vectors=self.vectors, **options)

    def settle(self, memory: LongTermMemory) -> None:
        chroma.agrees(memory)


class TestErasureOnAServer(TestErasure):
    """Its files are not ours: it is asked for nothing that was erased, and keeps no id of it."""

    @pytest.fixture(autouse=True)
    def _server(self, chroma_url: str) -> None:
        self.vectors = chroma_url


def killed(folder: Path, vectors: str, seed: int, kills: int) -> CrashRun:
    """The run, ended: each death left index and truth the same, and no folder that was not closed was used again."""
    watched = chroma.graph_files if vectors == "chroma" else None
    run = CrashRun(folder, opened=chroma.opening(vectors), seed=seed, watched=watched, also=chroma.agrees)
    while run.kills < kills:
        run.round()
    run.finish()
    return run


def test_a_few_kills(tmp_path: Path) -> None:
    assert killed(tmp_path, "chroma", 7, 4).kills == 4


def test_a_few_kills_of_who_talks_to_a_server(tmp_path: Path, chroma_url: str) -> None:
    assert killed(tmp_path, chroma_url, 7, 4).kills == 4


def test_a_server_that_dies_is_done_without(tmp_path: Path, chroma_server: ChromaServer) -> None:
    with chroma.opened(tmp_path / "data", Clock(T0), new_uuid7, vectors=chroma_server.url) as memory:
        for i in range(8):
            memory.observe(user_id="ana", session_id="s", user=f"I love tea number {i}.")
        chroma.agrees(memory)
        found = [h.text for h in memory.search("tea number 5", user_id="ana")]
        chroma_server.kill()
        assert found == [h.text for h in memory.search("tea number 5", user_id="ana")]
        memory.observe(user_id="ana", session_id="s", user="The heron sleeps on the mast.")
        assert "heron" in memory.search("heron mast", user_id="ana")[0].text
        chroma_server.start()
        memory.maintain()
        chroma.agrees(memory)
        assert memory.doctor().healthy


@pytest.mark.faults
@pytest.mark.timeout(3600)
def test_a_hundred_kills(tmp_path: Path) -> None:
    run = killed(tmp_path, "chroma", 1, KILLS)
    print(f"{run.kills} kills, {run.kills_in_change} when files of a graph changed, {dict(run.outcomes)}")
    assert run.kills_in_change > KILLS // 10


@pytest.mark.faults
@pytest.mark.timeout(3600)
def test_a_hundred_kills_of_who_talks_to_a_server(tmp_path: Path, chroma_url: str) -> None:
    run = killed(tmp_path, chroma_url, 2, KILLS)
    print(f"{run.kills} kills, {dict(run.outcomes)}")
