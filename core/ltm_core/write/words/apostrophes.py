"""Letters that were not typed: "im a nurse", "dont call me", "its Energia now", "can u forget ur notes". Pure.

The rules read a message as if they had been; every place that is found is then one of the message as it was typed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ltm_core.types import Evidence
from ltm_core.write.plan import Analysis

_BESIDE = r"(?<![\w'./@#&-]){}(?![\w'./@-]*[\w'/@-])"
"""A word by itself: no part of an address, a path or a name with a hyphen."""
_FIRST = r"(?<!\w )"


@dataclass(frozen=True, slots=True)
class Contractions:
    """The short forms that are written without their apostrophe or first letters, and what belongs where."""

    pattern: re.Pattern[str]
    places: Mapping[str, tuple[int, str]]
    """Per form without it, in lower case: how many letters stand before what is missing, and that."""
    foreign: re.Pattern[str]
    """What only a text of another language has in which one of the forms is a word ("im Garten und ...")."""


def contractions(
    forms: Sequence[str], before: Mapping[str, str], first: Sequence[str], foreign: str, begun: Mapping[str, str]
) -> Contractions:
    """Of the forms with their apostrophe ("don't"); ``before``: what must follow those that are also other words,
    ``first``: those of them that must begin what is said. ``begun``: the letters before a clipped word ("u")."""
    typed = {form: form.replace("'", "") for form in (*forms, *before)}
    either = [_BESIDE.format(f"(?:{'|'.join(typed[f] for f in forms)})")]
    for form, following in before.items():
        begins = _FIRST if form in first else ""
        either.append(begins + _BESIDE.format(typed[form]) + f"(?= {following})")
    either.append(_BESIDE.format(f"(?-i:{'|'.join(begun)})"))
    places = {word: (form.index("'"), "'") for form, word in typed.items()}
    places |= {word: (0, letters) for word, letters in begun.items()}
    return Contractions(re.compile("|".join(either), re.I), places, re.compile(foreign, re.I))


@dataclass(frozen=True, slots=True)
class Spelled:
    """A message with the letters that were missing, and their places, counted in ``text``."""

    typed: str
    text: str
    put: tuple[int, ...]

    def back(self, seen: Analysis, message_id: str) -> Analysis:
        """The analysis with every place one of the message as it was typed, and the words of its anchors too."""

        def place(at: int) -> int:
            return at - bisect_left(self.put, at)

        def moved(e: Evidence) -> Evidence:
            return replace(e, start=place(e.start), end=place(e.end)) if e.message_id == message_id else e

        def skipped(told: str) -> str:
            span, _, rule = told.partition(":")
            start, _, end = span.partition("-")
            return f"{place(int(start))}-{place(int(end))}:{rule}"

        anchors = []
        for a in seen.anchors:
            now = moved(a.evidence)
            at = self.text.find(a.text, a.evidence.start, a.evidence.end) if now is not a.evidence else -1
            text = self.typed[place(at) : place(at + len(a.text))] if at >= 0 else a.text
            anchors.append(replace(a, evidence=now, text=text))
        return replace(
            seen,
            anchors=tuple(anchors),
            candidates=tuple(replace(c, evidence=tuple(map(moved, c.evidence))) for c in seen.candidates),
            news=tuple(replace(c, evidence=tuple(map(moved, c.evidence))) for c in seen.news),
            requests=tuple(replace(r, evidence=moved(r.evidence)) for r in seen.requests),
            skipped=tuple(map(skipped, seen.skipped)),
        )


def spelled(content: str, known: Contractions) -> Spelled | None:
    """The message with the letters that were not typed; None when none is missing."""
    pieces: list[str] = []
    put: list[int] = []
    at = 0
    for m in known.pattern.finditer(content):
        word = m.group()
        if word.isupper() and len(word) > 1:  # "IM me", "ID"
            continue
        if not put and known.foreign.search(content):
            return None
        before, missing = known.places[word.lower()]
        cut = m.start() + before
        pieces += [content[at:cut], missing]
        put += range(cut + len(put), cut + len(put) + len(missing))
        at = cut
    return Spelled(content, "".join([*pieces, content[at:]]), tuple(put)) if put else None
