"""The kind of value that a question asks for, read from its words alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ltm_core.recall.data import toml
from ltm_core.recall.values import Kind, any_phrase, unit_terms
from ltm_core.text.normalize import nfkc


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a question wants to be told."""

    kinds: frozenset[Kind]
    """Kinds of value that would answer it; empty when it asks for none."""
    units: frozenset[str]
    """Terms of what it wants counted."""
    spans: bool
    """It measures from one event to another, so it names two things at once."""


def wanted(question: str) -> Wanted:
    """What ``question`` asks for."""
    folded = nfkc(question).lower()
    return Wanted(
        kinds=frozenset(kind for kind, pattern in _asks().items() if pattern.search(folded)),
        units=frozenset(t for m in _how_many().finditer(folded) for t in unit_terms(folded[m.end() :])),
        spans=bool(_spans().search(folded)),
    )


@cache
def _asks() -> Mapping[Kind, re.Pattern[str]]:
    by_kind: dict[Kind, list[str]] = {}
    for kinds in toml("values.toml")["asks"].values():
        for kind, phrases in kinds.items():
            by_kind.setdefault(kind, []).extend(phrases)
    return {kind: any_phrase(phrases) for kind, phrases in by_kind.items()}


@cache
def _how_many() -> re.Pattern[str]:
    return any_phrase(p for phrases in toml("values.toml")["counts"].values() for p in phrases)


@cache
def _spans() -> re.Pattern[str]:
    return any_phrase(p for phrases in toml("values.toml")["spans"].values() for p in phrases)


__all__ = ["Wanted", "wanted"]
