"""How one user's chunks hang together: neighbours, sessions, owners. Depends on the rows only, so it is kept."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ltm_core.store.base import OWNER_CODES, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEPT = 16
"""Structures kept; one of 30,000 chunks is about 0.8 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """Parallel to the rows, except where said."""

    before: NDArray[np.int32]
    """Row of the chunk just before in the same session, or -1. A fact has no neighbours."""
    after: NDArray[np.int32]
    session: NDArray[np.int32]
    """Dense number of the session, 0 to ``sessions`` - 1."""
    sessions: int
    session_length: NDArray[np.float32]
    """Terms per session; facts do not count. Length ``sessions``."""
    owner: NDArray[np.int32]
    """Dense number of the message or fact."""
    owner_items: NDArray[np.int64]
    """Item of each owner, ascending."""
    is_message: NDArray[np.bool_]
    window_length: NDArray[np.float32]
    """Terms of the chunk twice and of its neighbours once."""
    window_average: float


def _build(rows: Rows) -> Structure:
    n = len(rows.item)
    is_message = rows.kind == OWNER_CODES["message"]
    before = np.full(n, -1, dtype=np.int32)
    after = np.full(n, -1, dtype=np.int32)
    turns = np.flatnonzero(is_message)
    order = turns[np.lexsort((rows.item[turns], rows.owner[turns], rows.at[turns], rows.session[turns]))]
    if len(order) > 1:
        together = rows.session[order[:-1]] == rows.session[order[1:]]
        left, right = order[:-1][together], order[1:][together]
        before[right], after[left] = left, right
    names, session = np.unique(rows.session, return_inverse=True)
    owner_items, owner = np.unique(rows.owner, return_inverse=True)
    sessions = len(names)
    lengths = np.bincount(session[turns], weights=rows.length[turns], minlength=sessions)
    window = 2 * rows.length + _at(rows.length, before) + _at(rows.length, after)
    return Structure(
        before=before,
        after=after,
        session=session.astype(np.int32),
        sessions=sessions,
        session_length=lengths.astype(np.float32),
        owner=owner.astype(np.int32),
        owner_items=owner_items,
        is_message=is_message,
        window_length=window.astype(np.float32),
        window_average=float(window.mean()) if n else 1.0,
    )


def _at(values: NDArray[np.float32], where: NDArray[np.int32]) -> NDArray[np.float32]:
    """``values[where]``, 0 where there is no such row."""
    return np.where(where >= 0, values[where], np.float32(0)) if len(values) else values


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


neighbour_values = _at

__all__ = ["Structure", "neighbour_values", "structure_of"]
