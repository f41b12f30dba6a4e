"""English sentences that say that things are again as they were before, naming them by a word or two only: "Halfords
has taken me back", "the conductor needs me on trombone again".

What is meant is known beside the store: a value that was replaced, or one that was never said to be over but beside
which something of the same sort was told later as a change ("I'm on the early shift", "they put me on nights"). The
sentence must name what sets the old value apart from the new one, and nothing of the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from ltm_core.types import Fact
from ltm_core.write.known.mentions import content
from ltm_core.write.known.rows import UNTOUCHED, is_late
from ltm_core.write.known.sorts import are_exclusive
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.found import overlap
from ltm_core.write.read.units import Unit
from ltm_core.write.read.walk import Spoken
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

if TYPE_CHECKING:
    from ltm_core.store.base import Reader

RULE = "comes_back"
TookPlace: TypeAlias = Callable[[Fact, Fact], bool]
"""Whether the first fact, told later, came in the place of the second."""
_NOT = ("plan", "question", "command", "conditional", "temporary", "goal", "one_off", "wish", "past")
_ONLY = ("so_again_not", "returns_not")
"""Expressions of what is only thought of, or of a visit."""
_SHORTEST_ROOT = 4
_SAME_DEED = 2
"""Words that a sentence shares with what was told of some work."""
_STEM = 5
"""Letters by which two words of one root are known ("commute", "commuting")."""
_MOST = 200
"""Newest facts among which what is gone back to is looked for."""
_ENOUGH = 0.5
"""Share of what sets the old value apart that the sentence names."""


@dataclass(frozen=True, slots=True)
class Before:
    """A value that held before, and what came in its place."""

    value: Fact
    instead: tuple[Fact, ...]


def comebacks(
    units: Sequence[Unit], utterance: Utterance, lexicon: Lexicon, *, me: str, speaker: str | None
) -> Iterator[Candidate]:
    """A candidate for every English sentence that says that something is as before."""
    shared = lexicon.shared
    for unit in units:
        said = [s for s in unit.spoken if _says_again(s, lexicon)]
        if not said or not unit.text.isascii() or shared["turned_down"].search(unit.text):
            continue
        here = said[-1]
        key = here.subject.key if here.subject.kind in ("kin", "pet", "entity") else me
        words = here.read.clause.text
        yield Candidate(
            subject=key,
            relation="about",
            object=words,
            object_normalized=fold(words),
            text=unit.text,
            is_about_user=key == "user",
            speaker=speaker,
            confidence=0.8,
            relation_confidence=0.0,
            move="change",
            reach="circle",
            valid_from=utterance.at,
            said_at=utterance.at,
            evidence=(unit.evidence,),
            rule=RULE,
        )


def _says_again(s: Spoken, lexicon: Lexicon) -> bool:
    read = s.read
    if read.clause.language != "en" or read.veto or read["negation"]:
        return False
    shared = lexicon.shared
    inverted = shared["again_it_is"].match(read.clause.norm) is not None  # which looks like an order
    if any(read[w] for w in _NOT if not (inverted and w == "command")):
        return False
    if read["ephemeral"] and shared["brought_back"].search(read.clause.norm) is None:
        return False  # but "the hairdresser turned it copper again yesterday" lasts
    norm = read.clause.norm.rpartition(": ")[2]
    norm = norm if shared["comes_back"].search(norm) else read.clause.norm
    if shared["comes_back"].search(norm) is None or any(shared[p].search(norm) for p in _ONLY):
        return False
    if shared["brought_back"].search(norm) is not None:
        return True
    if not s.subject.key and shared["of_him"].search(norm) is not None:
        return False
    return shared["again_passing"].search(shared["comes_back"].sub(" ", norm)) is None


def come_back(
    c: Candidate, reader: Reader, *, now: datetime, lexicon: Lexicon, took_place: TookPlace
) -> Before | None:
    """What a sentence says holds again, and what it takes the place of; None when it names nothing of the sort."""
    held = reader.facts(current_at=now, newest_first=True, limit=_MOST)
    past = reader.facts(past_at=now, newest_first=True, limit=_MOST)
    told = {e.message_id for e in c.evidence}
    for value in (*past, *held):
        if not _may_hold_again(value, c, lexicon) or any(e.message_id in told for e in value.evidence):
            continue
        if value.superseded_by is not None:
            instead = _heirs(value, held, lexicon, took_place)
        else:
            instead = _instead(c, value, held, lexicon, took_place)
        instead = [f for f in instead if not any(e.message_id in told for e in f.evidence)]
        if instead and _names_the_old(c, value, instead, lexicon):
            return Before(value, tuple(instead))
    return None


def _instead(c: Candidate, value: Fact, held: Sequence[Fact], lexicon: Lexicon, took_place: TookPlace) -> list[Fact]:
    """The newest fact told instead of a value that was never said to be over; the nets are asked last, and only of a
    value of which the sentence has a word."""
    later = [f for f in held if _is_told_after(f, value)]
    found = next((f for f in later if _came_instead(f, value, lexicon)), None)
    if found is None and _has_a_word_of(c, value, lexicon):
        found = next((f for f in later if _replaces(f, lexicon) and took_place(f, value)), None)
    return [] if found is None else [found]


def _has_a_word_of(c: Candidate, value: Fact, lexicon: Lexicon) -> bool:
    said = _words(c.text, lexicon) | _words(c.object, lexicon)
    return any(_same_root(w, s) for w in _words(f"{value.text} {value.object}", lexicon) for s in said)


def _may_hold_again(f: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    if not f.is_positive or f.retracted_at is not None or f.modality in UNTOUCHED or f.asserted_by != "user":
        return False
    if (f.speaker or None) != (c.speaker or None) or is_late(c, f) or not f.text.isascii():
        return False
    place = lexicon.relation(f.relation).slot == "residence"
    if place and lexicon.shared["lives_again"].search(c.object) is None:
        return False
    works = f.relation in ("works_at", "employment") and lexicon.shared["works_again"].search(c.object) is None
    if works and len(_words(c.object, lexicon) & _words(f.text, lexicon)) < _SAME_DEED:
        return False  # one flies with an airline again without working there
    return f.subject == c.subject or _is_of(f, c, lexicon)


def _is_of(f: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether a sentence about another may tell of the fact's own: it names whom the fact is about, or somebody did
    it to the speaker ("Mum set my bedtime to nine again")."""
    if f.subject == (f.speaker or "user"):
        return lexicon.shared["done_to_me"].search(c.object) is not None
    kin = lexicon.rules("en").kin
    named = _words(f.subject.rpartition(":")[2], lexicon)
    if any(kin.get(w.removesuffix("'s")) == f.subject for w in fold(c.text).split()):
        return True
    return bool(named & _words(c.text, lexicon)) or lexicon.shared["done_to_him"].search(c.object) is not None


