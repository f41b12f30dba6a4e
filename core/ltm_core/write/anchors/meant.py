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
from ltm_core.text.terms import terms, whole
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
        if a.kind != "cross_session_reference":
            continue
        words = content[a.evidence.start : a.evidence.end].strip()
        if a.text not in words and a.reason == KNOWN:
            thing = a.text
        else:
            words = words if a.text in words else a.text
            thing = meant(a.text, said())
        found[a.evidence] = f"{words} — {thing}" if thing and thing != words else words
    return found


def told_fully(anchor: Anchor, meaning: Mapping[Evidence, str]) -> Anchor:
    """The anchor as the caller sees it: a reference says what it means. The store keeps the words of the reference
    alone, so that erasing what is meant leaves no copy."""
    is_reference = anchor.kind == "cross_session_reference" and anchor.evidence in meaning
    return replace(anchor, text=meaning[anchor.evidence]) if is_reference else anchor


def meant(words: str, said: Sequence[str]) -> str:
    """The sentence that shares most with the words, the newest of several; empty when none shares any."""
    told = [(s, _telling(s)) for s in _sentences(said)]
    counted = Counter(t for _, found in told for t in found)
    asked = _telling(words)
    best, most = "", 0.0
    for s, found in told:
        score = sum(1 / counted[t] for t in asked & found)
        if score > most:
            best, most = s, score
    return best


def told_in(texts: Iterable[str], words: str) -> bool:
    """Whether one of the texts holds every word that the words name a thing by."""
    asked = _telling(words)
    return bool(asked) and any(asked <= _telling(text) for text in texts)


def _sentences(said: Sequence[str]) -> list[str]:
    found: list[str] = []
    for text in said:
        found += [s.of(text) for s in sentences(text)]
        if len(found) >= _MOST:
            break
    return [s for s in dict.fromkeys(found[:_MOST]) if len(s) <= _LONGEST]


def _telling(text: str) -> frozenset[str]:
    return frozenset(whole(terms(text, query=True)))
