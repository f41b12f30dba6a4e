"""One candidate among the facts known of the same one: what it reinforces, ends, puts right and adds. Pure.

Only facts of the same subject and speaker are ever touched, and of those only the same single-valued relation,
the same thing, or the class of things that the words end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ltm_core.types import Fact, Scope
from ltm_core.write.corrections.restated import meant, put_right, said_already
from ltm_core.write.corrections.righted import RULE as RIGHTED
from ltm_core.write.corrections.righted import meant as righted
from ltm_core.write.corrections.righted_zh import RULE as RIGHTED_ZH
from ltm_core.write.corrections.righted_zh import meant as righted_zh
from ltm_core.write.endings.awhile import passing_over
from ltm_core.write.endings.ended import (
    begins_named,
    ends_whole,
    may_end,
    named_by,
    names_fact,
    only_one_meant,
    parts_with,
)
from ltm_core.write.endings.ends import RULE as ENDS
from ltm_core.write.endings.given_up import left_of
from ltm_core.write.endings.other_side import sides
from ltm_core.write.endings.worded import without
from ltm_core.write.extract.renew import RULE as RENEWED
from ltm_core.write.known.details import is_detail_of, is_time_of, one_life
from ltm_core.write.known.known import Known
from ltm_core.write.known.match import related, same_meaning, same_statement, same_thing
from ltm_core.write.known.mentions import names
from ltm_core.write.known.narrow import remainder
from ltm_core.write.known.rows import closed, is_late, new_fact, reinforced, retracted
from ltm_core.write.plan import Candidate, Decision
from ltm_core.write.resolve.adopted import adopted
from ltm_core.write.resolve.beside import Beside
from ltm_core.write.resolve.over import ended as ended_of
from ltm_core.write.resolve.over import opposed_by
from ltm_core.write.resolve.over import wrong as wrong_of
from ltm_core.write.resolve.rivals import equal, rivals
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

RIGHTED_BY = {RIGHTED: righted, RIGHTED_ZH: righted_zh}


def _more(facts: Iterable[Fact], than: Sequence[Fact], holds: Callable[[Fact], bool]) -> list[Fact]:
    """Those of the facts, besides the ones there are, for which it holds."""
    return [f for f in facts if f not in than and holds(f)]


@dataclass(slots=True)
class Meeting:
    """What is known of one user while the candidates of a message are taken, one after another."""

    known: Known
    beside: Beside
    labels: Scope
    now: datetime
    new_id: Callable[[], str]
    lexicon: Lexicon
    similarity: Callable[[str, str], float] | None
    relation_threshold: float
    duplicate_similarity: float

    def take(self, c: Candidate) -> list[Decision]:
        """The changes that make the candidate known; afterwards ``known`` holds what they leave."""
        far = bool(c.reach != "slot" or c.wrong_object or not c.is_positive or c.move not in ("state", "revert"))
        alike = self.similarity is not None
        mine = self.known.of_subject(c) if far else self.known.near(c, self.lexicon, whole_slot=alike)
        if c.rule == ENDS:
            return self._ended_by_name(c, mine)
        c = adopted(c, mine, self.lexicon, sure_from=self.relation_threshold)
        believed = wrong_of(c, mine, self.lexicon, sure_from=self.relation_threshold)
        if c.rule == "open" and c.wrong_object and c.move == "correct" and not believed:
            return []
        if c.modality == "past":
            return self._history(c, mine)
        if c.modality == "temporary":
            return self._reinforce(c, mine) or [self._add(c, "a state that ends by itself")]
        if c.kind == "solution":
            return self._reinforce(c, mine) or [self._add(c, "a confirmed solution")]
        wrong = [f for f in believed if not same_statement(f, c, self.lexicon)]
        denied = {w.id for w in wrong}
        same = self._reinforce(c, [f for f in mine if f.id not in denied])
        over = [] if wrong else self._over(c, mine)
        if same:
            by = same[0].fact.id
            return [*same, *self._end(wrong, retract=True, by=by), *self._end(over, by=by, at=c.valid_from)]
        taken = {f.id for f in (*wrong, *over)}
        instead = rivals(c, mine, taken, self.lexicon, sure_from=self.relation_threshold)
        if c.move == "change" and c.wrong_object:
            instead += _more(mine, (*over, *instead), lambda f: any(is_detail_of(f, o) for o in instead))
        newer = [f for f in instead if is_late(c, f)]
        if newer:
            return self.beside.late(c, newer)
        return self._replace(c, wrong, [*over, *instead])

    def _over(self, c: Candidate, mine: Sequence[Fact]) -> list[Fact]:
        """What the words end, with what is told of it beside."""
        over = [f for f in ended_of(c, mine, self.lexicon) if not same_statement(f, c, self.lexicon)]
        if not c.is_positive:
            over += _more(mine, over, lambda f: any(one_life(f, o, self.lexicon) or is_time_of(f, o) for o in over))
        if c.instead_of:
            over += _more(self.known.values(), over, lambda f: f.id in c.instead_of)
        if not c.is_positive or (c.move == "change" and c.wrong_object):
            over += _more(mine, over, lambda f: any(is_detail_of(f, o) for o in over))
        if c.move in ("change", "revert") or not c.is_positive:
            over += opposed_by(c, mine, over, self.lexicon)
        return over

    def _ended_by_name(self, c: Candidate, mine: Sequence[Fact]) -> list[Decision]:
        """What the words name, by itself or by its class, is over; nothing is kept when they name nothing known."""
        if c.tags:
            passing = passing_over(c, mine, self.lexicon)
            return self._replace(c, [], passing) if passing else []
        over = [
            f
            for f in mine
            if (may_end(f, temporary=True) or ends_whole(f, c, self.lexicon) or parts_with(c, f, self.lexicon))
            and names_fact(c, f, self.lexicon)
        ]
        over = over or only_one_meant(c, mine, self.lexicon) or self._of_relatives(c)
        over += [f for f in mine if f not in over and may_end(f) and any(one_life(f, o, self.lexicon) for o in over)]
        over += [f for f in mine if f not in over and any(is_detail_of(f, o) or is_time_of(f, o) for o in over)]
        made = self._replace(c, [], over) if over else []
        return [*made, *(self._kept_of(f, c, rest) for f in over if (rest := left_of(f, named_by(c), self.lexicon)))]

    def _kept_of(self, f: Fact, c: Candidate, words: str) -> Decision:
        """What a statement of several things still says when one of them is over."""
        told = replace(
            c, relation=f.relation, object=words, object_normalized=fold(words), text=words, is_positive=True,
            move="state", reach="slot", valid_from=f.valid_from, confidence=f.confidence, evidence=f.evidence,
            rule=f.rule, wrong_object=None, things=(), loose=(), nothing=None, classes=(),
        )  # fmt: skip
        return self._add(told, "what is left of it")

    def restate(self, c: Candidate) -> list[Decision]:
        """What is known of a value that the words put right, told again with the right one; nothing when none is."""
        known = self.known.values()
        find = RIGHTED_BY.get(c.rule, meant)
        wrong = find(c, known, self.lexicon)
        if not wrong:
            again = said_already(c, known)
            return [] if again is None else [Decision(op="skip", fact=again, previous=again, reason="said again")]
        out: list[Decision] = []
        for fact, object_, text in wrong:
            out += self._replace(put_right(c, fact, object_, text), [fact], [])
        return out

    def _of_relatives(self, c: Candidate) -> list[Fact]:
        """What is known of the speaker's people about the thing or the animal that English words begin with by its
        name ("Little Acorns shut down", the nursery of the son)."""
        named = begins_named(c, self.lexicon)
        return [
            f
            for f in self.known.values()
            if f.subject not in (c.subject, "assistant")
            and (f.speaker or None) == (c.speaker or None)
            and may_end(f)
            and named
            and named <= set(names(f.text, begins=True))
            and names_fact(c, f, self.lexicon)
        ]

    def _reinforce(self, c: Candidate, mine: Sequence[Fact]) -> list[Decision]:
        for f in mine:
            if same_statement(f, c, self.lexicon) or self._alike(f, c):
                if c.evidence and all(e in f.evidence for e in c.evidence):
                    return [Decision(op="skip", fact=f, previous=f, reason="already known from these words")]
                after = reinforced(f, c)
                self.known.put(after)
                return [Decision(op="reinforce", fact=after, previous=f, reason="said again")]
        return []

    def _alike(self, f: Fact, c: Candidate) -> bool:
        if self.similarity is None or not same_meaning(f, c, self.lexicon):
            return False
        return self.similarity(f.text, c.text) >= self.duplicate_similarity

    def _add(self, c: Candidate, reason: str) -> Decision:
        fact = new_fact(c, self.labels, id=self.new_id(), now=self.now)
        if fact.is_current:
            self.known.put(fact)
        return Decision(op="add", fact=fact, reason=reason)

    def _history(self, c: Candidate, mine: Sequence[Fact]) -> list[Decision]:
        """What is told as past is kept closed; "used to" also ends what was still believed."""
        out: list[Decision] = []
        if c.move == "cease":
            over = [
                f
                for f in mine
                if f.is_positive and related(f, c, self.lexicon) and same_thing(f, c.object_normalized)
            ]
            out += self._end(over, by=None, at=c.said_at or self.now)
        if out:
            return out
        told = next(
            (f for f in mine if f.modality == "past" and f.relation == c.relation and equal(f, c, self.lexicon)), None
        )
        if told is not None:
            return [Decision(op="skip", fact=told, reason="known already")]
        until = c.valid_to or c.said_at or c.valid_from
        fact = new_fact(replace(c, valid_to=max(until, c.valid_from)), self.labels, id=self.new_id(), now=self.now)
        return [Decision(op="add", fact=replace(fact, is_current=False), reason="told as past")]

    def _replace(self, c: Candidate, wrong: Sequence[Fact], over: Sequence[Fact]) -> list[Decision]:
        if c.is_positive and c.move == "change" and len(over) == 1:
            told = without(c.text, over[0])
            old = c.wrong_object if c.rule == RENEWED else None
            if old and old in fold(over[0].object) and not sides(old, self.lexicon):
                told = told.replace(old, "", 1)  # "自动化换成计算机了": the old value is not said again
            c = replace(c, text=told) if c.object in told else c
        if c.is_positive and len(wrong) == 1 and c.object != c.text:
            told = without(c.text, wrong[0])
            c = replace(c, text=told) if c.object in told else c
        fact = new_fact(c, self.labels, id=self.new_id(), now=self.now)
        if fact.is_current:
            self.known.put(fact)
        after = [
            *((retracted(f, at=self.now, by=fact.id), f) for f in wrong),
            *((closed(f, at=c.valid_from, by=fact.id), f) for f in over),
        ]
        for row, _ in after:
            self.known.drop(row.id)
        if not after:
            return [Decision(op="add", fact=fact, reason=c.rule)]
        reason = "corrected" if wrong else "changed" if c.is_positive else "ended"
        first = Decision(op="supersede", fact=fact, previous=after[0][0], reason=reason)
        return [
            first,
            *([] if c.is_positive else self._left_of(over, c)),
            *(
                Decision(op="retract" if row.retracted_at else "close", fact=row, previous=was, reason=reason)
                for row, was in after[1:]
            ),
        ]

    def _left_of(self, over: Sequence[Fact], c: Candidate) -> list[Decision]:
        """What is left of facts that name several things, of which the words end one."""
        out = []
        for f in over:
            left = remainder(f, c.text, self.lexicon)
            if left is None:
                continue
            row = replace(left, id=self.new_id(), recorded_at=self.now)
            self.known.put(row)
            out.append(Decision(op="add", fact=row, reason="what is left of it"))
        return out

    def _end(
        self, facts: Sequence[Fact], *, by: str | None, at: datetime | None = None, retract: bool = False
    ) -> list[Decision]:
        out = []
        for f in facts:
            if f.id == by:
                continue
            after = retracted(f, at=self.now, by=by) if retract else closed(f, at=at or self.now, by=by)
            self.known.drop(f.id)
            out.append(Decision(op="retract" if retract else "close", fact=after, previous=f, reason="ended"))
        return out
