"""What took the place of facts, and what they took the place of: one question a step, however many facts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.recall.currency import state

if TYPE_CHECKING:
    from ltm_core.store.base import Reader
    from ltm_core.types import Fact

LONGEST = 4
"""How many changes a chain is followed."""


def latest(reader: Reader, facts: Sequence[Fact], *, now: datetime) -> dict[str, Fact]:
    """Per id of a fact what it became: itself while it is not past or nothing known replaced it."""
    known = {f.id: f for f in facts}
    ends = dict(known)
    for _ in range(LONGEST):
        later = {i: f.superseded_by for i, f in ends.items() if f.superseded_by and state(f, now) == "past"}
        unknown = dict.fromkeys(s for s in later.values() if s not in known)
        if unknown:
            known |= {f.id: f for f in reader.facts(ids=list(unknown))}
        moved = {i: known[s] for i, s in later.items() if s in known}
        if not moved:
            break
        ends |= moved
    return ends


def earlier(reader: Reader, facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    """Per id of a fact all that it took the place of, the nearest first."""
    found: dict[str, list[Fact]] = {f.id: [] for f in facts}
    ends = {f.id: [f.id] for f in facts}
    known: dict[str, list[Fact]] = {}
    for _ in range(LONGEST):
        unknown = dict.fromkeys(i for end in ends.values() for i in end if i not in known)
        if unknown:
            known |= reader.predecessors(list(unknown))
        for start, end in ends.items():
            near = [f for i in end for f in known[i]]
            found[start] += near
            ends[start] = [f.id for f in near]
    return found


__all__ = ["earlier", "latest"]
