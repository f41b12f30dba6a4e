"""News that no rule reads: what a sentence may end or replace is learned, and found beside the store.

The words make a candidate that names nothing but itself (`proposed`); among what is known of the same one the
models of `write.news` say which fact is meant, if any (`meant`). Never a fact of the same message, and never when
the rules found what the words change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from ltm_core.types import Evidence, Fact, Scope
from ltm_core.write.known import Known
from ltm_core.write.lexicon import Lexicon, default_lexicon
from ltm_core.write.news import Held, News, Sentence, cue_array, words
from ltm_core.write.norm import fold, trim
from ltm_core.write.plan import Candidate, Decision, Utterance
from ltm_core.write.rows import UNTOUCHED, closed, is_late, new_fact, retracted
from ltm_core.write.walk import Spoken

if TYPE_CHECKING:
    from numpy.typing import NDArray

RULE = "overtakes"
MOST_MEANT = 400
"""Newest current facts of one subject among which the one meant is looked for."""
_SURE = 0.8
"""Probability from which the models outvote the relation that the rules read."""
_NOT = ("plan", "goal", "one_off", "temporary", "conditional", "question")
"""Cues of clauses that change nothing for good."""
_CLAUSE = re.compile(r"(?<=[,，;；])\s*")
_SPACES = re.compile(r"\s+")
_LEAST = 3
"""Characters that must be left of a sentence without the old value."""
_TELLING = re.compile(r"\d[\d:.,]*\d|\d|(?<=[ (])[A-Z][\w'-]+(?<!')")
"""Numbers and names: what tells one value from another."""
_GONE = "\ufffc"
"""Stands for a word that goes, until those that belong to it are gone too."""
_TELLING_FIRST = re.compile(r"[A-Z][\w-]+")
_MOST_CLAUSES = 5
_NAMED = ("attribute", "single")
"""Relations that are only the words of the user for a thing."""
_LANGUAGES = ("en", "zh")
_OTHERS = ("kin", "pet", "pronoun", "inherited")
"""Subjects of clauses that tell of somebody of the speaker's own; any other clause may tell of a change in his own
life ("they've moved us to the fifth floor")."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The clauses of one sentence that no scope forbids."""

    spoken: tuple[Spoken, ...]
    text: str
    evidence: Evidence

    def sentence(self, vector: NDArray[Any] | None) -> Sentence:
        """What the models see of it."""
        reads = [s.read for s in self.spoken]
        return Sentence(
            text=self.text,
            norm=" ".join(r.clause.norm.strip() for r in reads),
            language=reads[0].clause.language,
            cues=cue_array((r.flags for r in reads), (s.subject.kind for s in self.spoken)),
            vector=vector,
        )


def units(spoken: Sequence[Spoken], content: str, message_id: str) -> Iterator[Unit]:
    """The sentences of a message without their vetoed clauses; a long one in parts."""
    run: list[Spoken] = []
    for s in spoken:
        apart = bool(run) and s.read.clause.sentence != run[-1].read.clause.sentence
        if run and (apart or len(run) == _MOST_CLAUSES):
            yield _unit(run, content, message_id)
            run = []
        if not s.read.veto and s.read.clause.language in _LANGUAGES:
            run.append(s)
    if run:
        yield _unit(run, content, message_id)


def _unit(run: Sequence[Spoken], content: str, message_id: str) -> Unit:
    start, end = run[0].read.clause.start, run[-1].read.clause.end
    text = trim(content[start:end]) if len(run) == 1 else trim("，".join(trim(s.read.clause.text) for s in run))
    if run[0].read.clause.language == "en":
        text = text.replace("，", ", ")
    return Unit(tuple(run), text, Evidence(message_id=message_id, start=start, end=end))


