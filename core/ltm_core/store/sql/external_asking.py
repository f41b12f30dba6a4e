"""The side of an external index that readers ask: which users it covers, and which rows are near."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from ltm_core.store.external import Collection
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.records import ITEM_MASK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.store.sql.base import View

log = logging.getLogger("ltm")
_BEHIND = 1000
"""From so many changes that the index has not heard of, the user is searched exactly."""


class Asking:
    """Readers of many threads ask while one thread tells; each reads one dictionary at a time."""

    def __init__(self, candidates: int) -> None:
        self._candidates = candidates
        self._pid = 0
        self._open: dict[int, tuple[str, Collection]] = {}
        self._broken: dict[int, str] = {}
        """User number -> name of a collection that failed a question."""
        self._removed_at: dict[int, int] = {}
        """User number -> revision up to which something was deleted: an older reader is answered exactly."""

    @property
    def owned(self) -> bool:
        """Whether this process keeps the index; others search exactly."""
        return self._pid == os.getpid()

    def covers(self, view: View) -> bool:
        """Whether the user's vectors need not be in memory."""
        known = self._open.get(view.no) if self.owned else None
        return known is not None and self._name_of(view, view.conn) == known[0]

    def near(self, view: View, conn: Connection, vector: NDArray[np.float32]) -> list[int] | None:
        """Items to look at; None when the user must be searched exactly."""
        known = self._open.get(view.no) if self.owned else None
        if known is None or self._name_of(view, conn) != known[0] or self._broken.get(view.no) == known[0]:
            return None
        if view.revision < self._removed_at.get(view.no, 0):
            return None
        pending = conn.execute(
            "SELECT DISTINCT target FROM outbox WHERE target > ? AND target < ? LIMIT ?",
            (view.low, view.high, _BEHIND + 1),
        ).fetchall()
        if len(pending) > _BEHIND:
            return None
        try:
            found = known[1].query(vector, self._candidates)
        except Exception as e:  # noqa: BLE001  the store can do without
            log.warning("the vector index failed (%s): exact search until it is made again", type(e).__name__)
            self._broken[view.no] = known[0]
            return None
        return [*found, *(r[0] & ITEM_MASK for r in pending)]

    def _name_of(self, view: View, conn: Connection) -> str | None:
        row = conn.execute(
            "SELECT name FROM external_vectors WHERE user_no = ? AND generation = ?", (view.no, view.generation)
        ).fetchone()
        return None if row is None else str(row[0])


__all__ = ["Asking"]
