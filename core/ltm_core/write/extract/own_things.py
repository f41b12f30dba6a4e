"""A thing of the speaker's own, named again with "the": "The van has had a tow bar fitted" after "I drive a red van",
or a part of his home. For the gate it is read as "our van", which says whose it is. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ltm_core.types import Fact
from ltm_core.write.extract.draft import Draft
from ltm_core.write.read.neighbours import Neighbourhood, Vectors
from ltm_core.write.read.people import Subject
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, normal

_THE, _OUR = "the ", "our "
"""Equally long: places in the clause stay."""
_WORD = re.compile(r"[^\W_][\w'&+-]*")
_MOST_WORDS = 3
"""Words by which a thing is named again."""


def known_things(facts: Iterable[Fact], lexicon: Lexicon) -> frozenset[str]:
    """How things that the facts call the user's own may be named again: "citroën van", "van"."""
    found: set[str] = set()
    for f in facts:
        if f.subject != "user" or not f.is_positive or (not f.text.isascii() and not f.object):
            continue
        base, _, noun = f.relation.partition(":")
        if base == "attribute":
            found |= set(_ends(noun))
        elif base in lexicon.sets["own_things"]:
            found |= set(_ends(lexicon.rules("en").parts["more_of_thing"].split(normal(f.object), maxsplit=1)[0]))
        for m in lexicon.rules("en").parts["of_ours"].finditer(normal(f.text)):
            found |= set(_begins(m["thing"], lexicon))
    return frozenset(found)


def _ends(phrase: str) -> Iterator[str]:
    words = _WORD.findall(fold(phrase))
    for n in range(1, min(_MOST_WORDS, len(words)) + 1):
        yield " ".join(words[-n:])


def _begins(phrase: str, lexicon: Lexicon) -> Iterator[str]:
    words: list[str] = []
    for word in _WORD.findall(fold(phrase))[:_MOST_WORDS]:
        if word in lexicon.gate.function:
            return
        words.append(word)
        yield " ".join(words)


def as_own(r: Read, subject: Subject, things: Callable[[], frozenset[str]], lexicon: Lexicon) -> Read | None:
    """The clause as if it began with "our", when it names a thing of the speaker's own with "the"; else None."""
    told = r.clause.norm[subject.start :]
    if r.clause.language != "en" or subject.kind != "dropped" or told[: len(_THE)].lower() != _THE:
        return None
    words = _WORD.findall(fold(told))[1 : _MOST_WORDS + 1]
    home = lexicon.rules("en").parts["of_home"].match(told) is not None
    if not home and not any(" ".join(words[: n + 1]) in things() for n in range(len(words))):
        return None
    if lexicon.rules("en").parts["how_now"].search(told) is not None:
        return None
    norm = f"{r.clause.norm[: subject.start]}{_OUR}{told[len(_THE) :]}"
    flags = {**r.flags, "first_person": True, "first_subject": True}
    return Read(replace(r.clause, norm=norm), flags, r.veto)


def as_said(made: Sequence[Draft], r: Read) -> tuple[Draft, ...]:
    """The drafts of a clause so read, in its own words."""
    return tuple(
        replace(d, object=r.clause.norm[d.start : d.end]) if d.object[: len(_OUR)] == _OUR else d for d in made
    )


def near_own(r: Read, near: Neighbourhood, vectors: Vectors | None) -> Neighbourhood:
    """What the gate is told of the clause so read, besides its words."""
    made = vectors([r.clause.norm]) if vectors is not None and near.vector is not None else None
    return near if made is None else replace(near, vector=made[0])