def mean_vector(vectors: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """The direction of the clauses' vectors together; None unless every clause has one."""
    found = [v for v in vectors if v is not None]
    if not found or len(found) < len(vectors):
        return None
    total: NDArray[Any] = np.stack(found).astype(np.float32).sum(axis=0)
    length = float(np.linalg.norm(total))
    return np.asarray(total / length) if length else None


def proposed(
    found: Sequence[Unit],
    vector_of: Callable[[Spoken], NDArray[Any] | None],
    news: News,
    utterance: Utterance,
    lexicon: Lexicon,
    *,
    me: str,
    speaker: str | None,
) -> Iterator[Candidate]:
    """A candidate for every sentence that is likely to tell of something changed or over."""
    for unit in found:
        key = _subject(unit, me)
        if key is None or lexicon.shared["news_not"].search(unit.text):
            continue
        if key == me and lexicon.shared["news_others"].search(unit.text):
            continue  # what a friend sold is over for the friend
        if any(s.read[w] and not s.read["lasting"] for s in unit.spoken for w in _NOT):
            continue
        sentence = unit.sentence(mean_vector([vector_of(s) for s in unit.spoken]))
        probability = news.turns(sentence)
        passing = any(s.read["ephemeral"] or s.read["mood"] for s in unit.spoken)
        if probability < news.thresholds["turn_passing" if passing else "turn"]:
            continue
        corrects = any(s.read["correction"] for s in unit.spoken)
        yield Candidate(
            subject=key,
            relation="about",
            object=unit.text,
            object_normalized=fold(unit.text),
            text=unit.text,
            is_positive=news.keeps_value(sentence) >= news.thresholds["keeps"],
            is_about_user=key == "user",
            speaker=speaker,
            confidence=round(probability, 3),
            relation_confidence=0.0,
            move="correct" if corrects else "change",
            reach="subject",
            valid_from=utterance.at,
            said_at=utterance.at,
            evidence=(unit.evidence,),
            rule=RULE,
        )


def _subject(unit: Unit, me: str) -> str | None:
    """The one whose life the sentence tells; None when it is nobody's in particular."""
    others = {s.subject.key for s in unit.spoken if s.subject.kind in _OTHERS and s.subject.key not in ("", me)}
    mine = any(s.subject.kind == "self" for s in unit.spoken)
    if others:
        return others.pop() if len(others) == 1 and not mine else None
    return me


def meant(
    c: Candidate, facts: Sequence[Fact], vectors: Mapping[str, NDArray[Any]], news: News, lexicon: Lexicon
) -> tuple[list[Fact], str, float]:
    """The facts that the sentence ends, why, and how likely that is; none unless it is clear which are meant."""
    told = {e.message_id for e in c.evidence}
    again = lexicon.shared["news_again"].search(c.text)
    restored = words(c.text[again.start() :], news.function) if again is not None else set()
    lasting = (lexicon.sets["timeless"] | lexicon.sets["unending"]) - lexicon.sets["places"]
    near = [
        f
        for f in facts
        if f.is_positive
        and f.relation.partition(":")[0] not in lasting
        and f.modality not in UNTOUCHED
        and f.asserted_by == "user"
        and f.kind not in ("solution", "procedure")
        and not any(e.message_id in told for e in f.evidence)
        and not is_late(c, f)
        and not restored & words(f.object, news.function)  # it holds again
    ][-MOST_MEANT:]
    if not near:
        return [], "", 0.0
    sentence = Sentence(text=c.text, norm="", language="", cues=np.zeros(0, np.float32), vector=vectors.get(c.text))
    held = [Held(text=f.text, object=f.object, relation=f.relation, vector=vectors.get(f.text)) for f in near]
    shares = news.meant(sentence, held)
    best = int(shares.argmax())
    same = [i for i, f in enumerate(near) if i == best or _same_words(f, near[best])]
    probability = c.confidence * float(shares[same].sum())
    which = "ends" if sentence.vector is not None else "ends_plain"
    compared = news.compare(sentence, held[best])
    if probability < news.thresholds[which] or not (c.is_positive or news.shares_words(compared)):
        return [], "", 0.0  # what ends without a new value must be named
    if _only_tells_of(near[best], c, lexicon):
        return [], "", 0.0
    strongest = news.strongest(compared, with_vectors=sentence.vector is not None)
    reason = f"news {news.version.partition('/')[0]} {probability:.2f}: turn {c.confidence:.2f}, {strongest}"
    return [near[i] for i in same], reason, probability


def _only_tells_of(fact: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether an English sentence tells what the one or the thing that the fact names did ("Boeing changed its
    CEO"), and nothing that ends it for the speaker."""
    text = c.text
    if not text.isascii() or lexicon.shared["speaks_of_us"].search(text):
        return False
    begins = lexicon.shared["determiner"].sub("", text).casefold()
    named = [w.casefold() for w in _TELLING_FIRST.findall(fact.object)]
    return any(begins.startswith(w) for w in named) and lexicon.shared["own_end"].search(text) is None


def _same_words(one: Fact, other: Fact) -> bool:
    """Whether both come from the same stretch of a message."""
    return any(
        a.message_id == b.message_id and a.start < b.end and b.start < a.end
        for a in one.evidence
        for b in other.evidence
    )


def overtake(
    c: Candidate,
    decisions: list[Decision],
    known: Known,
    *,
    vectors: Mapping[str, NDArray[Any]],
    news: News,
    lexicon: Lexicon,
    labels: Scope,
    now: datetime,
    new_id: Callable[[], str],
) -> list[Decision]:
    """The decisions of a message, and the end of what one of its sentences overtakes.

    A value that the rules kept of the sentence takes the place of what ends; without one the sentence itself does,
    as a statement or, when it only ends something, as a denial.
    """
    here = [d for d in decisions if _overlap(d.fact, c)]
    if any(d.op != "add" for d in here) or any(d.fact.modality in UNTOUCHED for d in here):
        return decisions
    over, why, probability = meant(c, known.of_subject(c), vectors, news, lexicon)
    values = [d.fact for d in here if d.fact.is_positive and d.fact.rule != "open"]
    if not over or any(d.op == "restore" for d in decisions):
        return decisions
    if probability < _SURE and not all(_may_follow(f, over[0], lexicon) for f in values):
        return decisions
    made: list[Decision] = []
    if values and c.is_positive:
        by = values[0]
        told = without(by.text, over[0])
        if by.object in told and told != by.text:
            by = replace(by, text=told)
            known.put(by)
            decisions = [replace(d, fact=by) if d.fact.id == by.id else d for d in decisions]
    else:
        gone = {d.fact.id for d in here if d.fact.rule == "open"}
        for i in gone:
            known.drop(i)
        decisions = [d for d in decisions if d.fact.id not in gone]
        by = new_fact(_worded(c, over[0], lexicon), labels, id=new_id(), now=now)
        known.put(by)
        made.append(Decision(op="add", fact=by, reason=why))
    for f in over:
        known.drop(f.id)
        wrong = c.move == "correct" and c.is_positive
        row = retracted(f, at=now, by=by.id) if wrong else closed(f, at=c.valid_from, by=by.id)
        if made and made[0].op == "add":
            made[0] = Decision(op="supersede", fact=by, previous=row, reason=why)
        else:
            made.append(Decision(op="retract" if wrong else "close", fact=row, previous=f, reason=why))
    return [*decisions, *made]


def _may_follow(value: Fact, old: Fact, lexicon: Lexicon) -> bool:
    """Whether a value that the rules read may take the place of a fact: not when both are of relations that are
    known and differ."""
    vague = lexicon.sets["own_words"]
    one, two = (f.relation.partition(":")[0] for f in (value, old))
    loose = (*vague, *_NAMED)
    if one in vague or (one in loose and two in loose) or one == two:
        return True
    family = lexicon.relation(value.relation).family
    return bool(family) and family == lexicon.relation(old.relation).family


def _worded(c: Candidate, old: Fact, lexicon: Lexicon) -> Candidate:
    """The sentence as what takes the place of a fact: under its relation, and without the words of the old value."""
    relation = lexicon.relation(old.relation)
    text = without(c.text, old) if c.is_positive else c.text
    return replace(
        c,
        relation=old.relation,
        object=text,
        object_normalized=fold(text),
        text=text,
        kind=old.kind,
        importance=old.importance,
        single_valued=relation.single,
        confidence=min(c.confidence, 0.6),
    )


def without(text: str, old: Fact) -> str:
    """The words without the old value: whole clauses that name it go first, if another is left, then its words; and
    clauses that only name the same one or the same number ("They've cut the 7:42, so I'm on the 8:05 now")."""
    value = old.object.strip().casefold()
    held = text.casefold()
    parts = _CLAUSE.split(text)
    joint = " " if text.isascii() else ""
    if not value or value not in held:
        told = {w.casefold() for w in _TELLING.findall(old.object)} & {w.casefold() for w in _TELLING.findall(text)}
        if not told or not text.isascii():
            return text
        kept = [p for p in parts if not any(w in p.casefold() for w in told)]
        if kept and any(_TELLING.search(p) for p in kept):
            return trim(joint.join(kept))
        named = "|".join(map(re.escape, told))
        bare = re.sub(rf"\b(?:{named})\b(?:['’]s)?", _GONE, text, flags=re.I)
        bare = default_lexicon().shared["determined_gone"].sub("", bare).replace(_GONE, "")
        return trim(_SPACES.sub(" ", bare)) if _TELLING.search(bare) else text
    left = trim(joint.join(p for p in parts if value not in p.casefold()))
    if len(left) >= _LEAST and (not left.isascii() or " " in left):
        return left
    left = trim(_SPACES.sub(" ", re.sub(re.escape(value) + "(?:['’]s)?", "", text, flags=re.I)))
    return left if len(left) >= _LEAST and any(ch.isalnum() for ch in left) else text


def _overlap(fact: Fact, c: Candidate) -> bool:
    return any(
        a.message_id == b.message_id and a.start < b.end and b.start < a.end
        for a in fact.evidence
        for b in c.evidence
    )


__all__ = ["RULE", "Unit", "meant", "overtake", "proposed", "units", "without"]
