"""Forgotten words that may still be on their way: kept as keyed hashes, looked for in late messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Protocol

from ltm_core.keep.redaction import ENDLESS, folded_with_places, repeat_pattern
from ltm_core.text.normalize import fold

PHRASE_WORDS = "phrase words"
"""Kind of the tombstones that tell how many words the forgotten phrases have."""
_MOST_WORDS = 12
"""Words (or characters of a script without spaces) of a phrase that are compared."""
_WORD = re.compile(f"[{ENDLESS}]|[^\\W_{ENDLESS}]+")


def phrase_entries(phrases: Iterable[str]) -> list[tuple[str, str]]:
    """Tombstones by which `holds_forgotten` finds the phrases, whatever their case, width and punctuation.

    Phrases too short to mean anything by themselves have none: their repeats are not overwritten either.
    """
    entries: dict[tuple[str, str], None] = {}
    for phrase in phrases:
        words = _words(phrase)[:_MOST_WORDS]
        if words and repeat_pattern(phrase) is not None:
            entries[PHRASE_WORDS, str(len(words))] = None
            entries["phrase", " ".join(words)] = None
    return list(entries)


class Tombstones(Protocol):
    """What knows of erasures, as `Reader` does."""

    def is_tombstoned(self, kind: str, value: str) -> datetime | None: ...


def holds_forgotten(reader: Tombstones, content: str, counts: Callable[[datetime | None], bool]) -> bool:
    """Whether a phrase stands in ``content`` whose erasure ``counts``; whole words where words have ends."""
    lengths = _lengths(reader, counts)
    words = _words(content) if lengths else []
    tried = {" ".join(words[i : i + n]) for n in lengths for i in range(len(words) - n + 1)}
    return any(counts(reader.is_tombstoned("phrase", phrase)) for phrase in tried)


def forgotten_phrases(reader: Tombstones, content: str, counts: Callable[[datetime | None], bool]) -> tuple[str, ...]:
    """The phrases that `holds_forgotten` finds, as they stand in ``content``; of a long one all that follows it,
    because where it ends is not known."""
    lengths = _lengths(reader, counts)
    folded, starts = folded_with_places(content) if lengths else ("", [])
    words = list(_WORD.finditer(folded))
    found: dict[str, None] = {}
    for n in lengths:
        for first, last in zip(range(len(words)), range(n - 1, len(words)), strict=False):
            said = " ".join(w.group() for w in words[first : last + 1])
            if counts(reader.is_tombstoned("phrase", said)):
                end = starts[words[last].end()] if n < _MOST_WORDS else len(content)
                found[content[starts[words[first].start()] : end]] = None
    if not found and holds_forgotten(reader, content, counts):
        # Rare letters fold in one way by themselves and in another beside their neighbours.
        return (content,)
    return tuple(found)


def _lengths(reader: Tombstones, counts: Callable[[datetime | None], bool]) -> list[int]:
    return [n for n in range(1, _MOST_WORDS + 1) if counts(reader.is_tombstoned(PHRASE_WORDS, str(n)))]


def _words(text: str) -> list[str]:
    return _WORD.findall(fold(text))
