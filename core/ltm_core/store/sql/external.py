"""The external vector index of a store: which users it covers, what it has yet to hear, when it is thrown away.

Only users with many chunks are covered, each in a collection of their own, which a row of ``external_vectors`` names.
What changes is listed in ``outbox`` in the write's own transaction; one process, the owner, tells the index later.
Whatever the index answers is only which rows to look at: their cosines are computed from the store's own vectors, so
an index that is behind or wrong can miss a neighbour and never bring back a deleted one.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ltm_core.errors import BusyError
from ltm_core.store.external import Collection, VectorHost
from ltm_core.store.sql.base import LISTED
from ltm_core.store.sql.external_asking import Asking
from ltm_core.store.sql.external_truth import difference, page_of, vectors_of
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.sql.write_index import OUTBOX_ERASE_USER

if TYPE_CHECKING:
    from ltm_core.store.sql.store import SqlStore

log = logging.getLogger("ltm")
_TOLD = 2000
"""Changes told at once."""
_STOP_SECONDS = 5.0
"""How long closing waits for the thread that tells the index."""
_UNCOVERED = (
    "SELECT user_no FROM users WHERE chunk_count >= ? AND NOT EXISTS (SELECT 1 FROM external_vectors e "
    "WHERE e.user_no = users.user_no) LIMIT 1"
)
_UNTOLD = (
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM outbox) OR EXISTS (SELECT 1 FROM external_vectors "
    "WHERE generation <> (SELECT generation FROM state))"
)
"""Changes that the index has not heard of, collections that are being made or are another embedder's."""


