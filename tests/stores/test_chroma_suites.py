"""What holds for every store holds with Chroma as its index: the contract, kills, walls between users, erasures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("chromadb")

from ltm_core import LongTermMemory
from ltm_core.config import Config
from ltm_core.store.base import Store
from ltm_core.store.sqlite import open_store
from ltm_core.testing import chroma
from ltm_core.testing.clock import Clock
from ltm_core.testing.crash import CrashRun
from ltm_core.testing.erasure_contract import ErasureContract
from ltm_core.testing.isolation_contract import IsolationContract
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


class TestIsolation(IsolationContract):
    """A thread tells the index while the users go on: what it has heard must make no difference."""

    EXAMPLES = 3
    AT_LENGTH = 60

    def opened(self, place: Path, clock: Clock, new_id: Callable[[], str], /, **options: Any) -> LongTermMemory:
        return chroma.opened(place, clock, new_id, **options)


class TestErasure(ErasureContract):
    """The files of the index are files of the store."""

    def opened(self, place: Path, clock: Clock, new_id: Callable[[], str], /, **options: Any) -> LongTermMemory:
        return chroma.opened(place, clock, new_id, **options)

    def settle(self, memory: LongTermMemory) -> None:
        chroma.settle(memory)


def killed(folder: Path, seed: int, kills: int) -> CrashRun:
    """The run, ended: each death left index and truth the same, and no folder that was not closed was used again."""
    run = CrashRun(folder, opened=chroma.opened, seed=seed, watched=chroma.graph_files, also=chroma.agrees)
    while run.kills < kills:
        run.round()
    run.finish()
    return run


def test_a_few_kills(tmp_path: Path) -> None:
    assert killed(tmp_path, 7, 4).kills == 4


@pytest.mark.faults
@pytest.mark.timeout(1800)
def test_a_hundred_kills(tmp_path: Path) -> None:
    run = killed(tmp_path, 1, KILLS)
    print(f"{run.kills} kills, {run.kills_in_change} when files of a graph changed, {dict(run.outcomes)}")
    assert run.kills_in_change > KILLS // 10
