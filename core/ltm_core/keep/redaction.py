"""Overwriting words in a text without moving the others, so that spans of other facts stay true. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from ltm_core.text.normalize import nfkc, printable

FILLER = "█"
_SHORTEST_WORD = 3
"""Letters a Latin object needs before its repeats are looked for: shorter ones ("it", "3") hit anything."""
_SHORTEST_HAN = 2
ENDLESS = "⺀-鿿぀-ヿ가-힯豈-﫿฀-໿က-႟ក-៿"
"""Characters of scripts that write words without ends, or that put particles onto them."""
_WIDE = re.compile(f"[{ENDLESS}]")
_LETTER = f"[^\\W{ENDLESS}]"


def overwrite(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with every character of the spans replaced; spaces inside them too; length unchanged."""
    characters = list(text)
    for start, end in spans:
        for i in range(max(0, start), min(end, len(characters))):
            characters[i] = FILLER
    return "".join(characters)


def repeats(text: str, phrase: str) -> list[tuple[int, int]]:
    """Where ``phrase`` stands in the text, whatever its case, width, spacing and invisible characters; whole
    words where words have ends.

    Phrases too short to mean anything by themselves are found nowhere.
    """
    return spans_of(patterns_of([phrase]), text)


def repeat_pattern(phrase: str) -> re.Pattern[str] | None:
    """The pattern that `spans_of` looks for, or None for a phrase that is too short."""
    words = folded_with_places(phrase)[0].split()
    bare = "".join(words)
    if len(bare) < (_SHORTEST_HAN if _WIDE.search(bare) else _SHORTEST_WORD):
        return None
    body = r"\s+".join(re.escape(w) for w in words)
    left = f"(?<!{_LETTER})" if re.match(_LETTER, bare) else ""
    right = f"(?!{_LETTER})" if re.match(_LETTER, bare[-1]) else ""
    return re.compile(left + body + right)


def patterns_of(phrases: Iterable[str]) -> list[re.Pattern[str]]:
    """What `spans_of` looks for; phrases that are too short are left out."""
    return [p for p in map(repeat_pattern, phrases) if p is not None]


def spans_of(patterns: Iterable[re.Pattern[str]], text: str) -> list[tuple[int, int]]:
    """Spans of ``text`` that one of the patterns of `repeat_pattern` matches; they may overlap."""
    quick = nfkc(printable(text)).casefold()
    hits = [p for p in patterns if p.search(quick)]
    if not hits:
        return []
    folded, starts = folded_with_places(text)
    return [(starts[m.start()], starts[m.end()]) for p in hits for m in p.finditer(folded)]


def folded_with_places(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and where each of its characters (and its end) begins in the original."""
    pieces: list[str] = []
    starts: list[int] = []
    i = 0
    while i < len(text):
        end = i + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        piece = unicodedata.normalize("NFKC", printable(text[i:end])).casefold()
        pieces.append(piece)
        starts += [i] * len(piece)
        i = end
    return "".join(pieces), [*starts, len(text)]


def overwritten(value: Any, patterns: Iterable[re.Pattern[str]]) -> Any:
    """JSON data in which no text holds one of the patterns; keys that hold one are gone."""
    wanted = tuple(patterns)
    if isinstance(value, str):
        return overwrite(value, spans_of(wanted, value))
    if isinstance(value, Mapping):
        return {k: overwritten(v, wanted) for k, v in value.items() if not spans_of(wanted, str(k))}
    if isinstance(value, list | tuple):
        return [overwritten(v, wanted) for v in value]
    return value


def overlaps(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    """Whether the span shares a character with one of the others."""
    return any(span[0] < end and start < span[1] for start, end in others)
