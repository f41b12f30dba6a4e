"""How one user's chunks hang together: whose they are, neighbours, sessions. Made from the rows alone, so kept."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ltm_core.recall.timeline import Timeline, timeline
from ltm_core.store.base import IMPORTANCE_CODES, OWNER_CODES, ROLE_CODES, Rows
from ltm_core.text.bm25 import length_norm

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEPT = 16
"""Structures kept; one of 30,000 chunks is about 3 MB."""
SPARSE = 10
"""Rows that hold a value are gone through one by one when they are fewer than one in so many."""
SHORT_TURN = 12.0
"""Terms. In a session whose turns are this short on average a turn says little alone and borrows fully from its
neighbours and its session; in one of longer turns it borrows in proportion. Two people chatting (LoCoMo) have 12
terms a turn, a user with an assistant's long answers (BEAM) 150: borrowing there costs 5 points of recall at 10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """Arrays over owners (messages, facts and summaries) in the order of their items, except where said."""

    owner: NDArray[np.int32]
    """Per row: the place of its owner."""
    items: NDArray[np.int64]
    row: NDArray[np.int64]
    """The first row of the owner."""
    by_owner: NDArray[np.int64]
    """All rows, owner by owner."""
    starts: NDArray[np.int64]
    """Where in ``by_owner`` each owner begins."""
    chunks: NDArray[np.int64]
    """Rows of the owner."""
    kind: NDArray[np.int8]
    """`OWNER_CODES`."""
    is_message: NDArray[np.bool_]
    before: NDArray[np.int32]
    """The turn just before in the same session, or -1. A fact has no neighbours."""
    after: NDArray[np.int32]
    session: NDArray[np.int32]
    """Number of the session, 0 to ``sessions`` - 1."""
    sessions: int
    borrows: NDArray[np.float32]
    """How much of its neighbours and its session a turn borrows, in [0, 1]; 0 for a fact."""

    line: Timeline
    """The turns in one row."""
    turn_norm: NDArray[np.float32]
    """What its length adds to a term count: see `length_norm`."""
    window_norm: NDArray[np.float32]
    line_turn_norm: NDArray[np.float32]
    line_window_norm: NDArray[np.float32]
    """The same at the places of `line`."""
    session_norm: NDArray[np.float32]
    """Of each session. Length ``sessions``."""
    at: NDArray[np.int64]
    """When it was said, microseconds since 1970 UTC."""
    by_user: NDArray[np.bool_]
    is_important: NDArray[np.bool_]
    in_session: NDArray[np.int64]
    """The label of its session."""

    def best(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Per owner the greatest of its rows' values; NaN only where all are."""
        if len(self.items) == len(self.owner):
            return values[self.row]
        return np.fmax.reduceat(values[self.by_owner], self.starts).astype(np.float32)

    def most(self, values: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The same of values from 0 that are above 0 in none but ``rows``."""
        if len(rows) * SPARSE > len(self.owner):
            return self.best(values)
        found = np.zeros(len(self.items), dtype=np.float32)
        np.maximum.at(found, self.owner[rows], values[rows])
        return found


def neighbour(values: NDArray[np.float32], where: NDArray[np.int32]) -> NDArray[np.float32]:
    """``values[where]``, 0 where there is no neighbour."""
    return np.where(where >= 0, values[where], np.float32(0)) if len(values) else values


def _build(rows: Rows) -> Structure:
    items, owner = np.unique(rows.owner, return_inverse=True)
    by_owner = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[by_owner], np.arange(len(items)))
    row = by_owner[starts] if len(starts) else np.zeros(0, dtype=np.int64)
    length = np.bincount(owner, weights=rows.length, minlength=len(items)).astype(np.float32)
    is_message = rows.kind[row] == OWNER_CODES["message"]
    order = _in_order(rows, row, is_message)
    before, after = _neighbours(rows.session[row], order)
    names, session = np.unique(rows.session[row], return_inverse=True)
    sessions = len(names)
    spoken = np.bincount(session[is_message], weights=length[is_message], minlength=sessions)
    turns = np.bincount(session[is_message], minlength=sessions)
    mean = spoken / np.maximum(turns, 1)
    line = timeline(order, session.astype(np.int32), len(items))
    window_length = _window(length, before, after)
    turn_norm = length_norm(length, _mean(length[is_message]))
    window_norm = length_norm(window_length, _mean(window_length[is_message]))
    session_length = spoken.astype(np.float32)
    shortness = np.minimum(1.0, SHORT_TURN / np.maximum(mean, 1.0)) * (1 - 1 / np.maximum(turns, 1))
    return Structure(
        owner=owner.astype(np.int32),
        items=items,
        row=row,
        by_owner=by_owner,
        starts=starts,
        chunks=np.bincount(owner, minlength=len(items)),
        kind=rows.kind[row],
        is_message=is_message,
        before=before,
        after=after,
        session=session.astype(np.int32),
        sessions=sessions,
        borrows=np.where(is_message, shortness[session], 0).astype(np.float32),
        line=line,
        turn_norm=turn_norm,
        window_norm=window_norm,
        line_turn_norm=line.spread(turn_norm),
        line_window_norm=line.spread(window_norm),
        session_norm=length_norm(session_length, _mean(session_length)),
        at=rows.at[row],
        by_user=rows.role[row] == ROLE_CODES["user"],
        is_important=rows.importance[row] >= IMPORTANCE_CODES["high"],
        in_session=rows.session[row],
    )


def _mean(lengths: NDArray[np.float32]) -> float:
    return float(lengths.mean()) if len(lengths) else 0.0


def _in_order(rows: Rows, row: NDArray[np.int64], is_message: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The turns by session and time."""
    turns = np.flatnonzero(is_message)
    first = row[turns]
    order: NDArray[np.int64] = turns[np.lexsort((rows.owner[first], rows.at[first], rows.session[first]))]
    return order


def _neighbours(session: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    before = np.full(len(session), -1, dtype=np.int32)
    after = np.full(len(session), -1, dtype=np.int32)
    together = session[order[:-1]] == session[order[1:]]
    left, right = order[:-1][together], order[1:][together]
    before[right], after[left] = left, right
    return before, after


def _window(length: NDArray[np.float32], before: NDArray[np.int32], after: NDArray[np.int32]) -> NDArray[np.float32]:
    """Terms of the turn three times, of its neighbours twice, of theirs once."""
    near = neighbour(length, before) + neighbour(length, after)
    far = neighbour(neighbour(length, before), before) + neighbour(neighbour(length, after), after)
    window: NDArray[np.float32] = (3 * length + 2 * near + far).astype(np.float32)
    return window


_lock = threading.Lock()
_cache: OrderedDict[int, tuple[weakref.ref[NDArray[np.int64]], Structure]] = OrderedDict()


def structure_of(rows: Rows) -> Structure:
    """The structure of ``rows``; built once as long as the same arrays are in use."""
    key = id(rows.item)
    with _lock:
        found = _cache.get(key)
        if found is not None and found[0]() is rows.item:
            _cache.move_to_end(key)
            return found[1]
    built = _build(rows)
    with _lock:
        _cache[key] = (weakref.ref(rows.item), built)
        while len(_cache) > _KEPT:
            _cache.popitem(last=False)
    return built


__all__ = ["Structure", "neighbour", "structure_of"]