def _heirs(value: Fact, held: Sequence[Fact], lexicon: Lexicon, took_place: TookPlace) -> list[Fact]:
    """What holds in the place of a value that was replaced: its heir, be it only the news of its end, with what was
    told in the same message of the same."""
    heir = next((f for f in held if f.id == value.superseded_by), None)
    if heir is None:
        return []
    told = {e.message_id for e in heir.evidence}
    family = {lexicon.relation(value.relation).family, value.relation} - {""}
    beside = [
        f
        for f in held
        if f.id != heir.id
        and f.is_positive
        and f.subject == heir.subject
        and any(e.message_id in told for e in f.evidence)
        and (
            overlap(f.evidence, heir.evidence)
            or lexicon.relation(f.relation).family in family
            or (not heir.is_positive and _is_instead(f, value, took_place))  # "the Volvo's gone, picked up a Saab"
        )
    ]
    return [heir, *beside]


def _is_instead(f: Fact, value: Fact, took_place: TookPlace) -> bool:
    """Whether what was told together with the end of a value came in its place."""
    return are_exclusive(f"{f.text} {f.object}", f"{value.text} {value.object}") or took_place(f, value)


def _is_told_after(f: Fact, value: Fact) -> bool:
    """Whether the user stated the fact later than the value."""
    later = f.is_positive and f.recorded_at > value.recorded_at and f.modality not in UNTOUCHED
    if not later or f.id == value.id or (f.speaker or None) != (value.speaker or None):
        return False
    return f.asserted_by == "user" and f.text.isascii()


def _replaces(f: Fact, lexicon: Lexicon) -> bool:
    """Whether a fact was told as a change, and not as something taken up beside others ("I've started badminton")."""
    return lexicon.shared["taken_up"].search(f.text) is None


def _came_instead(f: Fact, value: Fact, lexicon: Lexicon) -> bool:
    """Whether a fact told later was told as a change, and is of what the value is of."""
    one, two = f"{f.text} {f.object}", f"{value.text} {value.object}"
    if are_exclusive(one, two):
        return True
    if lexicon.shared["told_as_change"].search(f.text) is None:
        return False
    family = lexicon.relation(f.relation).family
    own = lexicon.sets["own_words"]
    if f.relation == value.relation and f.relation not in own and f.subject == value.subject:
        return True
    if family and family == lexicon.relation(value.relation).family and f.subject == value.subject:
        return family in ("work", "home")
    if _of_one_slot(one, two, lexicon):
        return True
    names = {w for w in _said(value, lexicon) if _is_name(w, value.text)}  # with whom one does both
    return bool(_said(f, lexicon) & _said(value, lexicon) - names - _light(lexicon))


