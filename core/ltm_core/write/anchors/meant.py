"""What a reference to an earlier conversation means: of "that race I told you about" the sentence "I'm training for
the race through Bath". Pure.

It is found by the words that both share: the fewer of the sentences hold one, the more it weighs. Vectors are not
asked. Of a name of a thing and a sentence about it they say little: "wedding place" is 0.08 near to "We're having the
reception at the Old Mill" and to "My sister lives in Leeds".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ltm_core.text.sentences import sentences
from ltm_core.text.terms import terms
from ltm_core.types import Anchor, Evidence
from ltm_core.write.anchors.references import KNOWN

_LONGEST = 200
"""Characters of a sentence that tells what is meant; a longer one is not repeated."""
_MOST = 300
"""Sentences that are looked at, the newest."""


def meanings(anchors: Iterable[Anchor], content: str, said: Callable[[], Sequence[str]]) -> dict[Evidence, str]:
    """The words of every reference and what they mean, by the place of the reference. ``said``: the turns of other
    conversations, newest first."""
    found = {}
    for a in anchors:
        if a.kind == "cross_session_reference":
            told = content[a.evidence.start : a.evidence.end].strip()
            is_name = a.text not in told and bool(a.text)
            thing = a.text if is_name and a.reason == KNOWN else meant(a.text, said())
            words = a.text if is_name and a.reason != KNOWN else told
            found[a.evidence] = f"{words} — {thing}" if thing and thing != words else words
    return found


def told_fully(anchor: Anchor, meaning: Mapping[Evidence, str]) -> Anchor:
    """The anchor as the caller sees it: a reference says what it means. The store keeps the words of the reference
    alone, so that erasing what is meant leaves no copy."""
    is_reference = anchor.kind == "cross_session_reference" and anchor.evidence in meaning
    return replace(anchor, text=meaning[anchor.evidence]) if is_reference else anchor


def meant(words: str, said: Sequence[str]) -> str:
    """The sentence that shares most with the words, the newest of several; empty when none shares any."""
    told = _sentences(said)
    counted = Counter(t for s in told for t in _telling(s))
    asked = _telling(words)
    best, most = "", 0.0
    for s in told:
        score = sum(1 / counted[t] for t in asked & _telling(s))
        if score > most:
            best, most = s, score
    return best


def _sentences(said: Sequence[str]) -> list[str]:
    found: list[str] = []
    for text in said:
        found += [s.of(text) for s in sentences(text)]
        if len(found) >= _MOST:
            break
    return [s for s in dict.fromkeys(found[:_MOST]) if len(s) <= _LONGEST]


def _telling(text: str) -> frozenset[str]:
    """The terms of a text without single characters of Chinese words, which are in everything."""
    found = terms(text, query=True)
    return frozenset([t for t in found if len(t) > 1] or found)
