"""The door of a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from ltm_core.store.base.operations import Operations
from ltm_core.store.base.reading import RowReader
from ltm_core.store.base.writing import Writer
from ltm_core.types import FactChange


class Store(Protocol):
    """Safe to use from many threads; several processes may open one location; survives a fork."""

    @property
    def location(self) -> str: ...
    @property
    def read_only(self) -> bool: ...

    def read(self, user_id: str) -> AbstractContextManager[RowReader]:
        """One consistent moment of one user; never blocks a writer."""
        ...

    def write(self, user_id: str) -> AbstractContextManager[Writer]:
        """One transaction: committed when the block ends, undone when it raises. Waits for other writers up to
        the busy timeout, then raises BusyError. The user's revision grows by one if anything changed."""
        ...

    def listen(self, callback: Callable[[Sequence[FactChange]], None]) -> Callable[[], None]:
        """``callback`` gets what each transaction of this object logged, after its commit, in the thread that
        wrote; what another process or object wrote it does not get. Returns the call that ends it. The callback
        must not raise: the write stands whatever it does."""
        ...

    def operations(self) -> Operations: ...
    def mac(self, value: str) -> str:
        """Keyed hash (hex) of an id, for receipts and logs."""
        ...

    def close(self) -> None: ...


StoreFactory: TypeAlias = Callable[[], Store]


__all__ = [
    "Store",
    "StoreFactory",
]
