"""Short phrases of the cue tables, found in folded text.

A phrase is words with meaning together; ``a + b`` asks for both anywhere in the text. Latin phrases match at
word boundaries, phrases of Han and kana anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from ltm_core.recall.data import LANGUAGES, toml
from ltm_core.text.normalize import fold


@lru_cache(maxsize=4096)
def _pattern(phrase: str) -> re.Pattern[str]:
    words = re.escape(fold(phrase)).replace(r"\ ", r"\s+")
    start = r"(?<![a-z0-9])" if re.match(r"[a-z0-9]", phrase) else ""
    end = r"(?![a-z0-9])" if re.search(r"[a-z0-9]$", phrase) else ""
    return re.compile(f"{start}{words}{end}")


@lru_cache(maxsize=4096)
def _parts(cue: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Per part of the cue a word that must stand in the text, which is found faster, and the pattern."""
    return tuple((_word(p.strip()), _pattern(p.strip())) for p in cue.split(" + "))


@lru_cache(maxsize=4096)
def _word(phrase: str) -> str:
    """The longest word of a phrase, as it stands in folded text."""
    return max(fold(phrase).split(), key=len, default="")


def any_of(cues: Iterable[str], folded: str) -> bool:
    """Whether all parts of one of the cues stand in ``folded``."""
    for parts in _all_parts(tuple(cues)):
        for word, pattern in parts:
            if word not in folded or not pattern.search(folded):
                break
        else:
            return True
    return False


@lru_cache(maxsize=1024)
def _all_parts(cues: tuple[str, ...]) -> tuple[tuple[tuple[str, re.Pattern[str]], ...], ...]:
    return tuple(_parts(cue) for cue in cues)


def all_spans(cues: Iterable[str], folded: str) -> list[tuple[int, int]]:
    """Every place where a single-part cue stands, by start."""
    return sorted(m.span() for cue in cues if _word(cue) in folded for m in _pattern(cue).finditer(folded))


@cache
def table(language: str) -> Mapping[str, object]:
    """The question cues of a language."""
    return toml(f"questions/{language if language in LANGUAGES else 'en'}.toml")


@cache
def cues(language: str, name: str) -> tuple[str, ...]:
    """One list of the cue table."""
    values = table(language).get(name, ())
    return tuple(values) if isinstance(values, list | tuple) else ()


@cache
def relation_cues(language: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Which phrases ask for which relations; "x:*" stands for every relation that begins with "x:"."""
    values = table(language).get("relations", {})
    if not isinstance(values, Mapping):
        return ()
    return tuple((tuple(names.split()), tuple(phrases)) for names, phrases in values.items())


__all__ = ["all_spans", "any_of", "cues", "relation_cues", "table"]
