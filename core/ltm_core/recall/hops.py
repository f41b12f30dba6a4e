"""A question that asks for several things at once, split into one query for each. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ltm_core.recall.cues import cues
from ltm_core.text.terms import terms

MOST_HOPS = 3
"""Queries made of one question; each is looked up by itself."""
LEAST_WORDS = 2
"""Topic words, or pairs of Han characters, that a part needs to be a query of its own."""


def hops(folded: str, content: Sequence[str], language: str) -> tuple[tuple[str, ...], ...]:
    """The topic terms of each part of a question; empty when it asks for one thing.

    A part that names too little stays with the one before it ("my wife and me").
    """
    topic = frozenset(content)
    parts: list[tuple[str, ...]] = []
    for piece in _joins(language).split(folded):
        own = tuple(t for t in terms(piece, query=True) if t in topic)
        if not parts or len([t for t in own if len(t) > 1]) >= LEAST_WORDS:
            parts.append(own)
        else:
            parts[-1] = (*parts[-1], *own)
    parts = [p for p in parts if len([t for t in p if len(t) > 1]) >= LEAST_WORDS]
    return tuple(tuple(dict.fromkeys(p)) for p in parts[:MOST_HOPS]) if len(parts) > 1 else ()


def asides(folded: str, content: Sequence[str], language: str) -> tuple[tuple[str, ...], ...]:
    """The topic terms of each question within a request: "plan a trip, but remember what I am afraid of"."""
    topic = frozenset(content)
    found = (
        tuple(t for t in terms(m["aside"], query=True) if t in topic) for m in _asides(language).finditer(folded)
    )
    return tuple(dict.fromkeys(f for f in found if f))[:MOST_HOPS]


@cache
def _asides(language: str) -> re.Pattern[str]:
    after, starts, ends = (_any(cues(language, name)) for name in ("asides", "aside_starts", "aside_ends"))
    return re.compile(rf"(?:{after})\s*(?P<aside>(?:{starts})(?:(?!{ends})[^,，;；.。?？!！\n])*)")


def _any(phrases: Sequence[str]) -> str:
    longest = sorted(phrases, key=len, reverse=True)
    return "|".join(rf"\b{re.escape(p)}\b" if p.isascii() else re.escape(p) for p in longest) or "(?!)"


@cache
def _joins(language: str) -> re.Pattern[str]:
    phrases = sorted(cues(language, "joins"), key=len, reverse=True)
    words = [rf"\b{re.escape(p)}\b" if p.isascii() else re.escape(p) for p in phrases]
    return re.compile("|".join([*words, r"[,，;；、?？。]\s?"]))


__all__ = ["asides", "hops"]
