"""All turns of a user in one row, session after session, so that windows of a common term are sums of shifted arrays.

Between two sessions stand `GAP` empty places, over which no window reaches. Counts are whole numbers far below
2**24: sums are exact in float32, in whatever order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

GAP = 2
"""Turns that a window reaches to each side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Places in the row, and what stands at each."""

    size: int
    place: NDArray[np.int64]
    """Per owner its place; -1 for a fact."""
    turns: NDArray[np.int64]
    """The owners that are turns, in the order of the row."""
    at: NDArray[np.int64]
    """Their places."""
    empty: NDArray[np.int64]
    """Places where nothing stands."""
    starts: NDArray[np.int64]
    """The first place of each session that has turns."""
    sessions: NDArray[np.int32]
    """The numbers of these sessions."""

    def spread(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Values per owner, at their places; 1 where nothing stands."""
        out = np.ones(self.size, dtype=np.float32)
        out[self.at] = values[self.turns]
        return out

    def counts(self, owners: NDArray[np.int32], counts: NDArray[np.int32]) -> NDArray[np.float32]:
        """How often each turn says a term, from owners that are turns."""
        return np.bincount(self.place[owners], weights=counts, minlength=self.size).astype(np.float32)

    def windows(self, said: NDArray[np.float32]) -> NDArray[np.float32]:
        """Per turn three times its own count, twice its neighbours', once theirs."""
        out: NDArray[np.float32] = 3 * said
        twice = said + said
        out[1:] += twice[:-1]
        out[:-1] += twice[1:]
        out[2:] += said[:-2]
        out[:-2] += said[2:]
        out[self.empty] = 0
        return out


def timeline(order: NDArray[np.int64], session: NDArray[np.int32], owners: int) -> Timeline:
    """``order`` are the turns by session and time, ``session`` the number of the session per owner."""
    own = session[order]
    first = np.flatnonzero(np.r_[True, own[1:] != own[:-1]]) if len(own) else np.zeros(0, dtype=np.int64)
    nth = np.cumsum(np.bincount(first, minlength=len(own))) - 1
    at = np.arange(len(order)) + GAP * nth
    size = len(order) + GAP * len(first)
    place = np.full(owners, -1, dtype=np.int64)
    place[order] = at
    is_empty = np.ones(size, dtype=np.bool_)
    is_empty[at] = False
    return Timeline(
        size=size,
        place=place,
        turns=order,
        at=at,
        empty=np.flatnonzero(is_empty),
        starts=at[first],
        sessions=own[first],
    )


__all__ = ["GAP", "Timeline", "timeline"]
