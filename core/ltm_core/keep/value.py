"""What a memory is worth now: how much it mattered, how long it was not needed, how often it was.

Forgetting's measure, in [0, 1]; ranking has another (`Config.ranking_decay_per_day`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ltm_core.store.base import OwnerKind
from ltm_core.types import Importance

FIRST: Mapping[Importance, float] = {"high": 1.0, "medium": 0.6, "low": 0.3}
"""Value of a memory on its first day."""
PAST = 0.5
"""What a fact keeps of its value once it no longer holds: history fades before the present does."""
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One turn or fact of a user, as forgetting sees it: no words."""

    owner: OwnerKind
    item: int
    id: str = ""
    """Of a fact; turns are named when they go."""
    kind: str
    """"message", or the kind of the fact."""
    importance: Importance
    at: datetime
    """When it was last said."""
    recorded_at: datetime
    """When it came."""
    uses: int = 0
    """How often it was recalled, or said again."""
    used_at: datetime | None = None
    past: bool = False
    protected: str = ""
    """Why no policy may take it; empty when one may."""
    for_now: bool = False
    """Whether a protection ends by itself."""
    superseded_by: str | None = None
    supports: tuple[int, ...] = ()
    """Of a turn: the items of the facts that rest on it."""
    summarised: bool | None = None
    """Of a turn: whether a summary that rests on it can be recalled; None when there is none."""


def value(held: Held, *, now: datetime, half_life_days: float, floor: float) -> float:
    """``first × (floor + (1 − floor) × 2^(−idle / half-life))``, halved for what no longer holds.

    ``idle``: days since it was last said or recalled. Each doubling of the uses adds one half-life to the
    half-life: used once it fades half as fast, used three times a third as fast. ``half_life_days`` 0: no fading.
    """
    last = held.at if held.used_at is None else max(held.at, held.used_at)
    idle = max(0.0, (now - last).total_seconds() / _DAY)
    left = 1.0
    if half_life_days > 0:
        left = 0.5 ** (idle / (half_life_days * (1.0 + math.log2(1 + max(0, held.uses)))))
    worth = FIRST[held.importance] * (floor + (1.0 - floor) * left)
    return worth * PAST if held.past else worth


__all__ = ["FIRST", "PAST", "Held", "value"]
