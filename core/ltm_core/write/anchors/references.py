"""References to something of an earlier conversation: "that lasagne you gave me last time", "上次聊的那个助听器".

What is meant must have been said in an earlier session: an earlier day or conversation is named, or this session has
only begun and the words occur in what was said before. "You said above" and a colleague's "last time" are no
references.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ltm_core.types import Anchor, Evidence
from ltm_core.write.anchors.asked import Asked
from ltm_core.write.plan import Utterance
from ltm_core.write.read.clauses import Clause
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim

_NOT_ONES_WORD = frozenset(["fiction", "quotation", "injection"])
KNOWN = "names a known entity"
"""Reason of a reference whose text is an identifier that is remembered."""
_LEAST = 2
"""Letters of a name."""
_OTHERS = 8
"""Characters before a reference in which the one stands who really said it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A reference with the clauses that are nothing but it, which state nothing of themselves."""

    anchor: Anchor
    clauses: tuple[Evidence, ...]


def find_references(
    utterance: Utterance, reads: Sequence[Read], lexicon: Lexicon, *, asked: frozenset[int] = frozenset()
) -> tuple[Reference, ...]:
    """References to something of an earlier conversation, with the entity they name when one is known."""
    found: list[Reference] = []
    named: set[str] = set()
    for i, read in enumerate(reads):
        if read.clause.start in asked:
            continue
        for m in lexicon.rules(read.clause.language).flags["reference"].every(read.clause.norm):
            told = _told(utterance, reads, i, m, lexicon) if _is_ones_word(read, m) else None
            if told is None:
                continue
            text, places = told
            entity = _resolve(read.clause.norm, text, utterance.known_entities, lexicon)
            if fold(entity or text) not in named:
                named.add(fold(entity or text))
                found.append(_reference(utterance, reads, i, m, text, entity, places))
            break
    return tuple(found)


def learned_reference(
    utterance: Utterance, reads: Sequence[Read], asked: Asked, lexicon: Lexicon
) -> Reference | None:
    """The reference that the learned model found; None when what it names was never said."""
    said = utterance.said_earlier
    if not utterance.begins or (said is not None and not said(asked.text)):
        return None
    entity = _resolve(reads[asked.at].clause.norm, asked.text, utterance.known_entities, lexicon)
    place = Evidence(message_id=utterance.message_id, start=asked.start, end=asked.end)
    return Reference(anchor=_anchor(asked.text, entity, place), clauses=())


def _anchor(text: str, entity: str, place: Evidence) -> Anchor:
    return Anchor(
        kind="cross_session_reference",
        text=entity or text,
        evidence=place,
        reason=KNOWN if entity else "refers to an earlier conversation",
    )


def _is_ones_word(read: Read, m: re.Match[str]) -> bool:
    """Whether the speaker refers to it himself: "the script you wrote" opens no story, it tells of one, and a title
    in quotes quotes nobody."""
    if read.veto == "quotation":
        return any(v and v.lstrip().startswith('"') for g, v in m.groupdict().items() if g.startswith("what"))
    return read.veto not in _NOT_ONES_WORD or read["fiction_open"]


def _reference(
    utterance: Utterance,
    reads: Sequence[Read],
    i: int,
    m: re.Match[str],
    text: str,
    entity: str,
    places: Sequence[int],
) -> Reference:
    start = reads[i].clause.start
    place = Evidence(message_id=utterance.message_id, start=start + m.start(), end=start + m.end())
    clauses = tuple(reads[k].evidence(utterance.message_id) for k in places)
    return Reference(anchor=_anchor(text, entity, place), clauses=clauses)


def _told(
    utterance: Utterance, reads: Sequence[Read], i: int, m: re.Match[str], lexicon: Lexicon
) -> tuple[str, tuple[int, ...]] | None:
    """What the reference means, and the clauses that tell it; None when it means nothing of an earlier session."""
    read = reads[i]
    if m.groupdict().get("asks") is not None and not any(r["question"] or r["command"] for r in reads):
        return None  # "back to the office" is no reference, "back to the essay, how do I end it" is one
    parts = lexicon.rules(read.clause.language).parts
    others = parts.get("reference_others")
    if others is not None and _is_of_others(read, m, others):
        return None
    group = next((g for g, v in m.groupdict().items() if g.startswith("what") and v and trim(v)), None)
    text = _name(read.clause, *m.span(group), parts) if group else ""
    empty = parts.get("reference_empty")
    apposed = _apposed(reads, i, m, parts)
    if apposed:
        return (apposed, (i - 1, i)) if _is_of_earlier(utterance, reads, i, m, apposed, parts) else None
    nothing = not text or (empty is not None and empty.match(fold(text)) is not None)
    places = [i]
    beside = _beside(utterance, reads, i, m, parts, "" if nothing else text)
    if beside is not None:
        text, place = beside
        places.append(place)
    elif nothing or lexicon.shared["empty_reference"].match(fold(text)):
        return None
    if len(fold(text)) < _LEAST:
        return None
    return (text, tuple(dict.fromkeys(places))) if _is_of_earlier(utterance, reads, i, m, text, parts) else None


def _apposed(reads: Sequence[Read], i: int, m: re.Match[str], parts: Mapping[str, Expression]) -> str:
    """The name before the comma behind which the reference only tells of it; empty without one."""
    pattern = parts.get("reference_apposed")
    if pattern is None or not i or m.start() or reads[i - 1].clause.sentence != reads[i].clause.sentence:
        return ""
    named = pattern.search(reads[i - 1].clause.norm)
    return trim(reads[i - 1].clause.text[slice(*named.span("what"))]) if named is not None else ""


def _is_of_others(read: Read, m: re.Match[str], others: Expression) -> bool:
    norm = read.clause.norm
    if read.clause.language == "en":
        return others.search(norm) is not None
    before = norm[max(0, m.start() - _OTHERS) : m.start()]
    beside = any(x.end() == len(before) for x in others.finditer(before))
    what = next((m.start(g) for g, v in m.groupdict().items() if g.startswith("what") and v), m.end())
    return beside or others.search(norm[m.start() : what]) is not None


def _is_of_earlier(
    utterance: Utterance,
    reads: Sequence[Read],
    i: int,
    m: re.Match[str],
    text: str,
    parts: Mapping[str, Expression],
) -> bool:
    """Whether the words mean an earlier session rather than this one or a day of the speaker's life."""
    groups = m.groupdict()
    said = utterance.said_earlier
    when = any(v for g, v in groups.items() if g.startswith("when"))
    to_assistant = parts.get("reference_assistant")
    if when or (utterance.begins and _is_dated(reads, i, parts)):
        # "What we discussed last week" may have been discussed with anybody, unless the assistant is asked about it.
        # What it is told that it said needs no proof: that may have been before it remembered anything.
        asked = "reference_dated" in parts and utterance.begins and any(r["question"] or r["command"] for r in reads)
        addressed = to_assistant is None or to_assistant.search(m.group()) is not None
        return said is None or asked or addressed or said(text)
    if groups.get("said") is not None:
        return said is not None and utterance.begins and said(text)
    # "That race I told you about" may have been told in other words.
    told = parts.get("reference_told")
    of_user = told is not None and told.search(m.group()) is not None
    return utterance.begins and (said is None or said(text) or (of_user and said("")))


