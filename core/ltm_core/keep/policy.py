"""Which memories of one user go, and why: a pure decision over `Held` rows."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ltm_core.keep.value import Held, value
from ltm_core.types import ForgetReason

if TYPE_CHECKING:
    from ltm_core.config_keeping import KeepingConfig

NOT_REPLACED = "its summary does not replace it yet"
REPLACED_STAYS = "a value it had replaced stays"
SUPPORTS = "a fact that stays rests on it"
SAID_STAYS = "a turn that says it stays"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What holds for one user."""

    rules: frozenset[ForgetReason]
    half_life_days: float
    floor: float
    below: float
    capacity: int
    """0: no bound."""
    ttl_days: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One memory that goes."""

    held: Held
    reason: ForgetReason
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What goes, the least valuable first, and why others that a policy named stay."""

    going: tuple[Choice, ...] = ()
    spared: Mapping[str, int] = field(default_factory=dict)


def policy_of(config: KeepingConfig, retention: str | None) -> Policy:
    """The policy of a user of this retention class."""
    chosen = config.retention_class(retention)
    return Policy(
        rules=frozenset(config.forgetting),
        half_life_days=chosen.half_life_days,
        floor=config.retention_floor,
        below=config.forget_below,
        capacity=chosen.capacity,
        ttl_days=config.ttl_days,
    )


def decide(memories: Sequence[Held], policy: Policy, *, now: datetime, unreplaced: Collection[int] = ()) -> Outcome:
    """Too old for its kind, worth too little, or too many: in this order, each memory for one reason.

    ``unreplaced`` are items that wait for a summary: they stay. The past must not come to look like the present:
    a value goes only with those it had replaced, and a past value only with the turns that say it. A turn stays
    for the facts that were told in it first or last, unless its time is over ("ttl"): what was told a hundred times
    rests on two turns.
    """
    worth = {h.item: value(h, now=now, half_life_days=policy.half_life_days, floor=policy.floor) for h in memories}
    ordered = sorted(memories, key=lambda h: (worth[h.item], h.at, h.item))
    named: dict[int, ForgetReason] = {}
    for h in ordered:
        days = policy.ttl_days.get(h.kind) if "ttl" in policy.rules else None
        if days is not None and h.at + timedelta(days=days) <= now:
            named[h.item] = "ttl"
        elif "decay" in policy.rules and policy.half_life_days > 0 and worth[h.item] < policy.below:
            named[h.item] = "decay"
    timed = frozenset(i for i, reason in named.items() if reason == "ttl")
    ties = _Ties(memories, frozenset(unreplaced), timed)
    going, spared = ties.free(named)
    if "capacity" in policy.rules and policy.capacity:
        over = len(memories) - policy.capacity
        rest = [h.item for h in ordered if h.item not in going]
        if over > len(going):
            soon = {h.item for h in memories if h.for_now or h.item in ties.waiting}

            # The more is named the more may go: the shortest beginning that is enough. What may go soon goes then:
            # nothing of more value goes in its place.
            def many(count: int) -> int:
                now_ = ties.free(named | dict.fromkeys(rest[:count], "capacity"))[0]
                return len(now_) + sum(item in soon and item not in now_ for item in rest[:count])

            enough = bisect_left(range(len(rest)), over, key=many)
            named |= dict.fromkeys(rest[:enough], "capacity")
            going, spared = ties.free(named)
    # Turns first: stopped half-way, a past value is still known to be past.
    chosen = sorted((h for h in ordered if h.item in going), key=lambda h: h.owner == "fact")
    return Outcome(
        going=tuple(Choice(held=h, reason=named[h.item], value=worth[h.item]) for h in chosen),
        spared=dict(Counter(spared.values())),
    )


class _Ties:
    """What must not go without what."""

    def __init__(self, memories: Sequence[Held], waiting: frozenset[int], timed: frozenset[int]) -> None:
        """``timed``: items whose time is over."""
        self._held = {h.item: h for h in memories}
        self.waiting = waiting
        items = {h.id: h.item for h in memories if h.owner == "fact"}
        self._replaced: dict[int, list[int]] = {}
        self._said: dict[int, list[int]] = {}
        for h in memories:
            if h.superseded_by in items:
                self._replaced.setdefault(items[h.superseded_by], []).append(h.item)
            for fact in h.supports:
                self._said.setdefault(fact, []).append(h.item)
        # Turns whose time is over go whatever rests on them: the first and the last are those that outlive them.
        over = {i for i in timed if not self._protected(self._held[i])}
        self._shown = {fact: self._ends([i for i in said if i not in over]) for fact, said in self._said.items()}

    def _ends(self, said: Sequence[int]) -> tuple[int, ...]:
        """The first and the last of these turns."""

        def when(item: int) -> tuple[datetime, int]:
            return self._held[item].at, item

        return (min(said, key=when), max(said, key=when)) if said else ()

    def free(self, named: Mapping[int, ForgetReason]) -> tuple[set[int], dict[int, str]]:
        """The largest part of what is named that may go, and why each of the others stays."""
        spared = {i: why for i in named if (why := self._protected(self._held[i]))}
        going = set(named) - set(spared)
        look: Iterable[int] = list(going)
        while True:
            bound = {i: why for i in look if i in going and (why := self._bound(self._held[i], going, named))}
            if not bound:
                return going, spared
            spared |= bound
            going -= set(bound)
            look = going

    def _protected(self, h: Held) -> str:
        return h.protected or (NOT_REPLACED if h.item in self.waiting else "")

    def _bound(self, h: Held, going: Collection[int], named: Mapping[int, ForgetReason]) -> str:
        if h.owner == "message":
            if named[h.item] == "ttl":
                return ""
            needed = (f for f in h.supports if h.item in self._shown[f])
            return SUPPORTS if any(f in self._held and f not in going for f in needed) else ""
        if any(i not in going for i in self._replaced.get(h.item, ())):
            return REPLACED_STAYS
        return SAID_STAYS if h.past and any(i not in going for i in self._said.get(h.item, ())) else ""


__all__ = [
    "NOT_REPLACED",
    "REPLACED_STAYS",
    "SAID_STAYS",
    "SUPPORTS",
    "Choice",
    "Outcome",
    "Policy",
    "decide",
    "policy_of",
]
