"""What an external vector index must do: hold ids and vectors of one user at a time, and be thrown away.

It is never the truth. A host holds named collections, one per large user; whatever is in doubt is removed and made
again from the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ltm_core.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.store.sql.base import View
    from ltm_core.store.sql.engine import Connection

OPTIONS = '"exact", "chroma", "chroma://HOST:PORT" or, in PostgreSQL, "pgvector"'


class Collection(Protocol):
    """The vectors of one user. Any exception means that it must not be used any more."""

    def upsert(self, items: Sequence[int], vectors: NDArray[np.float32]) -> None: ...
    def delete(self, items: Sequence[int]) -> None:
        """Unknown items are passed over."""
        ...

    def query(self, vector: NDArray[np.float32], most: int) -> list[int]:
        """Items near the vector, nearest first; some may be missed, and deleted ones may be among them."""
        ...

    def items(self) -> set[int]: ...
    def close(self) -> None: ...


class VectorHost(Protocol):
    """Where collections are."""

    @property
    def name(self) -> str: ...
    @property
    def local(self) -> bool:
        """True when the files are ours: they have one owner process, removing one leaves no byte, and one that was
        not closed in order is not opened again."""
        ...

    def create(self, name: str) -> Collection:
        """A new, empty one."""
        ...

    def open(self, name: str) -> Collection: ...
    def remove(self, name: str) -> None:
        """It is gone; harmless when it is not there."""
        ...

    def names(self) -> set[str]: ...
    def close(self) -> None: ...


class VectorIndex(Protocol):
    """What a store asks of the index beside it. It names rows; what they are worth is computed from the store."""

    stop: Callable[[float], bool]
    """Ends whoever runs `step` in a thread, within so many seconds."""

    wake: Callable[[], None]
    """Called when a user is searched whose vectors should be there and are not."""

    @property
    def owned(self) -> bool:
        """Whether this process may ask it."""
        ...

    def covers(self, view: View) -> bool:
        """Whether the user's vectors need not be in memory."""
        ...

    def near(self, view: View, conn: Connection, vector: NDArray[np.float32]) -> list[int] | None:
        """Items to look at; None when the user must be searched exactly."""
        ...

    def step(self) -> int:
        """A part of what is left to do is done; returns how much, 0 when nothing is."""
        ...

    def is_behind(self) -> bool:
        """Whether something is left to do, for this process or another one."""
        ...

    def erase(self) -> int:
        """What was removed from the store is in no file of the index; returns what had to be made again."""
        ...

    def differing(self) -> dict[int, int]:
        """User number -> vectors in which the index and the store differ."""
        ...

    def drop(self, no: int) -> None:
        """Nothing of the user is there; `step` makes it again."""
        ...

    def close(self) -> None: ...


def host_of(spec: str, directory: Path | None, store_name: str) -> VectorHost | None:
    """The host that ``vectors=`` stands for; None for exact search. ConfigError for anything else."""
    if spec == "exact":
        return None
    if spec == "chroma":
        from ltm_core.store.chroma import LocalChroma, require_chroma

        if directory is None:
            raise ConfigError('vectors="chroma" keeps files beside a store in a directory: here, name a server')
        require_chroma()
        return LocalChroma(directory)
    if spec.startswith("chroma://"):
        from ltm_core.store.chroma import ChromaServer

        host, _, port = spec.removeprefix("chroma://").rstrip("/").rpartition(":")
        if host and port.isdigit():
            return ChromaServer(host, int(port), prefix=f"ltm-{store_name[:16]}-")
    raise ConfigError(f"vectors={spec!r} is not known; possible are: {OPTIONS}")


__all__ = ["OPTIONS", "Collection", "VectorHost", "VectorIndex", "host_of"]