class ExternalVectors(Asking):
    """See the module. One per open store; only the process that holds the lock has collections open."""

    def __init__(self, store: SqlStore, host: VectorHost, *, at_least: int, candidates: int) -> None:
        super().__init__(candidates)
        self._store = store
        self.host = host
        self._at_least = at_least
        self._lock = store.index_lock()
        self._work = threading.Lock()
        self._closing = False
        self._hurried = False
        """True while an erasure waits for a collection that is being made."""
        self._release = weakref.finalize(self, self._lock.close)
        self.stop: Callable[[float], bool] = lambda timeout: True
        """Ends whoever runs `step` in a thread, within so many seconds."""
        self.wake: Callable[[], None] = lambda: None

    # owning -------------------------------------------------------------------------------------------
    def start(self) -> bool:
        """This process is the owner, unless another one is. What was not closed in order is gone, not opened."""
        with self._store.connection(write=True) as conn:
            conn.execute(f"UPDATE state SET outbox = outbox | {LISTED} WHERE id = 1")
        try:
            self._lock.acquire(0.0)
        except BusyError:
            return False
        self._pid = os.getpid()
        with self._work:
            present = self.host.names()
            for no, name, is_open, generation in self._rows():
                stale = name not in present or generation != self._generation()
                if stale or (is_open and self.host.local):
                    self._drop(no)
                    continue
                with self._store.connection(write=True) as conn:
                    conn.execute("UPDATE external_vectors SET is_open = 1 WHERE user_no = ?", (no,))
                try:
                    self._open[no] = (name, self.host.open(name))
                except Exception as e:  # noqa: BLE001  whatever it was, it is made anew
                    log.warning("a vector collection cannot be opened (%s): it is made again", type(e).__name__)
                    self._drop(no)
            self.sweep()
        return True

    def close(self) -> None:
        """Collections are closed in order and may be opened again."""
        if not self.owned:
            self.host.close()
            return
        self._closing = True
        self.stop(_STOP_SECONDS)
        with self._work:
            for no, (name, collection) in list(self._open.items()):
                collection.close()
                with self._store.connection(write=True) as conn:
                    conn.execute("UPDATE external_vectors SET is_open = 0 WHERE user_no = ? AND name = ?", (no, name))
            self._open.clear()
            self._pid = 0
            self.host.close()
        self._lock.release()
        self._lock.close()

    # working ------------------------------------------------------------------------------------------
    def step(self) -> int:
        """The index has heard of the oldest changes, and one user more is covered when there is one to be; returns
        how much was done, 0 when all is up to date."""
        if not self.owned:
            return 0
        with self._work:
            return self._mend() or self._tell() or self._cover()

    def is_behind(self) -> bool:
        with self._store.connection() as conn:
            return any(
                conn.execute(sql, values).fetchone() is not None
                for sql, values in ((_UNTOLD, ()), (_UNCOVERED, (self._at_least,)))
            )

    def erase(self) -> int:
        """No byte of a vector that was removed is left in files of ours: collections that had one are gone, and
        made again by `step`. Returns how many. Without an owner this process does it."""
        if not self.owned:
            try:
                self._lock.acquire(0.0)
            except BusyError:
                return 0
            try:
                return self._erase()
            finally:
                self._lock.release()
        self._hurried = True
        with self._work:
            self._hurried = False
            return self._erase()

    def _erase(self) -> int:
        with self._store.connection() as conn:
            gone = {
                target if op == OUTBOX_ERASE_USER else target >> 32
                for op, target in conn.execute("SELECT DISTINCT op, target FROM outbox WHERE op > 0")
            }
            known = {r[0] for r in conn.execute("SELECT user_no FROM external_vectors")}
            # What the index was told to delete is still in its files.
            gone |= {r[0] for r in conn.execute("SELECT user_no FROM external_vectors WHERE removed = 1")}
        gone &= known | set(self._open)
        for no in gone if self.host.local else ():
            self._drop(no)
        self.sweep()
        return len(gone)

    def _mend(self) -> int:
        """Collections that failed a question, or hold another embedder's vectors, are gone."""
        failed = {no for no, name in self._broken.items() if self._open.get(no, ("",))[0] == name}
        self._broken.clear()
        generation = self._generation()
        failed |= {no for no, _, _, made in self._rows() if made != generation}
        for no in failed:
            self._drop(no)
        return len(failed)

    def _tell(self) -> int:
        with self._store.connection() as conn:
            rows = conn.execute("SELECT id, op, target FROM outbox ORDER BY id LIMIT ?", (_TOLD,)).fetchall()
        if not rows:
            return 0
        touched: dict[int, set[int]] = {}
        for _, op, target in rows:
            if op == OUTBOX_ERASE_USER:
                self._drop(target)
            else:
                touched.setdefault(target >> 32, set()).add(target & ITEM_MASK)
        for no, items in touched.items():
            if no not in self._open:
                continue
            try:
                self._apply(no, self._open[no][1], sorted(items))
            except Exception as e:  # noqa: BLE001
                log.warning("the vector index failed (%s): the collection is made again", type(e).__name__)
                self._drop(no)
        with self._store.connection(write=True) as conn:
            conn.execute("DELETE FROM outbox WHERE id <= ?", (rows[-1][0],))
        return len(rows)

    def _apply(self, no: int, collection: Collection, items: Sequence[int]) -> None:
        """What the store says of these items now, whatever happened to them in between."""
        with self._store.connection() as conn:
            found = vectors_of(conn, self._store, no, items)
        gone = [i for i in items if i not in found]
        if gone:
            with self._store.connection(write=True) as conn:
                conn.execute("UPDATE external_vectors SET removed = 1 WHERE user_no = ? AND removed = 0", (no,))
                row = conn.execute("SELECT revision FROM users WHERE user_no = ?", (no,)).fetchone()
            self._removed_at[no] = row[0] if row else 0
            collection.delete(gone)
        if found:
            collection.upsert(list(found), np.stack(list(found.values())))

    def _cover(self) -> int:
        generation = self._generation()
        with self._store.connection() as conn:
            row = conn.execute(_UNCOVERED, (self._at_least,)).fetchone()
        if row is None:
            return 0
        no = int(row[0])
        name = f"{no}-{secrets.token_hex(6)}"
        # The name is known before the files are, so that a killed build leaves nothing nameless behind.
        with self._store.connection(write=True) as conn:
            conn.execute(
                "INSERT INTO external_vectors (user_no, name, is_open, generation) "
                "SELECT user_no, ?, 1, -1 FROM users WHERE user_no = ?",
                (name, no),
            )
        collection = self.host.create(name)
        last, count = 0, 0
        while page := page_of(self._store, no, last):
            last, found = page
            if found:
                collection.upsert(list(found), np.stack(list(found.values())))
            count += len(found)
            if self._closing or self._hurried:
                # Whoever waits does not wait for this; it is begun again.
                collection.close()
                self._drop(no)
                return 0
        with self._store.connection(write=True) as conn:
            made = conn.execute(
                "UPDATE external_vectors SET generation = ? WHERE user_no = ? AND name = ? "
                "AND (SELECT generation FROM state) = ?",
                (generation, no, name, generation),
            ).rowcount
        if made:
            self._open[no] = (name, collection)
        else:
            # Erased, or another embedder, while it was made.
            collection.close()
            self._drop(no)
            self.sweep()
        return max(count, 1)

    def _drop(self, no: int) -> None:
        """The user is searched exactly, and the collection is gone."""
        known = self._open.pop(no, None)
        if known is not None:
            known[1].close()
        with self._store.connection(write=True) as conn:
            names = conn.execute("SELECT name FROM external_vectors WHERE user_no = ?", (no,)).fetchall()
            conn.execute("DELETE FROM external_vectors WHERE user_no = ?", (no,))
        for (name,) in names:
            self.host.remove(name)
        if known is not None:
            self.host.remove(known[0])

    def sweep(self) -> None:
        """No collection is left that no row names."""
        named = {name for _, name, _, _ in self._rows()}
        for name in self.host.names() - named:
            self.host.remove(name)

    def _rows(self) -> list[tuple[int, str, int, int]]:
        with self._store.connection() as conn:
            return conn.execute("SELECT user_no, name, is_open, generation FROM external_vectors").fetchall()

    def _generation(self) -> int:
        with self._store.connection() as conn:
            return int(conn.execute("SELECT generation FROM state").fetchone()[0])

    def differing(self) -> dict[int, int]:
        """User number -> vectors in which a collection and the store differ."""
        with self._work:
            return {no: n for no, (_, c) in self._open.items() if (n := difference(self._store, no, c))}

    def drop(self, no: int) -> None:
        """The user's collection is gone; `step` makes it again."""
        with self._work:
            self._drop(no)


__all__ = ["ExternalVectors"]
