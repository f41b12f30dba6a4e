"""One user's chunks as growing arrays: float32 in memory from float16 on disk.

Rows are only ever added behind the last one, in place while there is room, so a view of the first n rows stays
true while others append. Removal makes new arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ltm_core.store.base import Rows
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.readable import readable
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.sql.vectors import STORED
from ltm_core.store.times import NEVER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ltm_core.store.sql.base import View

_TYPES: dict[str, type[np.generic]] = {
    "item": np.int64,
    "owner": np.int64,
    "kind": np.int8,
    "at": np.int64,
    "session": np.int64,
    "agent": np.int64,
    "task": np.int64,
    "app": np.int64,
    "role": np.int8,
    "act": np.int8,
    "importance": np.int8,
    "start": np.int32,
    "end": np.int32,
    "length": np.float32,
    "expires": np.int64,
}
_SELECT = (
    f"SELECT id & {ITEM_MASK}, owner & {ITEM_MASK}, kind, at, session, agent, task, app, role, act, importance, "
    f'"start", "end", length, coalesce(expires_at, {NEVER}) FROM chunks WHERE id > ? AND id < ? ORDER BY id'
)
_VECTORS = "SELECT id, codec, vector FROM vectors WHERE {} AND embedder = ? ORDER BY id"
_BATCH = 2048
"""Rows read at once: bounds the Python objects alive during a load."""


class Posting:
    """Where one term occurs, up to item ``upto``: row indices and counts."""

    __slots__ = ("counts", "index", "upto")

    def __init__(self) -> None:
        self.index: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.counts: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.upto = 0

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, with the objects around the arrays."""
        return self.index.nbytes + self.counts.nbytes + 400


