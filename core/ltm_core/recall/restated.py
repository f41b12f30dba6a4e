"""A statement that a later one of the same speaker restates with another value, told from their words alone.

No fact need have been extracted. Both must be about what is asked: the words of the question that they share are
the frame, and in that frame a value of one kind differs. Fitted on the updates of BEAM-100K: 18 of 19 are found,
and of the 199 messages that answer its other questions 13 are overtaken, 4 of them by a true change; on LoCoMo none
of 1348.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ltm_core.recall.derived import Derived
from ltm_core.recall.values import Kind, Value, may_state, moves_of, tells_of_change, values_of
from ltm_core.recall.wanted import Wanted

FRAME = 0.2
"""Share of the question's weighted words that both statements hold, from which they may speak of the same thing."""
SAME_WHOLE = 0.7
"""Share of what the older one holds of the question, its rarest word included, that a newer one without a word of
change must hold too: of two hotels each has its price."""
SURE = 0.57
"""Sureness from which the one restates the other."""
CHANGED = 0.2
"""What a word of change by the newer value adds."""
KIND = 0.2
"""What it adds when the question asks for this kind of value."""
NO_KIND = -0.1
"""And when it asks for no value at all: "have I ever" means both."""
UNIT = 0.1
"""What it adds when the question names what is counted."""
MOVED = 0.4
"""Share of the question from which "it was moved" alone, without a value, overtakes the old value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A message as far as it bears on this."""

    id: str
    speaker: str
    order: tuple[datetime, int]
    """When it was said, and its place among those said at once."""
    said: datetime
    """The same time in the zone of the speaker."""
    text: str
    terms: frozenset[str]
    derived: Derived | None = None
    """What its words yield, where that is kept."""

    def values(self) -> Sequence[Value]:
        """The values that it states."""
        return values_of(self.text, said=self.said) if self.derived is None else self.derived.values(self.said)

    def turns(self) -> bool:
        """Whether it tells of a change."""
        return tells_of_change(self.text) if self.derived is None else self.derived.tells_of_change


@dataclass(frozen=True, slots=True, kw_only=True)
class Overtaken:
    """What later statements make of one."""

    by: tuple[str, ...]
    """Ids of those that took its place, the surest first."""
    values: frozenset[tuple[Kind, str]]
    """What it states of the kinds that are asked for."""
    said: datetime


def restated(statements: Sequence[Statement], weights: Mapping[str, float], asked: Wanted) -> Mapping[str, Overtaken]:
    """What took the place of what, per id of an overtaken statement.

    ``weights`` are the words of the question and how much each says; words that no statement holds
    tell nothing.
    """
    held = {t: w for t, w in weights.items() if any(t in s.terms for s in statements)}
    frame = _Frame(held, sum(held.values()), asked)
    topic = {s.id: s.terms.intersection(held) for s in statements}
    about = [s for s in statements if (asked.kinds or may_state(s.text)) and frame.share(topic[s.id]) >= FRAME]
    if len(about) < 2:
        return {}
    read = _Read(frame)
    turning = {s.id for s in about if asked.kinds or s.turns()}
    out: dict[str, Overtaken] = {}
    ordered = sorted(about, key=lambda s: s.order)
    for n, old in enumerate(ordered):
        later = [s for s in ordered[n + 1 :] if s.id in turning and s.speaker == old.speaker]
        near = [s for s in later if frame.share(topic[s.id] & topic[old.id]) >= FRAME]
        if not near or not read.values(old):
            continue
        sure = {s.id: frame.sureness(read.values(old), read.values(s), s, read.moves(s)) for s in near}
        found = [i for i in sure if sure[i] >= SURE]
        if found:
            by = tuple(sorted(found, key=lambda i: -sure[i]))
            out[old.id] = Overtaken(
                by=by, values=frozenset((v.kind, v.value) for v in read.values(old)), said=old.said
            )
    return _in_one_chain(out, [s.id for s in ordered])