def _is_dated(reads: Sequence[Read], i: int, parts: Mapping[str, Expression]) -> bool:
    """Whether the clause names a day gone by, or the one before it does nothing else."""
    dated = parts.get("reference_dated")
    if dated is None:
        return False
    before = reads[i - 1] if i and reads[i - 1].clause.sentence == reads[i].clause.sentence else None
    return dated.search(reads[i].clause.norm) is not None or (
        before is not None and dated.fullmatch(trim(before.clause.norm)) is not None
    )


def _name(clause: Clause, start: int, end: int, parts: Mapping[str, Expression]) -> str:
    """The name of the thing in the words that tell of it: without what leads to it, up to where it ends."""
    lead, stop, pointed = (parts.get(f"reference_{n}") for n in ("lead", "stop", "pointed"))
    words = clause.norm[start:end]
    led = lead.match(words) if lead is not None else None
    begin = start + (led.end() if led is not None else 0)
    ends = stop.search(clause.norm[begin:end]) if stop is not None else None
    name = trim(clause.text[begin : begin + ends.start() if ends is not None else end])
    if len(name) >= _LEAST or not name or pointed is None:
        return name
    # A noun of one character is named with its pointer: "那家店".
    stood = pointed.search(clause.norm, 0, clause.text.find(name, begin))
    return f"{clause.text[slice(*stood.span())]}{name}" if stood is not None else name


