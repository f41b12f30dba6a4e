"""Regular expressions that are compiled when first needed and skipped when they cannot match.

A few hundred expressions read every clause. Each knows words of which one must occur (``triggers.json``, made by
``scripts/build_triggers.py``); looking for words is far cheaper than matching.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from operator import add

LONGEST = 4
"""Characters of a needed word that are looked for; longer words are cut."""


def digest(source: str) -> str:
    """Name of an expression in ``triggers.json``."""
    return hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()[:12]


@cache
def compiled(source: str) -> re.Pattern[str]:
    """The expression, ignoring case; compiled once per process."""
    return re.compile(source, re.I)


@cache
def triggers() -> Mapping[str, tuple[str, ...]]:
    """Needed words per digest; empty when the file is missing."""
    file = files("ltm_core.lexicon").joinpath("write", "triggers.json")
    if not file.is_file():
        return {}
    return {k: tuple(v) for k, v in json.loads(file.read_text(encoding="utf-8")).items()}


@lru_cache(maxsize=512)
def grams(text: str) -> frozenset[str]:
    """Every run of up to `LONGEST` characters of a text, in lower case."""
    low = text.lower()
    found, runs = set(low), list(low)
    for n in range(1, LONGEST):
        runs = list(map(add, runs, low[n:]))
        found.update(runs)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Lazy:
    """An expression by its source, with its needed words; none means that it is always tried."""

    source: str
    needs: frozenset[str] = frozenset()
    """Their beginnings, which are looked up."""
    words: tuple[str, ...] = ()
    """All of them in full, if one is longer than its beginning; looked for where a beginning was found."""

    @classmethod
    def of(cls, source: str) -> Lazy:
        words = triggers().get(digest(source), ())
        full = words if any(len(w) > LONGEST for w in words) else ()
        return cls(source, frozenset(w[:LONGEST] for w in words), full)

    def match(self, text: str) -> re.Match[str] | None:
        return compiled(self.source).match(text)

    def search(self, text: str) -> re.Match[str] | None:
        return compiled(self.source).search(text)


class Index:
    """Which of many expressions may match a text, by the words they need."""

    __slots__ = ("_always", "_by_word", "_full", "_words")

    def __init__(self, members: Sequence[Lazy]) -> None:
        by_word: dict[str, list[int]] = {}
        for i, member in enumerate(members):
            for word in member.needs:
                by_word.setdefault(word, []).append(i)
        self._by_word = by_word
        self._words = frozenset(by_word)
        self._full = tuple(m.words for m in members)
        self._always = tuple(i for i, m in enumerate(members) if not m.needs)

    def possible(self, text: str) -> list[int]:
        """Places of the expressions that may match the text, in order."""
        found = set(self._always)
        for word in self._words & grams(text):
            found.update(self._by_word[word])
        low, full = text.lower(), self._full
        return sorted(i for i in found if not full[i] or any(w in low for w in full[i]))


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Several expressions of which any may match, tried in order."""

    members: tuple[Lazy, ...]

    @classmethod
    def of(cls, sources: Iterable[str]) -> AnyOf:
        return cls(tuple(Lazy.of(s) for s in sources))

    def search(self, text: str) -> re.Match[str] | None:
        return next(self.every(text), None)

    def every(self, text: str) -> Iterator[re.Match[str]]:
        """The first match of each that matches, in order."""
        return (m for member in self._possible(text) if (m := member.search(text)) is not None)

    def match(self, text: str) -> re.Match[str] | None:
        return next((m for member in self._possible(text) if (m := member.match(text)) is not None), None)

    def _possible(self, text: str) -> Iterator[Lazy]:
        there = grams(text)
        return (m for m in self.members if not m.needs or not m.needs.isdisjoint(there))
