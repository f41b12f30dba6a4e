"""Candidates meet what is known: reinforce, supersede, close, retract, or stand beside it. Pure.

Only facts of the same subject and speaker are ever touched, and of those only the same single-valued relation,
the same thing, or the class of things that the words end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.types import Evidence, Fact, Scope
from ltm_core.write.corrections.restated import OF_ASSISTANT, meant, put_right, said_already
from ltm_core.write.corrections.restated import RULE as RESTATED
from ltm_core.write.corrections.righted import RULE as RIGHTED
from ltm_core.write.corrections.righted import meant as righted
from ltm_core.write.corrections.righted_zh import RULE as RIGHTED_ZH
from ltm_core.write.corrections.righted_zh import meant as righted_zh
from ltm_core.write.endings.awhile import passing_over
from ltm_core.write.endings.ended import (
    begins_named,
    ended_by,
    ends_whole,
    may_end,
    named_by,
    names_fact,
    only_one_meant,
    parts_with,
)
from ltm_core.write.endings.ends import RULE as ENDS
from ltm_core.write.endings.given_up import left_of
from ltm_core.write.endings.opposites import opposed, tells_opposite
from ltm_core.write.endings.overtaken import RULE as OVERTAKES
from ltm_core.write.endings.overtaken import overtake, without
from ltm_core.write.endings.returns import RULE as RETURNS
from ltm_core.write.endings.touching import is_other_slot, only_touches, tells_of_another
from ltm_core.write.extract.renew import RULE as RENEWED
from ltm_core.write.known.known import Known
from ltm_core.write.known.match import (
    contrary,
    counts,
    in_classes,
    related,
    same_activity,
    same_meaning,
    same_statement,
    same_thing,
)
from ltm_core.write.known.mentions import mentions, names
from ltm_core.write.known.narrow import remainder
from ltm_core.write.known.news import load_news
from ltm_core.write.known.reach import Reach, reach_of
from ltm_core.write.known.rows import RANK, UNTOUCHED, closed, is_late, new_fact, reinforced, retracted
from ltm_core.write.plan import Candidate, Decision
from ltm_core.write.read.found import inside
from ltm_core.write.resolve.beside import Beside
from ltm_core.write.resolve.edits import retract_for_edit
from ltm_core.write.resolve.farewells import ended_before, without_farewells, without_news, without_partner
from ltm_core.write.resolve.replaces import is_detail_of, keeps_employer, only_provider, same_verb, takes_place
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Reach", "reach_of", "resolve", "retract_for_edit"]

_PUT_RIGHT = frozenset([RESTATED, OF_ASSISTANT, RIGHTED, RIGHTED_ZH])
"""Rules of what only puts right what is known."""


def resolve(
    candidates: Iterable[Candidate],
    current: Sequence[Fact],
    *,
    beside: Sequence[Fact] = (),
    user_id: str,
    session_id: str | None = None,
    agent_id: str | None = None,
    task_id: str | None = None,
    app_id: str | None = None,
    now: datetime,
    new_id: Callable[[], str],
    lexicon: Lexicon,
    similarity: Callable[[str, str], float] | None = None,
    vectors: Mapping[str, NDArray[Any]] | None = None,
    relation_threshold: float = 0.7,
    duplicate_similarity: float = 0.92,
) -> tuple[Decision, ...]:
    """The changes that make the candidates known, in order; each row as it must be afterwards.

    ``beside``: facts of the same slots that are not current (`write.resolve.beside`). ``vectors``: those that the
    learned models know, by text; without them news is matched by its words alone.
    """
    labels = Scope(user_id=user_id, session_id=session_id, agent_id=agent_id, task_id=task_id, app_id=app_id)
    others = Beside(labels=labels, now=now, new_id=new_id, lexicon=lexicon)
    state = _State(
        known=Known(
            [*(f for f in current if f.is_current and f.user_id == user_id), *others.take_in(beside).values()]
        ),
        beside=others,
        labels=labels,
        now=now,
        new_id=new_id,
        lexicon=lexicon,
        similarity=similarity,
        relation_threshold=relation_threshold,
        duplicate_similarity=duplicate_similarity,
    )
    decisions: list[Decision] = []
    open_: dict[str, Decision] = {}
    told: list[Evidence] = []
    for candidate in candidates:
        if any(inside(candidate, e) for e in told):
            continue  # its words only put right what was known
        if candidate.rule in _PUT_RIGHT:
            made = state.restate(candidate)
            decisions += made
            told += candidate.evidence if made else ()
            continue
        if candidate.rule == RETURNS and not candidate.relation_confidence:
            continue  # what is gone back to was not found (`returns.settled`)
        if candidate.rule == OVERTAKES:
            kept = [f for f in state.known.of_subject(candidate) if keeps_employer(f, candidate, lexicon)]
            for f in kept:
                state.known.drop(f.id)
            decisions = overtake(
                candidate, decisions, state.known, vectors=vectors or {}, news=load_news(), lexicon=lexicon,
                labels=labels, now=now, new_id=new_id,
            )  # fmt: skip
            for f in kept:
                state.known.put(f)
            continue
        made = others.again(candidate) or others.settled(candidate, state.take(candidate), state.known)
        decisions += made
        if candidate.rule == "open":
            open_.update((d.fact.id, d) for d in made if d.op == "add")
        elif candidate.rule == ENDS and (made or ended_before(decisions, candidate, lexicon)):
            decisions = without_news(decisions, open_, candidate, state.known)
            decisions = without_partner(decisions, candidate, state.known, lexicon)
    return tuple(without_farewells(decisions, set(open_), lexicon))


def _is_said_in(thing: str, fact: Fact, lexicon: Lexicon) -> bool:
    """Whether a fact in the user's own words names the thing."""
    return mentions(thing, fact, lexicon) if thing.isascii() else len(thing) > 1 and thing in fold(fact.text)


