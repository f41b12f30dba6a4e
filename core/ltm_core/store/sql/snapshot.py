"""The searchable state of one user, cached between calls and never stale.

An entry remembers the revision it was read at. Each take compares it with the user's row, inside the reader's own
transaction: equal means ready; newer without removal means reading the new rows only; otherwise the arrays are
made again. Other processes raise the same revision, so their writes and erasures count at once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ltm_core.store.base import Rows
from ltm_core.store.keyed import TERM_BITS
from ltm_core.store.sql.columns import Columns, Posting, compared
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.readable import readable
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.sql.vectors import decode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ltm_core.store.sql.base import View

_POSTINGS_SHARE = 8
"""One user's cached postings may take this part of the budget; then they are read again."""


_TOUCHED = 2000
"""Rows found by words whose vectors are read one by one, about 10 microseconds each."""


class SqlSnapshot:
    """The first ``n`` rows of some columns, as one reader saw them."""

    def __init__(self, view: View, columns: Columns, n: int, lock: threading.Lock, posting_limit: int) -> None:
        self._view = view
        self._columns = columns
        self._n = n
        self._lock = lock
        self._limit = posting_limit
        self._revision = view.revision
        self._last = view.next_n - 1
        self._rows = columns.rows(n)
        self._touched: set[int] = set()

    @property
    def revision(self) -> int:
        return self._revision

    @property
    def rows(self) -> Rows:
        return self._rows

    @property
    def average_length(self) -> float:
        return float(self._rows.length.mean()) if self._n else 0.0

    def cosine(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        if self._view.foreign:
            return np.full(self._n, np.nan, dtype=np.float32)
        if self._columns.lean:
            return self._near(query)
        return self._columns.cosine(query, self._n)

    def _near(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosines of what the external index finds and of what the words found; NaN for the rest."""
        view = self._view
        if query.shape != (view.dimension,):
            return np.full(self._n, np.nan, dtype=np.float32)
        if view.live:
            return self._near_in(view.conn, query)
        with view.core.reading(view.user_id) as conn:
            return self._near_in(conn, query)

    def _near_in(self, conn: Connection, query: NDArray[np.float32]) -> NDArray[np.float32]:
        view = self._view
        index = view.core.attached.index
        near = None if index is None else index.near(view, conn, query)
        items = self._columns.items(self._n)
        if near is None:
            chosen = items
        else:
            at = np.searchsorted(items, np.array(near, dtype=np.int64))
            at = at[at < self._n]
            rows = np.union1d(at, np.fromiter(self._touched, dtype=np.int64, count=len(self._touched)))
            chosen = items[rows[rows < self._n]]
        found = np.full(self._n, np.nan, dtype=np.float32)
        for marks, part in batches([view.low + int(i) for i in chosen]):
            stored = conn.execute(
                f"SELECT id, codec, vector FROM vectors WHERE id IN ({marks}) AND embedder = ?",
                (*part, view.embedder),
            ).fetchall()
            vectors = [(r[0] & ITEM_MASK, decode(view.opened_vector(*r))) for r in stored]
            vectors = [v for v in vectors if len(v[1]) == view.dimension]
            if vectors:
                places = np.searchsorted(items, np.array([v[0] for v in vectors], dtype=np.int64))
                # To the last bit what comparing all gives: it must not matter when an index hears of a user.
                found[places] = compared(np.stack([v[1] for v in vectors]), query.astype(np.float32))
        return found

    @readable
    def postings(self, terms: Sequence[str]) -> list[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        view = self._view
        hasher = view.keyed.terms(view.no)
        keys = [(view.no << TERM_BITS) | hasher(t) for t in terms]
        if not view.live:
            # The moment has passed: what is read now is cut to the rows of then, and not kept.
            with view.core.reading(view.user_id) as conn:
                found = [conn.execute(_POSTINGS, (k, 0)).fetchall() for k in keys]
            return self._seen([self._cut(self._extended(Posting(), rows)) for rows in found])
        with self._lock:
            return self._seen([self._cut(p) for p in self._current(keys)])

    def _seen(
        self, postings: list[tuple[NDArray[np.int64], NDArray[np.int32]]]
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """What the rarer words found is compared too, whatever an external index finds."""
        if self._columns.lean:
            for index, _ in sorted(postings, key=lambda p: len(p[0])):
                if len(self._touched) + len(index) > _TOUCHED:
                    break
                self._touched.update(index.tolist())
        return postings

    def _current(self, keys: Sequence[int]) -> list[Posting]:
        """What is cached and whole, or is read behind what is cached."""
        known = {key: self._columns.postings.get(key) for key in keys}
        lacking = [(key, p or Posting()) for key, p in known.items() if p is None or p.upto < self._last]
        answers = self._view.all([(_POSTINGS, (key, base.upto)) for key, base in lacking])
        for (key, base), rows in zip(lacking, answers, strict=True):
            posting = self._extended(base, rows)
            posting.upto = self._last
            self._columns.keep_posting(key, posting, self._limit)
            known[key] = posting
        return [p for key in keys if (p := known[key]) is not None]

    def _extended(self, base: Posting, rows: Sequence[tuple[Any, ...]]) -> Posting:
        if not rows:
            return base
        both = np.array(rows, dtype=np.int64)
        items = self._columns.items(self._n)
        at = np.searchsorted(items, both[:, 0])
        # A row removed or added after the moment has no place in it.
        known = at < self._n
        known[known] = items[at[known]] == both[known, 0]
        posting = Posting()
        posting.index = np.concatenate([base.index, at[known]])
        posting.counts = np.concatenate([base.counts, both[known, 1].astype(np.int32)])
        return posting

    def _cut(self, posting: Posting) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        index, counts = posting.index, posting.counts
        if len(index) and index[-1] >= self._n:
            end = int(np.searchsorted(index, self._n))
            index, counts = index[:end], counts[:end]
        else:
            index, counts = index[:], counts[:]
        index.flags.writeable = False
        counts.flags.writeable = False
        return index, counts


_POSTINGS = "SELECT item, tf FROM postings WHERE key = ? AND item > ? ORDER BY item"


class _Entry:
    """One user's columns and the revision they show."""

    __slots__ = ("bytes", "columns", "counted", "embedder", "lock", "no", "revision", "shrunk_at")

    def __init__(self, no: int) -> None:
        self.no = no
        self.lock = threading.Lock()
        self.columns: Columns | None = None
        self.embedder = (0, 0)
        """Number and generation of the set of vectors."""
        self.revision = -1
        self.shrunk_at = 0
        self.bytes = 0
        self.counted = 0
        """The part of the cache's total that stands for this entry."""

    def at(self, view: View) -> tuple[Columns, int]:
        """The columns and how many of their rows the view sees. Called with the lock held."""
        columns = self.columns
        if self.no != view.no:
            return _alone(view)
        if columns is None:
            columns = Columns.load(view)
        elif columns.lean != view.lean or self.embedder != (view.embedder, view.generation):
            if view.revision < self.revision:
                return _alone(view)
            columns = Columns.load(view)
        elif view.revision < self.revision:
            # A reader whose moment is older than the cache: everything it sees comes first, unless rows went.
            if self.shrunk_at > view.revision:
                return _alone(view)
            return columns, columns.count_before(view.next_n)
        elif view.revision > self.revision:
            if view.reset_at > self.revision:
                columns = Columns.load(view)
            elif view.shrunk_at > self.revision:
                columns = columns.reconciled(view)
            else:
                columns.append(view)
        self.columns = columns
        self.embedder = (view.embedder, view.generation)
        self.revision = view.revision
        self.shrunk_at = view.shrunk_at
        self.bytes = columns.nbytes
        return columns, columns.n


def _alone(view: View) -> tuple[Columns, int]:
    columns = Columns.load(view)
    return columns, columns.n


class SnapshotCache:
    """The cached columns of one process, at most ``budget`` bytes, least recently used user out first."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._guard = threading.Lock()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._total = 0

    def take(self, view: View) -> SqlSnapshot:
        """What the view sees, now."""
        limit = self.budget // _POSTINGS_SHARE
        if not view.no:
            self.drop(view.user_id)
            return SqlSnapshot(view, Columns(view.dimension), 0, threading.Lock(), limit)
        if view.index_changed:
            return self._private(view, limit)
        entry = self._entry(view)
        with entry.lock:
            columns, n = entry.at(view)
        self._bound(view.user_id, entry)
        return SqlSnapshot(view, columns, n, entry.lock, limit)

    def drop(self, user_id: str) -> None:
        """Nothing of the user is cached here."""
        with self._guard:
            self._forget(self._entries.pop(user_id, None))

    @property
    def used(self) -> int:
        """Bytes held now."""
        return self._total

    def _private(self, view: View, limit: int) -> SqlSnapshot:
        """Changes that are not committed yet are seen by their own transaction only."""
        with self._guard:
            entry = self._entries.get(view.user_id)
        columns = None
        if entry is not None and entry.no == view.no:
            with entry.lock:
                same = entry.embedder == (view.embedder, view.generation)
                fresh = entry.revision == view.revision and same
                if entry.columns is not None:
                    fresh = fresh and entry.columns.lean == view.lean
                if fresh and entry.columns is not None and not view.index_reset:
                    columns = entry.columns.copy()
        columns = Columns.load(view) if columns is None else columns.reconciled(view)
        return SqlSnapshot(view, columns, columns.n, threading.Lock(), limit)

    def _entry(self, view: View) -> _Entry:
        with self._guard:
            entry = self._entries.get(view.user_id)
            if entry is None or entry.no < view.no:
                # Erased elsewhere and created again under another number.
                self._forget(entry)
                entry = self._entries[view.user_id] = _Entry(view.no)
            self._entries.move_to_end(view.user_id)
            return entry

    def _bound(self, user_id: str, entry: _Entry) -> None:
        with self._guard:
            if self._entries.get(user_id) is not entry:
                return
            self._total += entry.bytes - entry.counted
            entry.counted = entry.bytes
            if entry.bytes > self.budget:
                self._forget(self._entries.pop(user_id))
            while self._total > self.budget:
                self._forget(self._entries.popitem(last=False)[1])

    def _forget(self, entry: _Entry | None) -> None:
        if entry is not None:
            self._total -= entry.counted
            entry.counted = 0
