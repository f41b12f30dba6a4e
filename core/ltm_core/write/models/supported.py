"""What a model proposes against what the user said: a candidate, or the reason why it is refused. Pure.

A model can only point at words. The object must stand in a clause that the gate let through or left in doubt,
inside the quote when there is one; whose life the clause tells, its polarity, its time and what it does to what
was known are read by the rules, and a model that says otherwise is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ltm_core.llm.names import Names, Relation, default_names, relation_of
from ltm_core.protocols import ExtractedFact
from ltm_core.when import find_times
from ltm_core.write.extract.build import Context, candidates
from ltm_core.write.extract.draft import Draft, finish
from ltm_core.write.models.eligible import Eligible
from ltm_core.write.plan import Candidate
from ltm_core.write.read.people import Subject, speaker_key
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal

Reason: TypeAlias = Literal[
    "unquoted", "unsupported", "empty", "long", "assistant", "stranger", "subject", "polarity", "doubt"
]
"""Why a fact is refused: its quote or its object is in no gated clause; its object is no thing, or too long; it is
about the assistant, about nobody of the user's, or about another than the clause; the clause says the opposite; or
it would end something on a clause that the gate doubts."""
_MOST_OBJECT = 200
"""Characters of an object; a longer one is no value but a retelling."""
_MOST_PLACES = 8
_SURE, _UNSURE = 0.8, 0.6
"""Confidence in a relation: above and below `Config.relation_threshold`, from which it may supersede."""
_TOPIC = 0.5
"""Probability of the gate's topic from which it bears out a relation: right in 4 of 5 natural statements."""
_MOST_CONFIDENCE, _MOST_DOUBT = 0.8, 0.5
"""A model of 1.5B was right in 9 of 10 facts; in doubt the gate is the smaller figure."""
_OPEN = "about"
_OWN = ("kin", "pet", "pronoun", "inherited", "entity")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an object stands: a clause and the span in it."""

    clause: Eligible
    start: int
    end: int


def supported(
    fact: ExtractedFact,
    clauses: Mapping[str, Eligible],
    *,
    lexicon: Lexicon,
    source: str,
    people: Sequence[str] = (),
    names: Names | None = None,
) -> tuple[Candidate, ...] | Reason:
    """The candidates that the user's words support, or why there are none. ``clauses`` by their id; ``source``
    names the model; ``people`` are the subjects that are known already."""
    table = names or default_names()
    thing = fact.object.strip()
    if len(thing) > _MOST_OBJECT:
        return "long"
    if _is_nothing(thing, lexicon, table):
        return "empty"
    place = _place(fact, thing, clauses)
    if isinstance(place, str):
        return place
    relation = _relation(fact, place, lexicon, table)
    if not relation.known and _is_time(place):
        return "empty"
    owner = _owner(fact.subject, relation.name, place, lexicon, table, people)
    if isinstance(owner, str):
        return owner
    polarity = _polarity(fact, relation, place, table)
    if isinstance(polarity, str):
        return polarity
    return _built(relation, owner, place, lexicon, positive=polarity, source=source)


# the words ----------------------------------------------------------------------------------------------
def _is_nothing(thing: str, lexicon: Lexicon, names: Names) -> bool:
    """Whether the object names no thing: blank, a pronoun, the user himself, function words alone."""
    folded = fold(thing)
    if not any(c.isalnum() for c in folded) or folded in names.user or folded in names.assistant:
        return True
    words = _WORDS.findall(folded)
    return bool(words) and all(w in lexicon.gate.function for w in words)


def _is_time(place: _Place) -> bool:
    """Whether the object is a day or a time and nothing else ("switched in: last month")."""
    clause = place.clause.spoken.read.clause
    found = find_times(clause.text[place.start : place.end], now=place.clause.utterance.at)
    return len(found) == 1 and found[0].end - found[0].start >= place.end - place.start


def _place(fact: ExtractedFact, thing: str, clauses: Mapping[str, Eligible]) -> _Place | Reason:
    named = clauses.get(fact.clause)
    order = [named, *(e for e in clauses.values() if e is not named)] if named is not None else [*clauses.values()]
    quote = fact.quote.strip()
    quoted = False
    for e in order:
        clause = e.spoken.read.clause
        spans = [(clause.start, clause.end)]
        if quote:
            spans = _spans(quote, e.utterance.content)
            quoted = quoted or bool(spans)
        for a, b in spans:
            begin, end = max(a, clause.start), min(b, clause.end)
            found = _spans(thing, e.utterance.content[begin:end]) if begin < end else []
            if found:
                at = begin - clause.start
                return _Place(e, at + found[0][0], at + found[0][1])
    return "unsupported" if quoted or not quote else "unquoted"


def _spans(words: str, text: str) -> list[tuple[int, int]]:
    """Where the words stand in the text, whatever their case, width and blanks; whole words where words have
    ends. Models write "_" for a blank: tried when the words stand nowhere as they are."""
    for form in dict.fromkeys((words, words.replace("_", " "))):
        pieces = [re.escape(p) for p in normal(form).split()]
        if not pieces:
            continue
        before = r"(?<![A-Za-z0-9])" if form.lstrip()[:1].isascii() and form.lstrip()[:1].isalnum() else ""
        after = r"(?![A-Za-z0-9])" if form.rstrip()[-1:].isascii() and form.rstrip()[-1:].isalnum() else ""
        pattern = re.compile(before + r"\s{1,20}".join(pieces) + after, re.I)
        found = [m.span() for m, _ in zip(pattern.finditer(normal(text)), range(_MOST_PLACES), strict=False)]
        if found:
            return found
    return []


# what they mean ----------------------------------------------------------------------------------------
def _relation(fact: ExtractedFact, place: _Place, lexicon: Lexicon, names: Names) -> Relation:
    relation = relation_of(fact.relation, lexicon, names)
    if relation.name in names.sets["rules_only"] or relation.name.partition(":")[0] in names.sets["rules_only"]:
        return Relation(_OPEN, False, relation.opposite)
    words = place.clause.spoken.read.clause.norm[place.start : place.end]
    counted = any(c.isdigit() for c in words) or lexicon.shared["numerals"].search(words) is not None
    if relation.name in names.sets["numbers"] and not counted:
        return Relation(_OPEN, False, relation.opposite)
    return relation


def _owner(
    given: str, relation: str, place: _Place, lexicon: Lexicon, names: Names, people: Sequence[str]
) -> Subject | Reason:
    """The subject as the rules read the clause; a reason when the model means somebody else."""
    subject = place.clause.spoken.subject
    me, speaker = speaker_key(place.clause.utterance)
    who = fold(given) or "user"
    if who in names.assistant:
        return "assistant"
    if who in names.user or (speaker and who == fold(speaker)):
        if subject.kind not in _OWN:
            return subject
        clause = place.clause.spoken.read.clause
        if subject.kind == "entity" and fold(clause.text[place.start : place.end]) == fold(subject.key):
            return replace(subject, key=me)  # "Porto is my home": what the clause is about is the object
        return replace(subject, key=me) if relation in names.sets["of_people"] else "subject"
    who = next((who[len(p) :] for p in names.possessive if who.startswith(p) and len(who) > len(p)), who).strip()
    if subject.kind in _OWN:
        said = fold(place.clause.utterance.content)
        return subject if _means(who, subject.key, lexicon) or who in said else "subject"
    key = _relative(who, place, lexicon) or next((p for p in people if _means(who, p, lexicon)), "")
    if not key:
        return "stranger"
    return replace(subject, key=key if me == "user" or "/" in key else f"{me}/{key}")


def _means(who: str, key: str, lexicon: Lexicon) -> bool:
    """Whether the words name the subject: by his name, by what he is to the user, or by both."""
    kind, _, name = key.rpartition("/")[2].partition(":")
    if name and fold(name) in who:
        return True
    tables = [t for rules in lexicon.languages.values() for t in (rules.kin, rules.pets)]
    return who == fold(kind) or any(t.get(who) == kind for t in tables)


def _relative(who: str, place: _Place, lexicon: Lexicon) -> str:
    """The key of a relative or an animal that the clause brings in ("I have a cat called Mimi")."""
    r = place.clause.spoken.read
    rules = lexicon.rules(r.clause.language)
    norm = r.clause.norm.lower()
    if who not in fold(r.clause.text):
        return ""
    for table in (rules.pets, rules.kin):
        word = next((w for w in sorted(table, key=len, reverse=True) if _has(norm, w)), "")
        if not word:
            continue
        if who == word or table.get(who) == table[word]:
            return table[word]
        bare = who.replace(word, "").strip()
        spans = _spans(bare, r.clause.text) if bare else []
        if spans and not r["third_person"]:
            return f"{table[word]}:{r.clause.text[spans[0][0] : spans[0][1]]}"
    return ""


def _has(norm: str, word: str) -> bool:
    return word in norm if not word.isascii() else re.search(rf"\b{re.escape(word)}\b", norm) is not None


def _polarity(fact: ExtractedFact, relation: Relation, place: _Place, names: Names) -> bool | Reason:
    """Whether the fact is positive. The clause's own marks must agree; what denies ends facts, and needs a gate
    that is sure."""
    r = place.clause.spoken.read
    denies = r["negation"] or r["cessation"] or r["hard_cessation"]
    if denies and not r["hard_cessation"] and names.affirms.search(r.clause.norm):
        denies = False
    negated = fact.negated or relation.opposite
    if relation.name in names.sets["denying"] and denies:
        return True
    if negated != bool(denies):
        return "polarity"
    if negated and not place.clause.sure:
        return "doubt"
    return not negated


def _built(
    relation: Relation, subject: Subject, place: _Place, lexicon: Lexicon, *, positive: bool, source: str
) -> tuple[Candidate, ...] | Reason:
    e = place.clause
    r = e.spoken.read
    draft = finish(
        Draft(
            subject=subject.key,
            relation=relation.name,
            object=r.clause.norm[place.start : place.end],
            start=place.start,
            end=place.end,
            positive=positive,
            confidence=_SURE if _is_borne_out(relation, e, lexicon) else _UNSURE,
            strong=False,
            rule=f"llm/{source}",
            about_user=subject.key == "user",
        ),
        lexicon,
    )
    if draft is None:
        return "empty"
    probability = min(e.probability, _MOST_CONFIDENCE if e.sure else _MOST_DOUBT)
    context = Context(
        utterance=e.utterance,
        lexicon=lexicon,
        speaker=speaker_key(e.utterance)[1],
        prefix=e.spoken.prefix,
        probability=probability,
    )
    return candidates(r, subject, (draft,), context)


def _is_borne_out(relation: Relation, e: Eligible, lexicon: Lexicon) -> bool:
    """Whether something besides the model says that this is the relation: the clause announces a change or a
    correction, or the gate's own guess of its topic is the relation's."""
    if not relation.known or not e.sure:
        return False
    r = e.spoken.read
    topic, probability = e.topic
    agrees = probability >= _TOPIC and topic == lexicon.relation(relation.name).slot
    return agrees or r["change"] or r["correction"]


__all__ = ["Reason", "supported"]
