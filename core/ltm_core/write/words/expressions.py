"""Regular expressions that are compiled when first needed and skipped when they cannot match.

A few thousand expressions could read every clause. Each knows up to three sets of words, of each of which one must
occur (``triggers.json``, made by ``scripts/build_triggers.py``); looking for words is far cheaper than matching.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from operator import add
from typing import Any

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
def triggers() -> Mapping[str, Sequence[Sequence[str]]]:
    """Sets of needed words per digest, the rarest first; empty when the file is missing."""
    file = files("ltm_core.lexicon").joinpath("write", "triggers.json")
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


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
    beside: tuple[frozenset[str], ...] = ()
    """Beginnings of the other words of which one must occur, too."""

    @classmethod
    def of(cls, source: str) -> Lazy:
        first, *more = triggers().get(digest(source)) or [()]
        full = tuple(first) if any(len(w) > LONGEST for w in first) else ()
        return cls(source, _beginnings(first), full, tuple(map(_beginnings, more)))

    def match(self, text: str) -> re.Match[str] | None:
        return compiled(self.source).match(text)

    def search(self, text: str) -> re.Match[str] | None:
        return compiled(self.source).search(text)


def _beginnings(words: Iterable[str]) -> frozenset[str]:
    return frozenset(w[:LONGEST] for w in words)


class Index:
    """Which of many expressions may match a text, by the words they need.

    Per needed word a number tells of every expression, as a bit, whether the word is in its first set."""

    __slots__ = ("_always", "_beside", "_full", "_with_word", "_words")

    def __init__(self, members: Sequence[Lazy]) -> None:
        self._with_word: dict[str, int] = {}
        self._always = 0
        for i, member in enumerate(members):
            self._always |= 0 if member.needs else 1 << i
            for word in member.needs:
                self._with_word[word] = self._with_word.get(word, 0) | 1 << i
        self._words = frozenset(self._with_word)
        self._full = tuple(m.words for m in members)
        self._beside = tuple(m.beside for m in members)

    def possible(self, text: str) -> list[int]:
        """Places of the expressions that may match the text, in order."""
        there, left, with_word = grams(text), self._always, self._with_word
        for word in self._words & there:
            left |= with_word[word]
        out: list[int] = []
        if not left:
            return out
        low, full, beside = text.lower(), self._full, self._beside
        while left:
            i = (left & -left).bit_length() - 1
            left &= left - 1
            for needs in beside[i]:
                if needs.isdisjoint(there):
                    break
            else:
                for word in full[i]:
                    if word in low:
                        out.append(i)
                        break
                else:
                    if not full[i]:
                        out.append(i)
        return out


class AnyOf:
    """Several expressions of which any may match, tried in order."""

    __slots__ = ("_index", "members")

    def __init__(self, sources: Iterable[str]) -> None:
        self.members = tuple(Lazy.of(s) for s in sources)
        self._index = Index(self.members)

    def search(self, text: str) -> re.Match[str] | None:
        for i in self._index.possible(text):
            if (m := self.members[i].search(text)) is not None:
                return m
        return None

    def every(self, text: str) -> Iterator[re.Match[str]]:
        """The first match of each that matches, in order."""
        return (m for i in self._index.possible(text) if (m := self.members[i].search(text)) is not None)

    def match(self, text: str) -> re.Match[str] | None:
        for i in self._index.possible(text):
            if (m := self.members[i].match(text)) is not None:
                return m
        return None


class Expression:
    """An expression that is looked up by its name: compiled when first needed, and not tried on a text without the
    words that it needs. It is asked as a compiled one is."""

    __slots__ = ("_needs", "_read", "pattern")

    def __init__(self, source: str) -> None:
        self.pattern = source
        self._read: re.Pattern[str] | None = None
        self._needs = tuple(tuple(words) for words in triggers().get(digest(source), ()))

    @property
    def read(self) -> re.Pattern[str]:
        """It itself, compiled."""
        if self._read is None:
            self._read = compiled(self.pattern)
        return self._read

    def match(self, text: str, *within: int) -> re.Match[str] | None:
        return None if self._needs and self._lacks(text) else self.read.match(text, *within)

    def search(self, text: str, *within: int) -> re.Match[str] | None:
        return None if self._needs and self._lacks(text) else self.read.search(text, *within)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self.read.fullmatch(text)

    def finditer(self, text: str, *within: int) -> Iterator[re.Match[str]]:
        return self.read.finditer(text, *within)

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        return self.read.sub(by, text, count=count)

    def split(self, text: str, maxsplit: int = 0) -> list[str | Any]:
        return self.read.split(text, maxsplit=maxsplit)

    def findall(self, text: str) -> list[Any]:
        return self.read.findall(text)

    def _lacks(self, text: str) -> bool:
        low = text.lower()
        for words in self._needs:
            for word in words:
                if word in low:
                    break
            else:
                return True
        return False