def _in_one_chain(found: Mapping[str, Overtaken], ordered: Sequence[str]) -> Mapping[str, Overtaken]:
    """Of two that the same statement overtakes the later one also stands above the older."""
    out = dict(found)
    late = [i for i in ordered if i in found]
    for n, old in enumerate(late):
        more = [i for i in late[n + 1 :] if i not in out[old].by and set(found[i].by) & set(found[old].by)]
        if more:
            out[old] = replace(out[old], by=(*out[old].by, *more))
    return out


class _Read:
    """Each statement read once, and only when something is compared with it."""

    def __init__(self, frame: _Frame) -> None:
        self._frame = frame
        self._values: dict[str, list[Value]] = {}
        self._moves: dict[str, list[frozenset[str]]] = {}

    def values(self, s: Statement) -> list[Value]:
        if s.id not in self._values:
            self._values[s.id] = [v for v in s.values() if self._frame.counts(v)]
        return self._values[s.id]

    def moves(self, s: Statement) -> list[frozenset[str]]:
        if s.id not in self._moves:
            self._moves[s.id] = moves_of(s.text)
        return self._moves[s.id]


@dataclass(frozen=True, slots=True)
class _Frame:
    """The question as a frame to compare two statements in."""

    weights: Mapping[str, float]
    whole: float
    asked: Wanted
    _shares: dict[frozenset[str], float] = field(default_factory=dict)
    """Per set of words of the question what they make of it: few sets are asked for, and again and again."""

    def share(self, terms: frozenset[str]) -> float:
        """Share of the question's weighted words that ``terms`` hold."""
        held = frozenset(self.weights).intersection(terms)
        found = self._shares.get(held)
        if found is None:
            found = sum([w for t, w in self.weights.items() if t in held]) / self.whole if self.whole else 0.0
            self._shares[held] = found
        return found

    def counts(self, value: Value) -> bool:
        """Whether the value could answer the question."""
        if self.asked.kinds and value.kind not in self.asked.kinds:
            return False
        units = self.asked.units & self.weights.keys()
        return value.kind != "amount" or not units or not value.unit or bool(value.unit & units)

    def sureness(
        self, old: Sequence[Value], new: Sequence[Value], later: Statement, moves: Sequence[frozenset[str]]
    ) -> float:
        """How sure the later one restates the older one, by their likest pair of values; 0 when none differs."""
        best = 0.0
        for b in new:
            if any(c.kind == b.kind and c.value == b.value and _same_unit(c, b) for c in old):
                continue
            for a in old:
                if a.kind == b.kind and a.value != b.value and _same_unit(a, b) and self._same_whole(a, b, later):
                    best = max(best, self._likeness(a, b))
        if not new and self.asked.kinds and not self.asked.spans:
            shared = [self.share(a.around & m) for a in old for m in moves]
            best = max([best, *(s + CHANGED for s in shared if s >= MOVED)])
        return best

    def _same_whole(self, a: Value, b: Value, later: Statement) -> bool:
        """Whether the later one is about all that the older one is; a word of change refers back to it."""
        if b.changed and self.asked.kinds and not self.asked.spans:
            return True
        if not b.changed and not self.asked.kinds:
            return False
        held = a.around & self.weights.keys()
        told = held & later.terms
        if not held or max(self.weights[t] for t in held) > max((self.weights[t] for t in told), default=0.0):
            return False
        return self.share(told) >= SAME_WHOLE * self.share(held)

    def _likeness(self, a: Value, b: Value) -> float:
        frame = (self.share(a.near & b.near) + self.share(a.around & b.around)) / 2
        named = bool((a.unit | b.unit) & self.weights.keys())
        return frame + CHANGED * b.changed + (KIND if self.asked.kinds else NO_KIND) + UNIT * named


def _same_unit(a: Value, b: Value) -> bool:
    if a.kind != "amount":
        return True
    if not a.unit:
        return not b.unit
    return bool(a.unit & b.unit) if b.unit else a.unit <= b.around


__all__ = ["Statement", "restated"]