class Columns:
    """The arrays of one user for one embedder."""

    def __init__(self, dimension: int, *, lean: bool = False) -> None:
        self.n = 0
        self.lean = lean
        """True when the vectors stay on disk."""
        self.dimension = 0 if lean else dimension
        self.postings: dict[int, Posting] = {}
        self.posting_bytes = 0
        self._capacity = 0
        self._shown: tuple[int, Rows] | None = None
        self._arrays: dict[str, NDArray[Any]] = {k: np.empty(0, dtype=t) for k, t in _TYPES.items()}
        self._matrix: NDArray[np.float32] = np.empty((0, self.dimension), dtype=np.float32)
        self._has: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)

    @classmethod
    def load(cls, view: View, *, lean: bool | None = None) -> Columns:
        """All chunks of the user, without their vectors when an external index covers them."""
        columns = cls(view.dimension, lean=view.lean if lean is None else lean)
        (count,) = view.conn.execute(
            "SELECT count(*) FROM chunks WHERE id > ? AND id < ?", (view.low, view.high)
        ).fetchone()
        columns._reserve(count + count // 16 + 16)
        columns.append(view)
        return columns

    @readable
    def append(self, view: View) -> None:
        """Chunks behind the last one are added."""
        first = self.n
        low = view.low + (int(self._arrays["item"][first - 1]) if first else 0)
        cursor = view.conn.execute(_SELECT, (low, view.high))
        while rows := cursor.fetchmany(_BATCH):
            block = np.array(rows, dtype=np.int64)
            end = self.n + len(rows)
            self._reserve(end)
            for column, array in enumerate(self._arrays.values()):
                array[self.n : end] = block[:, column]
            self._has[self.n : end] = False
            self._matrix[self.n : end] = 0
            self.n = end
        if self.n > first and self.dimension:
            self._fill(view, "id > ? AND id < ?", (low, view.high))

    def reconciled(self, view: View) -> Columns:
        """New arrays: what was removed is gone, what was added or got a vector is there."""
        now = np.array(
            [
                r[0]
                for r in view.conn.execute(
                    f"SELECT id & {ITEM_MASK} FROM chunks WHERE id > ? AND id < ?", (view.low, view.high)
                )
            ],
            dtype=np.int64,
        )
        columns = self.copy(np.isin(self._arrays["item"][: self.n], now, assume_unique=True), room=len(now))
        lacking = columns._arrays["item"][: columns.n][~columns._has[: columns.n]] if columns.dimension else ()
        for marks, part in batches([view.low + int(i) for i in lacking]):
            columns._fill(view, f"id IN ({marks})", part)
        columns.append(view)
        return columns

    def copy(self, keep: NDArray[np.bool_] | None = None, room: int = 0) -> Columns:
        """Independent arrays with all rows or those to keep."""
        n = self.n if keep is None else int(np.count_nonzero(keep))
        chosen: Any = slice(None, self.n) if keep is None else np.flatnonzero(keep)
        other = Columns(self.dimension, lean=self.lean)
        room = max(n, room)
        other._reserve(room + room // 16 + 16)
        for name, array in self._arrays.items():
            other._arrays[name][:n] = array[chosen]
        np.take(self._matrix[: self.n], np.arange(self.n)[chosen], axis=0, out=other._matrix[:n])
        other._has[:n] = self._has[chosen]
        other.n = n
        return other

    def rows(self, n: int) -> Rows:
        """Read-only views of the first n rows; the same object as long as n is the same, so that what others
        derive from the rows can be kept."""
        if self._shown is not None and self._shown[0] == n:
            return self._shown[1]
        views = {}
        for name, array in self._arrays.items():
            view = array[:n]
            view.flags.writeable = False
            views[name] = view
        self._shown = (n, Rows(**views))
        return self._shown[1]

    def items(self, n: int) -> NDArray[np.int64]:
        """The item numbers of the first n rows, ascending."""
        items: NDArray[np.int64] = self._arrays["item"][:n]
        return items

    def count_before(self, item: int) -> int:
        """How many rows have a smaller item number."""
        return int(np.searchsorted(self.items(self.n), item))

    def cosine(self, query: NDArray[np.float32], n: int) -> NDArray[np.float32]:
        """Per row of the first n; NaN without a vector, or when the query has another dimension."""
        q = np.ascontiguousarray(query, dtype=np.float32)
        if not self.dimension or q.shape != (self.dimension,):
            return np.full(n, np.nan, dtype=np.float32)
        found = compared(self._matrix[:n], q)
        has = self._has[:n]
        if not has.all():
            found[~has] = np.nan
        return found

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        held = sum(a.nbytes for a in self._arrays.values()) + self._matrix.nbytes + self._has.nbytes
        return held + self.posting_bytes

    def keep_posting(self, key: int, posting: Posting, limit: int) -> None:
        """The posting is cached; beyond ``limit`` bytes the others are dropped first."""
        old = self.postings.get(key)
        self.posting_bytes += posting.nbytes - (old.nbytes if old else 0)
        if self.posting_bytes > limit:
            self.postings.clear()
            self.posting_bytes = posting.nbytes
        self.postings[key] = posting

    def _fill(self, view: View, where: str, values: Sequence[Any]) -> None:
        items = self.items(self.n)
        cursor = view.conn.execute(_VECTORS.format(where), (*values, view.embedder))
        width = self.dimension * STORED.itemsize
        while stored := cursor.fetchmany(_BATCH):
            opened = [(r[0] & ITEM_MASK, view.opened_vector(*r)) for r in stored]
            rows = [r for r in opened if len(r[1]) == width]
            if not rows:
                continue
            at = np.searchsorted(items, np.array([r[0] for r in rows], dtype=np.int64))
            halves = np.frombuffer(b"".join([r[1] for r in rows]), dtype=STORED).reshape(len(rows), self.dimension)
            first, last = int(at[0]), int(at[-1])
            if last - first + 1 == len(rows):
                self._matrix[first : last + 1] = halves
            else:
                self._matrix[at] = halves
            self._has[at] = True

    def _reserve(self, needed: int) -> None:
        if needed <= self._capacity:
            return
        capacity = max(needed, self._capacity + self._capacity // 4 + 16)
        for name, array in self._arrays.items():
            self._arrays[name] = _grown(array, capacity, self.n)
        self._matrix = _grown(self._matrix, capacity, self.n)
        self._has = _grown(self._has, capacity, self.n)
        self._capacity = capacity


def compared(rows: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of each row with the query, all of length one."""
    # Twice as fast as a matrix product by BLAS, which reads rows of this width badly.
    found: NDArray[np.float32] = np.einsum("ij,j->i", rows, query)
    return np.clip(found, -1.0, 1.0, out=found)


def _grown(array: NDArray[Any], capacity: int, n: int) -> NDArray[Any]:
    bigger = np.empty((capacity, *array.shape[1:]), dtype=array.dtype)
    bigger[:n] = array[:n]
    return bigger