def _light(lexicon: Lexicon) -> frozenset[str]:
    """Words that two statements may share without being of one thing."""
    return frozenset(w[:_STEM] for w in lexicon.sets["light_stems"])


def _of_one_slot(one: str, two: str, lexicon: Lexicon) -> bool:
    """Whether both texts hold words for what one has one of ("church", "chapel")."""
    groups = [frozenset(g.split("|")) for g in sorted(lexicon.sets["slot_groups"])]
    mine, theirs = ({w.strip(".,'").removesuffix("'s") for w in t.lower().split()} for t in (one, two))
    return any(mine & g and theirs & g for g in groups)


def _said(f: Fact, lexicon: Lexicon) -> frozenset[str]:
    """The words of a fact, with the noun of the attribute that it gives a value, without the name of its subject."""
    noun = f.relation.partition(":")[2]
    return _words(f"{f.text} {f.object} {noun}", lexicon) - _words(f.subject.replace(":", " "), lexicon)


def _words(text: str, lexicon: Lexicon) -> frozenset[str]:
    """The words that mean something, with the figures and the times of day, which may be all that tells two values
    apart ("5 mg", "the night shift")."""
    times = lexicon.shared["told_apart"].findall(text)
    return frozenset([*(w[:_STEM] for w in content(text, lexicon)), *(t.lower().removesuffix("s") for t in times)])


def _names_the_old(c: Candidate, value: Fact, instead: Sequence[Fact], lexicon: Lexicon) -> bool:
    """Whether the sentence names what sets the old value apart, and nothing that sets the new one apart."""
    old = _said(value, lexicon)
    positive = [f for f in instead if f.is_positive]
    new = frozenset(w for f in positive for w in _said(f, lexicon))
    come = frozenset(w for f in positive for w in _words(_changed_to(f, lexicon), lexicon)) - _light(lexicon)
    whom = _words(value.subject.rpartition(":")[2], lexicon) if value.subject[:1].isupper() else frozenset()
    clause, sentence = _words(_about_again(c.object, lexicon), lexicon), _words(c.text, lexicon)
    if whom & clause and old & new & clause:  # who does again what another had done since
        return True
    whose = _words(value.subject.replace(":", " "), lexicon)
    own = value.relation in lexicon.sets["own_words"] or value.relation == "habit"
    apart = _words(value.text if own else value.object, lexicon) - new
    points = lexicon.shared["points_to_before"].search(c.object) is not None
    said = sentence if points else clause
    hits = frozenset(w for w in apart if any(_same_root(w, s) for s in said))
    head = [] if own else [w[:_STEM] for w in content(value.object, lexicon)[:1]]
    sure = any(w in head or _is_name(w, value.text) for w in hits)
    if not hits or (len(hits) < _ENOUGH * len(apart) and not sure) or (come - old - whose) & said:
        return False
    if points or any(lexicon.shared[p].search(c.object) for p in ("brought_back", "is_again")):
        return True
    return bool((old - apart - hits) & sentence) or len(hits) > 1


def _same_root(one: str, other: str) -> bool:
    """Whether two words are one, or one begins with the other ("goal", "goalkeeper")."""
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= _SHORTEST_ROOT and long.startswith(short))


def _about_again(clause: str, lexicon: Lexicon) -> str:
    """The part of a clause that says that things are as before, without who left before it ("Colin was moved on and
    Priya manages me again")."""
    clause = lexicon.shared["left_for_it"].sub("", clause)
    parts = lexicon.shared["joined_by"].split(clause)
    return next((p for p in parts if lexicon.shared["comes_back"].search(p)), clause) if len(parts) > 1 else clause


def _changed_to(f: Fact, lexicon: Lexicon) -> str:
    """What a change led to, without who made it: "me to euphonium" of "the conductor switched me to euphonium"."""
    m = lexicon.shared["told_as_change"].search(f.text)
    rest = f.text[m.end() :] if m is not None else ""
    return rest if len(rest.split()) > 1 else f.text


def _is_name(stem: str, text: str) -> bool:
    """Whether a word stands in the text as a name, not as its first word."""
    return any(w[:1].isupper() and w.lower().startswith(stem) for w in text.split()[1:])


def again(c: Candidate, before: Before, lexicon: Lexicon) -> Candidate:
    """The sentence as the value that holds again, in place of what had come instead."""
    value = before.value
    named = _words(value.object, lexicon) & _words(c.object, lexicon)
    return replace(
        c,
        text=c.object if named else c.text,
        subject=value.subject,
        is_about_user=value.is_about_user,
        relation=value.relation,
        object=value.object,
        object_normalized=value.object_normalized or fold(value.object),
        kind=value.kind,
        importance=value.importance,
        single_valued=lexicon.relation(value.relation).single,
        relation_confidence=0.9,
        instead_of=tuple(f.id for f in before.instead),
    )
