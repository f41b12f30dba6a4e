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

_DATE = re.compile(
    r"(?:19|20)\d\d[-/.年]?(?:0?[1-9]|1[0-2])(?:[-/.月]?(?:0?[1-9]|[12]\d|3[01])日?)?$|\d{1,2}[-/]\d{1,2}(?:[-/]\d{2,4})?$"
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+$", re.I)
_MOBILE = re.compile(r"1[3-9]\d{9}$")
_UNSAFE = re.compile(r"\([^)]*[+*][^)]*\)[+*{]|\\\d|\(\?P=")
_MAX_TEXT = 200_000
_CONTEXT = 14
_LEAST_KNOWN = 5
"""Characters of a known identifier that is recognised anywhere: "A12" may be anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """One identifier with its span and what it names (order, contract, …)."""

    start: int
    end: int
    text: str
    kind: str
    rule: str


def find_identifiers(
    text: str, lexicon: Lexicon, patterns: Sequence[str] = (), *, known: Sequence[str] = ()
) -> tuple[Identifier, ...]:
    """Identifiers of a message in order, none twice, none overlapping. ``text`` may be masked.

    ``known``: identifiers of earlier messages, recognised again without the word that told their sort.
    """
    window = text[:_MAX_TEXT]
    if not any(c.isdigit() for c in window):
        return ()
    found: dict[int, Identifier] = {}
    for name, pattern in (*_builtin(lexicon), *_extra(tuple(patterns))):
        for m in pattern.finditer(window):
            group = "id" if "id" in pattern.groupindex else 0
            start, end = m.span(group)
            value = window[start:end]
            if any(i.start < end and start < i.end for i in found.values()):
                continue
            if name != "configured" and not _is_identifier(window, start, end, lexicon):
                continue
            word = (m.groupdict().get("word") or "").casefold()
            found[start] = Identifier(
                start=start, end=end, text=value, kind=_kind(word, value, lexicon), rule=f"identifier/{name}"
            )
    for value in known:
        if len(value) < _LEAST_KNOWN or not any(c.isdigit() for c in value):
            continue
        for m in re.finditer(rf"(?<![A-Za-z0-9_]){re.escape(value)}(?![A-Za-z0-9_])", window):
            if not any(i.start < m.end() and m.start() < i.end for i in found.values()):
                kind = _kind("", value, lexicon)
                found[m.start()] = Identifier(
                    start=m.start(), end=m.end(), text=value, kind=kind, rule="identifier/known"
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
    """The configured patterns; nested repeats and back references are refused, they can take exponential time."""
    made = []
    for i, pattern in enumerate(patterns):
        if _UNSAFE.search(pattern) or len(pattern) > 500:
            raise ConfigError(f"identifier_patterns[{i}]: nested repeats and back references are not allowed")
        try:
            made.append(("configured", re.compile(pattern)))
        except re.error as e:
            raise ConfigError(f"identifier_patterns[{i}] is not a regular expression: {e}") from e
    return tuple(made)