def _beside(
    utterance: Utterance,
    reads: Sequence[Read],
    i: int,
    m: re.Match[str],
    parts: Mapping[str, Expression],
    text: str,
) -> tuple[str, int] | None:
    """The name that stands beside a reference which says at most of what sort the thing is, and in which clause."""
    clause = reads[i].clause
    after = [k for k in range(i + 1, len(reads)) if reads[k].clause.sentence == clause.sentence]
    sorts, name = parts.get("reference_names"), parts.get("reference_name")
    if text and (sorts is None or name is None or sorts.match(text) is None):
        return None
    if not text:
        bare, before = parts.get("reference_bare"), parts.get("reference_before")
        stood = before.search(reads[i - 1].clause.norm) if before is not None and i else None
        whats = [v for g, v in m.groupdict().items() if g.startswith("what")]
        pointed = any(whats) or not whats  # "那个鸟狗式，你教我的"
        named = next((v for g, v in stood.groupdict().items() if g.startswith("what") and v), "") if stood else ""
        if named and pointed:
            return trim(named), i
        same = after and bare is not None and bare.match(reads[after[0]].clause.norm)
        return (trim(same["what"]), after[0]) if same else None
    for k, words in [(i, clause.text[m.end() :]), *((k, reads[k].clause.text) for k in after)]:
        for found in name.finditer(words) if name is not None else ():
            named = trim(next(v for v in found.groupdict().values() if v))
            # The first word of a clause is written with a capital whatever it is.
            begins = found.start() == 0 and k != i and trim(words) != named and ":" not in words
            said = utterance.said_earlier is None or utterance.said_earlier(named)
            if len(named) > _LEAST and not begins and said:
                return named, k if trim(words) == named else i
    return _named_before(utterance, reads, i, name)


def _named_before(
    utterance: Utterance, reads: Sequence[Read], i: int, name: Expression | None
) -> tuple[str, int] | None:
    """The name in the clause before ("we painted Second Wind on her, the name you gave us"), if it was said then."""
    said, before = utterance.said_earlier, reads[i - 1] if i else None
    if before is None or said is None or name is None or before.clause.sentence != reads[i].clause.sentence:
        return None
    for found in name.finditer(before.clause.text):
        named = trim(next(v for v in found.groupdict().values() if v))
        if found.start() and len(named) > _LEAST and said(named):
            return named, i
    return None


def _resolve(clause: str, what: str, known: Sequence[str], lexicon: Lexicon) -> str:
    """The newest known entity that the words name: by its own name, or by its sort ("the contract")."""
    folded, clause = fold(what), fold(clause)
    for entity in reversed(known):
        name = fold(entity)
        if name and (name in clause or (len(folded) > 1 and folded in name)):
            return entity
    for sort, spoken in lexicon.identifier_words.items():
        if not any(w in folded for w in spoken.split("|")):
            continue
        for entity in reversed(known):
            named = fold(entity).startswith(sort) or any(w in fold(entity) for w in spoken.split("|"))
            if named or lexicon.kind_of_prefix(entity) == sort:
                return entity
    return ""
