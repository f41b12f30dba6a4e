"""Overwriting words in a text without moving the others, so that spans of other facts stay true. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

FILLER = "█"
_SHORTEST_WORD = 3
"""Letters a Latin object needs before its repeats are looked for: shorter ones ("it", "3") hit anything."""
_SHORTEST_HAN = 2
_WIDE = re.compile(r"[⺀-鿿぀-ヿ가-힯豈-﫿]")


def overwrite(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with every character of the spans replaced; spaces inside them too; length unchanged."""
    characters = list(text)
    for start, end in spans:
        for i in range(max(0, start), min(end, len(characters))):
            characters[i] = FILLER
    return "".join(characters)


def repeats(text: str, phrase: str) -> list[tuple[int, int]]:
    """Where ``phrase`` stands in the text, whatever its case and spacing; whole words where words have ends.

    Phrases too short to mean anything by themselves are found nowhere.
    """
    pattern = repeat_pattern(phrase)
    return [] if pattern is None else [m.span() for m in pattern.finditer(text)]


def repeat_pattern(phrase: str) -> re.Pattern[str] | None:
    """The pattern `repeats` looks for, or None for a phrase that is too short."""
    words = phrase.split()
    bare = "".join(words)
    if len(bare) < (_SHORTEST_HAN if _WIDE.search(bare) else _SHORTEST_WORD):
        return None
    body = r"\s+".join(re.escape(w) for w in words)
    left = r"(?<![0-9A-Za-z_])" if re.match(r"[0-9A-Za-z_]", bare) else ""
    right = r"(?![0-9A-Za-z_])" if re.search(r"[0-9A-Za-z_]$", bare) else ""
    return re.compile(left + body + right, re.IGNORECASE)


def overlaps(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    """Whether the span shares a character with one of the others."""
    return any(span[0] < end and start < span[1] for start, end in others)
