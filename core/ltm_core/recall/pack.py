"""As much as fits: entries of three tiers in one hard budget.

Whatever the counter says of any text, the result counts at most ``max_tokens``. Each tier first fills its share;
what it leaves goes to the others. A long entry is cut to an excerpt before it could push out short ones, and made
whole again when room is left. If nothing was dropped or cut, a larger budget changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ltm_core.recall.entry import Entry
from ltm_core.recall.excerpt import excerpt
from ltm_core.types import Dropped, Tier

if TYPE_CHECKING:
    from ltm_core.types import TokenCounter

LONG_SHARE = 3
"""One entry takes at most a third of its tier's share while others wait."""
LEAST_WORDS = 12
"""Tokens of its own words that an excerpt needs: "…group,…" tells nobody anything."""
LEAST_EXCERPT = 24
"""Tokens below which an excerpt says nothing."""
_FILL_ORDER: tuple[Tier, ...] = ("working", "semantic", "episodic")
_SPARE_ORDER: tuple[Tier, ...] = ("semantic", "episodic", "working")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What fits, in the order it was given, and what does not."""

    entries: tuple[Entry, ...]
    dropped: tuple[Dropped, ...]
    spent: Mapping[Tier, int]
    """Tokens per tier by the cost of single lines; the text as a whole may count a little differently."""


@dataclass(slots=True)
class _Unit:
    """Entries that stay together, with their place in the order and their cost."""

    place: int
    tier: Tier
    entries: list[Entry]
    whole: list[Entry]
    cost: int


class _Packer:
    def __init__(self, count: TokenCounter, line: Callable[[Entry], str]) -> None:
        self.count = count
        self.line = line
        self.taken: list[_Unit] = []
        self.reasons: dict[int, str] = {}

    def cost(self, entries: Sequence[Entry]) -> int:
        # One more for the line break: counters that read whole texts see it.
        return sum(max(0, self.count(self.line(e))) + 1 for e in entries)

    def cut(self, unit: _Unit, limit: int) -> tuple[list[Entry], int] | None:
        """The unit within ``limit`` tokens, each entry with an even part of it; None when that says nothing."""
        each = limit // len(unit.whole)
        if each < LEAST_EXCERPT:
            return None
        out = []
        for entry in unit.whole:
            own = max(0, self.count(entry.item.text))
            spare = each - self.cost([entry]) + own
            if spare < LEAST_WORDS and own > max(0, spare):
                return None
            text = excerpt(entry.item.text, entry.focus, limit=max(0, spare), count=self.count)
            if text != entry.item.text and self.count(text) < LEAST_WORDS:
                return None
            out.append(entry if text == entry.item.text else entry.shortened(text, "cut to the words that match"))
        cost = self.cost(out)
        return (out, cost) if cost <= limit else None

    def fill(self, units: Sequence[_Unit], budget: int, longest: int) -> int:
        """Take what fits of one tier in order; returns what is left of the budget.

        Turns of the conversation end at the first that does not fit, so that no turn in between is missing.
        """
        for unit in units:
            room = min(budget, longest)
            if unit.cost > room:
                shorter = self.cut(unit, room)
                if shorter is None:
                    self.reasons[unit.place] = f"no room: {unit.cost} tokens"
                    if unit.tier == "working":
                        break
                    continue
                unit.entries, unit.cost = shorter
            self.taken.append(unit)
            self.reasons.pop(unit.place, None)
            budget -= unit.cost
        return budget

    def restore(self, budget: int) -> int:
        """Make cut entries whole, or longer, with what is left."""
        for unit in self.taken:
            if not any(e.is_cut for e in unit.entries) or budget <= 0:
                continue
            limit = unit.cost + budget
            whole = self.cost(unit.whole)
            better = (unit.whole, whole) if whole <= limit else self.cut(unit, limit)
            if better is not None and better[1] > unit.cost:
                budget -= better[1] - unit.cost
                unit.entries, unit.cost = list(better[0]), better[1]
        return budget


def pack(
    entries: Sequence[Entry],
    *,
    max_tokens: int,
    count: TokenCounter,
    line: Callable[[Entry], str],
    frame: Callable[[Sequence[Tier]], str],
    measure: Callable[[Sequence[Entry]], int],
    shares: Mapping[Tier, float],
) -> Packed:
    """The entries that fit, best first within each tier as given (of working memory: the newest first).

    ``measure`` counts the finished context of some entries; the result measures at most ``max_tokens``.
    """
    packer = _Packer(count, line)
    units = _units(entries, packer)
    if max_tokens > 0 and units:
        tiers = [t for t in _FILL_ORDER if any(u.tier == t for u in units)]
        budget = max_tokens - max(0, count(frame(tiers)))
        if budget > 0 and _all_fit(units, budget) and measure(_in_order(units)) <= max_tokens:
            packer.taken = units
        elif budget > 0:
            _share_out(packer, units, budget, shares)
        _until_it_fits(packer, max_tokens, measure)
    kept = {u.place: u for u in packer.taken}
    dropped = [
        Dropped(
            source_id=e.item.source_id,
            tier=u.tier,
            reason=packer.reasons.get(u.place, "no room" if max_tokens > 0 else "the budget is 0"),
            tokens=u.cost,
            score=e.item.score,
        )
        for u in units
        if u.place not in kept
        for e in u.whole
    ]
    spent = {t: sum(u.cost for u in packer.taken if u.tier == t) for t in _FILL_ORDER}
    return Packed(entries=_in_order(packer.taken), dropped=tuple(dropped), spent=spent)


def _units(entries: Sequence[Entry], packer: _Packer) -> list[_Unit]:
    grouped: dict[tuple[Tier, str], list[Entry]] = {}
    for entry in entries:
        grouped.setdefault((entry.item.tier, entry.unit), []).append(entry)
    return [
        _Unit(place=i, tier=tier, entries=list(members), whole=members, cost=packer.cost(members))
        for i, ((tier, _), members) in enumerate(grouped.items())
    ]


def _all_fit(units: Sequence[_Unit], budget: int) -> bool:
    """Nothing need be left out or cut, so that nothing has to be shared out."""
    return sum(u.cost for u in units) <= budget and max(u.cost for u in units) <= budget // LONG_SHARE


def _share_out(packer: _Packer, units: Sequence[_Unit], budget: int, shares: Mapping[Tier, float]) -> None:
    queues = {t: _queue([u for u in units if u.tier == t]) for t in _FILL_ORDER}
    total = budget
    left = budget
    for tier in _FILL_ORDER:
        share = min(left, int(total * shares.get(tier, 0.0)))
        left -= share - packer.fill(queues[tier], share, max(share // LONG_SHARE, LEAST_EXCERPT))
    for tier in _SPARE_ORDER:
        waiting = _waiting(queues[tier], packer)
        if waiting and left > 0:
            left = packer.fill(waiting, left, max(total // LONG_SHARE, LEAST_EXCERPT))
    packer.restore(left)


def _queue(units: list[_Unit]) -> list[_Unit]:
    """What must be kept first, then the given order; turns from the newest back."""
    if units and units[0].tier == "working":
        units = units[::-1]
    return sorted(units, key=lambda u: not any(e.keep for e in u.whole))


def _waiting(queue: Sequence[_Unit], packer: _Packer) -> list[_Unit]:
    taken = {u.place for u in packer.taken}
    return [u for u in queue if u.place not in taken]


def _until_it_fits(packer: _Packer, max_tokens: int, measure: Callable[[Sequence[Entry]], int]) -> None:
    """Leave out the last taken until the finished context fits; ends, since nothing at all counts as 0."""
    while packer.taken:
        over = measure(_in_order(packer.taken)) - max_tokens
        if over <= 0:
            return
        while over > 0 and packer.taken:
            unit = packer.taken.pop()
            packer.reasons[unit.place] = f"no room: {unit.cost} tokens"
            over -= max(1, unit.cost)


def _in_order(units: Sequence[_Unit]) -> tuple[Entry, ...]:
    return tuple(e for u in sorted(units, key=lambda u: u.place) for e in u.entries)


__all__ = ["Packed", "pack"]
