"""The words of an English sentence, and of a fact, as `ltm_core.write.endings.touching` compares them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ltm_core.write.known.mentions import stem

_WORD = re.compile(r"[A-Za-z0-9][\w+#&-]*(?:'[a-z]+|(?<=s)'(?= ))?")
_OWNER = re.compile(r"'s?$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence."""

    text: str
    low: str
    stem: str
    gap: str
    """What stands between it and the next one."""

    @property
    def owns(self) -> bool:
        return self.text.endswith(("'s", "s'"))


@dataclass(frozen=True, slots=True)
class Held:
    """The words of a fact."""

    text: str
    words: frozenset[str]
    stems: frozenset[str]
    """Of those that mean something."""


@lru_cache(maxsize=64)
def words(text: str) -> tuple[Word, ...]:
    """The words of a sentence."""
    found = list(_WORD.finditer(text))
    ends = [*(m.start() for m in found[1:]), len(text)][: len(found)]
    return tuple(
        Word(m.group(), low := _OWNER.sub("", m.group().lower()), stem(low), text[m.end() : end])
        for m, end in zip(found, ends, strict=True)
    )


@lru_cache(maxsize=1024)
def held_words(text: str, function: frozenset[str], nouns: frozenset[str]) -> Held:
    """The words of a fact; ``nouns``: function words that name things all the same."""
    every = words(text)
    meaning = frozenset(w.stem for w in every if len(w.low) > 1 and (w.low in nouns or w.low not in function))
    return Held(text, frozenset(w.low for w in every), meaning)
