"""The suite that every store passes. Inherit it, give it two fixtures, and it runs.

class TestMine(StoreContract):
    @pytest.fixture
    def store(self) -> Iterator[Store]: ...       # empty, writable, closed afterwards
    @pytest.fixture
    def reopen(self, store) -> Iterator[Callable[[], Store]]: ...   # another object on the same data
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ltm_core.store.base import Store
from ltm_core.testing.builders import DIMENSION, T0
from ltm_core.testing.contract_documents import DocumentContract
from ltm_core.testing.contract_facts import FactContract
from ltm_core.testing.contract_life import LifeContract
from ltm_core.testing.contract_logs import LogContract
from ltm_core.testing.contract_messages import MessageContract
from ltm_core.testing.contract_operations import OperationsContract
from ltm_core.testing.contract_rows import RowContract
from ltm_core.testing.contract_second import SecondSetContract
from ltm_core.testing.contract_snapshot import SnapshotContract
from ltm_core.testing.contract_summaries import SummaryContract


class StoreContract(
    MessageContract,
    FactContract,
    SnapshotContract,
    SecondSetContract,
    DocumentContract,
    SummaryContract,
    LifeContract,
    LogContract,
    RowContract,
    OperationsContract,
):
    """Abstract: `store` and `reopen` come from the inheriting class."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        """An empty store that may be written."""
        raise NotImplementedError

    @pytest.fixture
    def reopen(self, store: Store) -> Iterator[Callable[[], Store]]:
        """Opens another store object on the data of ``store``; all are closed afterwards."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _embedder(self, store: Store) -> None:
        store.operations().set_embedder_identity("test-embedder", dimension=DIMENSION, now=T0)


__all__ = ["StoreContract"]
