"""What this layer asks of an engine: a connection inside a transaction, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol


class Cursor(Protocol):
    """The rows of one statement, as tuples."""

    @property
    def rowcount(self) -> int:
        """Rows that the statement changed."""
        ...

    @property
    def description(self) -> Any:
        """A sequence per column; its first value is the name."""
        ...

    def fetchone(self) -> Any: ...
    def fetchmany(self, size: int, /) -> list[Any]: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection of the engine, used by one thread at a time."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Cursor: ...
    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Cursor: ...


class IndexLock(Protocol):
    """Held by the one process that keeps the external vector index of a store."""

    def acquire(self, timeout: float | None = None) -> None:
        """Held afterwards; BusyError when the timeout (seconds) runs out."""
        ...

    def release(self) -> None: ...
    def close(self) -> None:
        """What the lock itself needs is given back."""
        ...


__all__ = ["Connection", "Cursor", "IndexLock"]
