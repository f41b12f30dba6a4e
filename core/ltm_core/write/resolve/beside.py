"""What stands beside the current facts of a slot: earlier values, values yet to come, suppressed ones.

A late statement of a single-valued slot finds its place among the closed values, so that every instant has one
value. A value dated ahead is withdrawn by what the user says later, and ends what an application dates before it.
A suppressed value takes part like a current one: it is reinforced, closed or corrected, and stays suppressed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.types import Fact, Scope
from ltm_core.write.endings.ended import ended_by
from ltm_core.write.known.known import Known
from ltm_core.write.known.match import same_statement, same_subject
from ltm_core.write.known.rows import UNTOUCHED, closed, is_late, new_fact, reinforced
from ltm_core.write.plan import Candidate, Decision
from ltm_core.write.words.lexicon import Lexicon

if TYPE_CHECKING:
    from ltm_core.store.base import Reader


def beside_current(
    reader: Reader, candidates: Sequence[Candidate], current: Iterable[Fact], *, now: datetime
) -> list[Fact]:
    """Facts of the candidates' slots that are not current and may be touched: suppressed and coming ones, and the
    closed ones when a candidate of a single-valued slot is older than what is known."""
    if not candidates:
        return []
    waiting = reader.facts(slots=[(c.subject, c.relation) for c in candidates], waiting_at=now)
    known = [*current, *waiting]
    late = [
        (c.subject, c.relation)
        for c in candidates
        if c.single_valued and any(_same_slot(f, c) and is_late(c, f) for f in known)
    ]
    past = reader.facts(slots=late, past_at=now) if late else []
    return list({f.id: f for f in [*waiting, *past]}.values())


@dataclass(slots=True)
class Beside:
    """The facts beside the current ones, in one place while candidates are taken."""

    labels: Scope
    now: datetime
    new_id: Callable[[], str]
    lexicon: Lexicon
    coming: dict[str, Fact] = field(default_factory=dict)
    ended: dict[str, Fact] = field(default_factory=dict)

    def take_in(self, facts: Iterable[Fact]) -> dict[str, Fact]:
        """Sorts the facts; returns the suppressed ones that hold, by id: they count as known."""
        quiet = {}
        for f in facts:
            if f.retracted_at is not None or f.user_id != self.labels.user_id:
                continue
            if f.valid_to is not None and f.valid_to <= max(self.now, f.valid_from):
                self.ended[f.id] = f
            elif f.valid_from > self.now:
                self.coming[f.id] = f
            elif f.suppressed_at is not None:
                quiet[f.id] = f
        return quiet

    # dated back ---------------------------------------------------------------------------------------
    def late(self, c: Candidate, newer: Sequence[Fact]) -> list[Decision]:
        """The candidate as history: it ends where the next value begins, and ends the value before it."""
        others = [f for f in self.ended.values() if _same_slot(f, c)] if c.single_valued else []
        for f in others:
            if f.valid_to is not None and f.valid_from <= c.valid_from < f.valid_to and _equal(f, c):
                after = replace(reinforced(f, c), is_current=False)
                self.ended[f.id] = after
                return [Decision(op="reinforce", fact=after, previous=f, reason="said again, of an earlier time")]
        first = min(newer, key=lambda f: f.valid_from)
        lasted = [f for f in others if f.valid_to is not None and f.valid_to > f.valid_from]
        following = [f for f in (*newer, *lasted) if f.valid_from > c.valid_from]
        if following:
            first = min(following, key=lambda f: f.valid_from)
            end = first.valid_from
        else:
            end = max(c.valid_from, c.said_at or c.valid_from)
        fact = new_fact(replace(c, valid_to=end), self.labels, id=self.new_id(), now=self.now)
        fact = replace(fact, superseded_by=first.id, is_current=False)
        self.ended[fact.id] = fact
        out = [Decision(op="add", fact=fact, reason="older than what is known: kept as history")]
        if not c.valid_from < end:
            return out
        for f in others:
            if f.valid_to is not None and f.valid_from <= c.valid_from < f.valid_to:
                cut = closed(f, at=c.valid_from, by=fact.id)
                self.ended[f.id] = cut
                out.append(Decision(op="close", fact=cut, previous=f, reason="another value came between"))
        return out

    # dated ahead --------------------------------------------------------------------------------------
    def again(self, c: Candidate) -> list[Decision]:
        """A coming value that is told again with the same date."""
        for f in self.coming.values():
            if f.valid_from == c.valid_from and same_subject(f, c) and same_statement(f, c, self.lexicon):
                after = replace(reinforced(f, c), is_current=False)
                self.coming[f.id] = after
                return [Decision(op="reinforce", fact=after, previous=f, reason="said again")]
        return []

    def settled(self, c: Candidate, made: list[Decision], known: Known) -> list[Decision]:
        """The candidate's decisions, with what they mean for the values yet to come."""
        mine = [f for f in self.coming.values() if same_subject(f, c)]
        new = next((d.fact for d in made if d.op in ("add", "supersede") and d.fact.relation == c.relation), None)
        if new is not None and new.valid_from > self.now and new.is_positive and c.single_valued:
            self.coming[new.id] = new
        if not c.is_positive or c.move == "cease":
            return [*made, *self._withdrawn([f for f in mine if ended_by(f, c, self.lexicon)], new, known)]
        if new is None or not c.single_valued or not (new.is_current or new.valid_from > self.now):
            return made
        slot = [f for f in mine if _same_slot(f, c) and f.id != new.id]
        over = [f for f in slot if _told_before(f, c) or (_equal(f, c) and new.valid_from <= self.now)]
        left = [f for f in slot if f not in over and f.valid_from > new.valid_from]
        if left:
            following = min(left, key=lambda f: f.valid_from)
            ends = replace(new, valid_to=following.valid_from, superseded_by=following.id)
            made = [replace(d, fact=ends) if d.fact.id == new.id else d for d in made]
            if new.id in known:
                known.put(ends)
            if new.id in self.coming:
                self.coming[new.id] = ends
        for f in slot:
            if f not in over and f.valid_from < new.valid_from and (f.valid_to or new.valid_from) >= new.valid_from:
                self.coming[f.id] = ends = closed(f, at=new.valid_from, by=new.id)
                made.append(Decision(op="close", fact=ends, previous=f, reason="another value is to follow"))
        return [*made, *self._withdrawn(over, new, known)]

    def _withdrawn(self, facts: Sequence[Fact], new: Fact | None, known: Known) -> list[Decision]:
        out = []
        for f in facts:
            after = closed(f, at=f.valid_from, by=None if new is None else new.id)
            self.coming.pop(f.id, None)
            out.append(Decision(op="close", fact=after, previous=f, reason="withdrawn before it began"))
            for held in [k for k in known.values() if k.superseded_by == f.id]:
                on = replace(held, valid_to=None, superseded_by=None)
                known.put(on)
                out.append(
                    Decision(op="restore", fact=on, previous=held, reason="what was to replace it was withdrawn")
                )
        return out


def _same_slot(f: Fact, c: Candidate) -> bool:
    return same_subject(f, c) and f.relation == c.relation and f.is_positive and f.modality not in UNTOUCHED


def _equal(f: Fact, c: Candidate) -> bool:
    return f.object_normalized == c.object_normalized


def _told_before(f: Fact, c: Candidate) -> bool:
    """Whether a person says something else later. What an application dates stands in the order of its dates."""
    if c.said_at is None:
        return f.valid_from == c.valid_from
    return (f.recorded_at if f.asserted_by == "app" else f.last_seen_at) <= c.said_at
