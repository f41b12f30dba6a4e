"""An English clause that gives up a whole class of things: "I've gone off fruit of every kind", "dairy disgusts me".

The class stands behind words of giving up or first in the clause, with nothing around it that makes it one thing of
the class ("the cheese order", "fruit cake"). A plain dislike ("I can't stand tennis") gives up something only where
the sentence says that it is all of it, or that it was otherwise before. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ltm_core.write.known.broad import broad_classes
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

_WORD = re.compile(r"[\w+#&'-]+")
_LONGEST = 5
"""Words of the name of a class."""


@dataclass(frozen=True, slots=True)
class Reversal:
    """The classes that a clause gives up."""

    classes: tuple[str, ...] = ()
    of_speaker: bool = False
    """Whether the class itself is the subject, so that it is the speaker who gives it up."""


def reversal_in(read: Read, lexicon: Lexicon, beside: Sequence[Read | None] = ()) -> Reversal:
    """What the clause gives up as a whole; nothing when it does so for a while or leaves something out.

    ``beside``: the clauses around it, of which those of its sentence, and a short one behind it, may say that all of
    it is meant.
    """
    if read.clause.language != "en":
        return Reversal()
    parts, text = lexicon.rules("en").parts, fold(read.clause.norm)
    if parts["reversal_said"].search(text) is None:
        return Reversal()
    same = [text, *(fold(r.clause.norm) for r in beside if r is not None and _goes_with(r, read, lexicon))]
    if any(parts["reversal_not"].search(t) for t in same):
        return Reversal()
    whole = any(parts["reversal_all"].search(t) for t in same)
    if (read["ephemeral"] or read["mood"]) and not (read["lasting"] or whole):
        return Reversal()
    found: dict[str, None] = {}
    first = False
    for start, end, classes in _named(text):
        if parts["diet_class"].search(text[start:end]) is not None:
            behind = _is_diet(text[:start], text[end:], lexicon)
        else:
            behind = _given_up_behind(text[:start], text[end:], lexicon, whole=whole)
        before = not behind and _given_up_before(text[:start], text[end:], lexicon, whole=whole)
        if behind or before:
            found |= dict.fromkeys(sorted(classes))
            first = first or before
    bare = parts["reversal_bare"].search(text)
    if bare is not None and whole:
        found |= dict.fromkeys(sorted(broad_classes().names.get(f"{bare['verb'].removesuffix('e')}ing", ())))
    found = found or _meant_by_it(text, same[1:], lexicon)
    return Reversal(tuple(found), first)


def _meant_by_it(text: str, beside: Sequence[str], lexicon: Lexicon) -> dict[str, None]:
    """The class that another clause of the sentence begins with, where this one gives up "it" ("Perfume gives me
    migraines, so I've sworn off all of it")."""
    parts = lexicon.rules("en").parts
    it = parts["reversal_it"].search(text)
    if it is None or parts["reversal_verb_it"].search(text[: it.start()]) is None:
        return {}
    found: dict[str, None] = {}
    for other in beside:
        for start, _, classes in _named(other):
            if parts["reversal_lead"].match(_without_joined(other[:start], lexicon)) is not None:
                found |= dict.fromkeys(sorted(classes))
    return found


def leaves_some(read: Read, lexicon: Lexicon) -> bool:
    """Whether English words leave something of a class out, or give it up for a while only."""
    return (
        read.clause.language == "en"
        and lexicon.rules("en").parts["reversal_not"].search(read.clause.norm) is not None
    )


def _goes_with(other: Read, read: Read, lexicon: Lexicon) -> bool:
    """Whether another clause is of the sentence, or is one behind it that says only how much is meant ("I hate gyms.
    All of them")."""
    if other.veto or other.clause.language != "en":
        return False
    if other.clause.sentence == read.clause.sentence:
        return True
    behind = other.clause.start > read.clause.start
    return behind and lexicon.rules("en").parts["reversal_extent"].match(fold(other.clause.norm)) is not None


def _named(text: str) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Where the clause names classes, by the longest name."""
    names = broad_classes().names
    words = list(_WORD.finditer(text))
    at = 0
    while at < len(words):
        for n in range(min(_LONGEST, len(words) - at), 0, -1):
            start, end = words[at].start(), words[at + n - 1].end()
            classes = names.get(text[start:end])
            if classes:
                yield start, end, classes
                at += n - 1
                break
        at += 1


def _given_up_behind(before: str, after: str, lexicon: Lexicon, *, whole: bool) -> bool:
    """Whether the class between these words is what they give up ("I've gone off … altogether")."""
    parts = lexicon.rules("en").parts
    said = parts["reversal_of"].search(_without_joined(before, lexicon))
    if said is None or parts["reversal_of_rest"].match(after) is None:
        return False
    return bool(said["strong"]) or whole


def _is_diet(before: str, after: str, lexicon: Lexicon) -> bool:
    """Whether the words between which a diet is named say that somebody keeps it ("I've gone vegan")."""
    parts = lexicon.rules("en").parts
    if parts["diet_denied"].search(before) is not None or parts["reversal_diet"].search(before) is None:
        return False
    return parts["reversal_of_rest"].match(after) is not None


def _given_up_before(before: str, after: str, lexicon: Lexicon, *, whole: bool) -> bool:
    """Whether the clause begins with the class and says that it pleases no more ("… have lost their appeal")."""
    parts = lexicon.rules("en").parts
    if parts["reversal_love"].search(before) is not None and parts["reversal_love_gone"].match(after) is not None:
        return True
    if parts["reversal_lead"].match(before) is None:
        return False
    said = parts["reversal_by"].match(after)
    return said is not None and (bool(said["strong"]) or whole)


def _without_joined(before: str, lexicon: Lexicon) -> str:
    """The words before a class without the names of others joined to it ("given up beer, wine and spirits")."""
    joint, names = lexicon.rules("en").parts["class_joined"], broad_classes().names
    while (m := joint.search(before)) is not None:
        rest = before[: m.start()]
        words = list(_WORD.finditer(rest))
        for n in range(min(_LONGEST, len(words)), 0, -1):
            if rest[words[-n].start() :] in names:
                before = rest[: words[-n].start()]
                break
        else:
            return before
    return before