@dataclass(slots=True)
class _State:
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
        far = bool(c.reach != "slot" or c.wrong_object or not c.is_positive or c.move not in ("state", "revert"))
        alike = self.similarity is not None
        mine = self.known.of_subject(c) if far else self.known.near(c, self.lexicon, whole_slot=alike)
        if c.rule == ENDS:
            return self._ended_by_name(c, mine)
        c = self._adopted(c, mine)
        if c.rule == "open" and c.wrong_object and c.move == "correct" and not self._wrong(c, mine):
            return []
        if c.modality == "past":
            return self._history(c, mine)
        if c.modality == "temporary":
            return self._reinforce(c, mine) or [self._add(c, "a state that ends by itself")]
        if c.kind == "solution":
            return self._reinforce(c, mine) or [self._add(c, "a confirmed solution")]
        wrong = [f for f in self._wrong(c, mine) if not same_statement(f, c, self.lexicon)]
        denied = {w.id for w in wrong}
        same = self._reinforce(c, [f for f in mine if f.id not in denied])
        ended = [] if wrong else [f for f in self._ended(c, mine) if not same_statement(f, c, self.lexicon)]
        if not c.is_positive:
            ended += [f for f in mine if f not in ended and any(self._one_life(f, o) for o in ended)]
        if c.instead_of:
            ended += [f for f in self.known.values() if f.id in c.instead_of and f not in ended]
        if not c.is_positive or (c.move == "change" and c.wrong_object):
            ended += [f for f in mine if f not in ended and any(is_detail_of(f, o) for o in ended)]
        if not wrong and (c.move in ("change", "revert") or not c.is_positive):
            ended += self._opposed(c, mine, ended)
        if same:
            return [
                *same,
                *self._end(wrong, retract=True, by=same[0].fact.id),
                *self._end(ended, by=same[0].fact.id, at=c.valid_from),
            ]
        rivals = self._rivals(c, mine, {f.id for f in (*wrong, *ended)})
        if c.move == "change" and c.wrong_object:
            rivals += [f for f in mine if f not in (*ended, *rivals) and any(is_detail_of(f, o) for o in rivals)]
        newer = [f for f in rivals if is_late(c, f)]
        if newer:
            return self.beside.late(c, newer)
        return self._replace(c, wrong, [*ended, *rivals])

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
        over += [f for f in mine if f not in over and may_end(f) and any(self._one_life(f, o) for o in over)]
        over += [f for f in mine if f not in over and any(is_detail_of(f, o) for o in over)]
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
        find = {RIGHTED: righted, RIGHTED_ZH: righted_zh}.get(c.rule, meant)
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

    def _one_life(self, f: Fact, other: Fact) -> bool:
        """Whether two facts are one thing told in one clause: who works somewhere as something does neither any
        longer when the place is gone."""
        family = self.lexicon.relation(f.relation).family
        same = family == "work" and family == self.lexicon.relation(other.relation).family
        return same and f.subject == other.subject and bool(f.evidence) and f.evidence == other.evidence

    def _adopted(self, c: Candidate, mine: Sequence[Fact]) -> Candidate:
        """ "Postgres, not MySQL" without a relation means that of the one fact about MySQL; "I left Leeds" ends
        what is known of Leeds, were it no employer."""
        if c.move == "cease" and not c.is_positive and c.relation in self.lexicon.sets["endings"]:
            held = [f for f in mine if f.is_positive and f.object_normalized == c.object_normalized]
            if len(held) == 1 and not related(held[0], c, self.lexicon):
                known = self.lexicon.relation(held[0].relation)
                return replace(c, relation=known.name, kind=known.kind, single_valued=False)
            return c
        if not c.wrong_object or c.relation_confidence >= self.relation_threshold or c.move == "state":
            return c
        meant = [f for f in mine if f.is_positive and same_thing(f, c.wrong_object, loose=True)]
        if len(meant) != 1:
            return c
        relation = self.lexicon.relation(meant[0].relation)
        return replace(
            c, relation=relation.name, kind=relation.kind, single_valued=relation.single, relation_confidence=0.8,
            importance=max(c.importance, relation.importance, key=RANK.__getitem__),
        )  # fmt: skip

    # what there is ------------------------------------------------------------------------------------
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

    def _wrong(self, c: Candidate, mine: Sequence[Fact]) -> list[Fact]:
        """The beliefs that a correction names as never true."""
        if c.move != "correct":
            return []
        if c.wrong_object:
            sure = c.relation_confidence >= self.relation_threshold
            return [
                f
                for f in mine
                if same_thing(f, c.wrong_object, loose=True) and (related(f, c, self.lexicon) or not sure)
            ]
        if not c.is_positive:
            return [f for f in mine if ended_by(f, c, self.lexicon)]
        if c.single_valued and c.relation_confidence >= self.relation_threshold:
            return [f for f in mine if f.relation == c.relation and f.is_positive and not self._equal(f, c)]
        return []

    def _ended(self, c: Candidate, mine: Sequence[Fact]) -> list[Fact]:
        """The facts that the words end: what is denied, what was changed away from, what is true again."""
        if c.relation == "reply_style":
            return [f for f in mine if contrary(f, c)]
        if not c.is_positive or c.move == "cease":
            over = [f for f in mine if ended_by(f, c, self.lexicon) and not self._touched(f, c)]
            # Which of several cats it was that died, a statement about cats does not say.
            several = c.rule == "zh.pet_gone" and sum(f.relation == "has_pet" for f in over) > 1
            return [] if several else over
        if c.wrong_object and c.move == "change":
            return [f for f in mine if self._changed_from(f, c)]
        replaced = [
            f
            for f in mine
            if c.move == "change"
            and c.classes
            and f.is_positive
            and f.modality not in UNTOUCHED
            and related(f, c, self.lexicon)
            and in_classes(f, c.classes, self.lexicon)
        ]
        return replaced + [
            f
            for f in mine
            if not f.is_positive
            and f.modality not in UNTOUCHED
            and related(f, c, self.lexicon)
            and same_thing(f, c.object_normalized)
        ]

    def _opposed(self, c: Candidate, mine: Sequence[Fact], ended: Sequence[Fact]) -> list[Fact]:
        """What cannot be true any more when the words are."""
        gone = tells_opposite(c.text, self.lexicon)
        told = {e.message_id for e in c.evidence}
        return [
            f
            for f in mine
            if gone
            and f not in ended
            and f.is_positive
            and f.modality not in UNTOUCHED
            and f.asserted_by == "user"
            and not any(e.message_id in told for e in f.evidence)
            and opposed(f, gone)
            and not tells_of_another(f, c.text, self.lexicon)
        ]

    def _touched(self, f: Fact, c: Candidate) -> bool:
        """Whether the words only touch on the fact; what ends a class of things names none of it."""
        return not c.classes and only_touches(f, c.text, self.lexicon)

    def _changed_from(self, f: Fact, c: Candidate) -> bool:
        """Whether the fact is what a change leaves behind ("from Jira to Linear"), under whatever attribute."""
        if not c.wrong_object:
            return False
        if self._touched(f, c):
            return False
        named = f.relation.partition(":")[0] in ("single", "attribute") and may_end(f)
        if same_thing(f, c.wrong_object, loose=True) and (related(f, c, self.lexicon) or named):
            return True
        told = {e.message_id for e in c.evidence}
        return (
            f.relation in self.lexicon.sets["own_words"]
            and may_end(f)
            and not any(e.message_id in told for e in f.evidence)
            and _is_said_in(c.wrong_object, f, self.lexicon)
        )

    def _rivals(self, c: Candidate, mine: Sequence[Fact], taken: set[str]) -> list[Fact]:
        """Other values of the same single-valued slot."""
        if c.is_positive and c.rule in ("open", RENEWED) and c.move in ("change", "revert") and not c.single_valued:
            return self._renewed(c, mine, taken)
        if not c.is_positive or c.relation_confidence < self.relation_threshold:
            return []
        slot = [
            f
            for f in mine
            if f.relation == c.relation
            and f.is_positive
            and f.modality not in UNTOUCHED
            and f.id not in taken
            and not self._equal(f, c)
            and not only_touches(f, c.text, self.lexicon, whole=False)
        ]
        if c.relation == "lives_in" and c.move == "change" and c.subject.isascii():
            slot += [f for f in mine if f.id not in taken and self._is_home(f, c)]
        if c.single_valued and not (c.move == "change" and (not slot or c.relation.startswith("single:"))):
            return slot
        if c.move not in ("change", "correct", "revert"):
            return slot if c.single_valued else []
        renewed = self._renewed(c, mine, taken)
        if renewed or c.single_valued:
            return list({f.id: f for f in (*slot, *renewed)}.values()) if c.single_valued else renewed
        recounted = [
            f
            for f in slot
            if same_thing(f, c.object_normalized) or (c.relation == "habit" and same_activity(f, c, self.lexicon))
        ]
        if recounted:
            return recounted
        return slot if self.lexicon.relation(c.relation).replaces and len(slot) == 1 and not taken else []

    def _is_home(self, f: Fact, c: Candidate) -> bool:
        """Whether words kept as they are say where somebody lives ("I'm in Austin, near Zilker")."""
        told = {e.message_id for e in c.evidence}
        return (
            f.relation in self.lexicon.sets["own_words"]
            and may_end(f)
            and self.lexicon.shared["lives_there"].match(f.text) is not None
            and not any(e.message_id in told for e in f.evidence)
        )

    def _renewed(self, c: Candidate, mine: Sequence[Fact], taken: set[str]) -> list[Fact]:
        """What a value said to be new takes the place of, known under another name of the same thing."""
        told = {e.message_id for e in c.evidence}
        free = [
            f
            for f in mine
            if f.is_positive
            and f.modality not in UNTOUCHED
            and f.id not in taken
            and not self._equal(f, c)
            and not any(e.message_id in told for e in f.evidence)
            and not only_touches(f, c.text, self.lexicon)
            and not is_other_slot(f, c.relation, self.lexicon)
        ]
        out = [f for f in free if takes_place(f, c, self.lexicon)] or only_provider(free, c, self.lexicon)
        if c.relation == "dose" and len(out) > 1:
            return []  # of which medicine is not said
        if ":" not in c.relation and c.single_valued and len(out) > 1:
            out = [f for f in out if f.relation == c.relation]  # which of several budgets is not said
        if c.rule != RENEWED:
            done = [] if out else same_verb(free, c, self.lexicon)
            return done if len(done) == 1 else out
        held = {f.id for f in out}
        return out + [f for f in mine if f.id not in held and any(is_detail_of(f, o) for o in out)]

    def _equal(self, f: Fact, c: Candidate) -> bool:
        same = (f.object_normalized or fold(f.object)) == c.object_normalized
        return same and counts(f.object, self.lexicon) == counts(c.object, self.lexicon)

    # what becomes of it -------------------------------------------------------------------------------
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
            (f for f in mine if f.modality == "past" and f.relation == c.relation and self._equal(f, c)), None
        )
        if told is not None:
            return [Decision(op="skip", fact=told, reason="known already")]
        until = c.valid_to or c.said_at or c.valid_from
        fact = new_fact(replace(c, valid_to=max(until, c.valid_from)), self.labels, id=self.new_id(), now=self.now)
        return [Decision(op="add", fact=replace(fact, is_current=False), reason="told as past")]

    def _replace(self, c: Candidate, wrong: Sequence[Fact], over: Sequence[Fact]) -> list[Decision]:
        if c.is_positive and c.move == "change" and len(over) == 1:
            told = without(c.text, over[0])
            if c.rule == RENEWED and c.wrong_object and c.wrong_object in fold(over[0].object):
                told = told.replace(c.wrong_object, "", 1)  # "自动化换成计算机了": the old value is not said again
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
