"""Identifiers of orders, contracts, quotes, tickets, parcels: anchors that are kept verbatim.

Not identifiers: dates, times, prices, versions, phone numbers, verification codes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ltm_core.errors import ConfigError
from ltm_core.write.lexicon import Lexicon
from ltm_core.write.linear import compile_linear

_DATE = re.compile(
    r"(?:19|20)\d\d[-/.年]?(?:0?[1-9]|1[0-2])(?:[-/.月]?(?:0?[1-9]|[12]\d|3[01])日?)?$|\d{1,2}[-/]\d{1,2}(?:[-/]\d{2,4})?$"
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+$", re.I)
_MOBILE = re.compile(r"1[3-9]\d{9}$")
_MAX_TEXT = 200_000
_CONTEXT = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """One identifier with its span and what it names (order, contract, …)."""

    start: int
    end: int
    text: str
    kind: str
    rule: str


def find_identifiers(text: str, lexicon: Lexicon, patterns: Sequence[str] = ()) -> tuple[Identifier, ...]:
    """Identifiers of a message in order, none twice, none overlapping. ``text`` may be masked."""
    window = text[:_MAX_TEXT]
    if not patterns and not any(c.isdigit() for c in window):
        return ()
    found: dict[int, Identifier] = {}
    # The deployment knows its own identifiers better than we do.
    for name, pattern in (*_extra(tuple(patterns)), *_builtin(lexicon)):
        for m in pattern.finditer(window):
            kind = next((g for g in pattern.groupindex if g not in ("id", "word") and m[g]), "")
            start, end = m.span("id" if "id" in pattern.groupindex else kind or 0)
            value = window[start:end]
            if any(i.start < end and start < i.end for i in found.values()):
                continue
            if name != "configured" and not _is_identifier(window, start, end, lexicon):
                continue
            word = (m.groupdict().get("word") or "").casefold()
            found[start] = Identifier(
                start=start,
                end=end,
                text=value,
                kind=kind or _kind(word, value, lexicon),
                rule=f"identifier/{name}",
            )
    return tuple(found[k] for k in sorted(found))


def _is_identifier(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    value = text[start:end]
    digits = sum(c.isdigit() for c in value)
    if digits < 2 or (len(value) < 4 and not re.match(r"[A-Za-z]+-\d{2,}", value)):
        return False
    if value.isdigit() and digits < 5:
        return False
    if _DATE.match(value) or _VERSION.match(value) or _MOBILE.match(value):
        return False
    if lexicon.shared["amount_before"].search(text[max(0, start - 4) : start]) or lexicon.shared[
        "amount_after"
    ].match(text[end : end + 10]):
        return False
    if text[end : end + 1] in "./@" and text[end + 1 : end + 2].isalnum():
        return False
    return not lexicon.shared["secret_before"].search(text[max(0, start - _CONTEXT) : start])


def _kind(word: str, value: str, lexicon: Lexicon) -> str:
    spoken = next((kind for kind, words in lexicon.identifier_words.items() if word in words.split("|")), None)
    named = spoken or lexicon.identifier_prefixes.get(word.upper()) or lexicon.kind_of_prefix(value)
    return named or "identifier"


@cache
def _compiled(rows: tuple[tuple[str, str], ...], words: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(match.replace("{words}", words))) for name, match in rows)


def _builtin(lexicon: Lexicon) -> tuple[tuple[str, re.Pattern[str]], ...]:
    words = sorted((w for s in lexicon.identifier_words.values() for w in s.split("|")), key=len, reverse=True)
    rows = tuple((str(r["name"]), str(r["match"])) for r in lexicon.identifiers)
    return _compiled(rows, "|".join(map(re.escape, words)))


@cache
def _extra(patterns: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(("configured", compile_linear(p, name=f"identifier_patterns[{i}]")) for i, p in enumerate(patterns))


def check_patterns(patterns: Sequence[str], lexicon: Lexicon) -> None:
    """ConfigError unless every configured pattern is one that can be searched in linear time, and every group
    in it is ``id``, ``word`` or a kind of identifier."""
    known = {"id", "word", *lexicon.identifier_words}
    for i, (_, pattern) in enumerate(_extra(tuple(patterns))):
        unknown = sorted(pattern.groupindex.keys() - known)
        if unknown:
            raise ConfigError(f"identifier_patterns[{i}]: group {unknown[0]!r} is none of {', '.join(sorted(known))}")
