"""Identifiers of orders, contracts, quotes, tickets, parcels: anchors that are kept verbatim.

Not identifiers: dates, times, prices, versions, phone numbers, verification codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from ltm_core.errors import ConfigError
from ltm_core.write.anchors.coded import cut, numbered, widened, without_lead, written_like
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.linear import compile_linear

_DATE = re.compile(
    r"(?:19|20)\d\d(?:[-/.年](?:0?[1-9]|1[0-2])(?:[-/.月](?:0?[1-9]|[12]\d|3[01])日?)?"
    r"|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])?)$|\d{1,2}[-/]\d{1,2}(?:[-/]\d{2,4})?$"
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+$", re.I)
_MOBILE = re.compile(r"1[3-9]\d{9}$")
_YEAR = re.compile(r"(?:19|20)\d\d$")
_SERIES = re.compile(r"(?P<head>[A-Z]{1,6}[-_/]?)(?P<number>\d{2,})$")
_SHORT_KEY = re.compile(r"[A-Za-z]+-\d{2,}")
_WITH_CHARACTERS = ("document", "lettered")
"""Shapes of numbers that begin with characters."""
_DAY_DIGITS = 8
"""Digits of a day written without signs, which a number said to be one may look like ("病历号20230911")."""
_MAX_TEXT = 200_000
_CONTEXT = 14
_CONFIGURED = "configured"
_BY_SHAPE = frozenset(f"identifier/{shape}" for shape in ("prefixed", "carrier", "shaped", "key", "known"))
"""Rules that read an identifier without a word that says of what it is: what was told of it before counts more."""
_PARTS = frozenset({"id", "word", "mark", "says", "hash"})
_ONLY_MARKED = frozenset({"member"})
"""Whose plain numbers are mostly counts ("1500 customers")."""
_GENERAL = "identifier"
"""What words name that mostly stand beside counts and sums ("job", "file"): only a number said to be one counts."""
_PRICED = frozenset({"quote", "invoice"})
"""Whose plain numbers are mostly sums of money ("the quote is 12000")."""
_COUNTED_LOW = frozenset({"ticket", "case", "booking"})
"""Which are numbered from one, so that four digits are common."""


@dataclass(frozen=True, slots=True)
class _Shape:
    name: str
    pattern: re.Pattern[str]
    beside: re.Pattern[str] | None


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
    text: str,
    lexicon: Lexicon,
    patterns: Sequence[str] = (),
    *,
    known: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
) -> tuple[Identifier, ...]:
    """Identifiers of a message in order, none twice, none overlapping. ``text`` may be masked.

    ``known``: identifiers of earlier messages, recognised again without the word that told their sort; ``kinds``:
    what they are of.
    """
    window = text[:_MAX_TEXT]
    if not patterns and not any(map(str.isdigit, window)):
        return ()
    found: dict[int, Identifier] = {}
    taken = bytearray(len(window))
    # The deployment knows its own identifiers better than we do.
    for shape in (*_extra(tuple(patterns)), *_builtin(lexicon)):
        if shape.beside is not None and not shape.beside.search(window):
            continue
        for m in shape.pattern.finditer(window):
            groups = shape.pattern.groupindex
            kind = next((g for g in groups if g not in _PARTS and m[g]), "")
            start, end = m.span("id" if "id" in groups else kind or 0)
            if shape.name in _WITH_CHARACTERS:
                start += without_lead(window[start:end], lexicon.identifier_codes)
            if taken.find(1, start, end) >= 0:
                continue
            said = {k: v or "" for k, v in m.groupdict().items()}
            kind = kind or _kind(said.get("word", "").casefold(), window[start:end], lexicon)
            if shape.name != _CONFIGURED and not _is_identifier(window, start, end, kind, said, lexicon):
                continue
            rule = f"identifier/{shape.name}"
            _keep(Identifier(start=start, end=end, text=window[start:end], kind=kind, rule=rule), found, taken)
    if lexicon.identifier_codes:
        _add_codes(window, lexicon, found, taken)
    for value in known:
        if not any(c.isdigit() for c in value):
            continue
        # A short number is a count unless the sign says that it is a name.
        before = r"(?<=#)" if len(value) < _LEAST_KNOWN else "(?<![A-Za-z0-9_])"
        for m in re.finditer(rf"{before}{re.escape(value)}(?![A-Za-z0-9_])", window):
            if taken.find(1, m.start(), m.end()) < 0:
                kind = _kind("", value, lexicon)
                known_ = Identifier(start=m.start(), end=m.end(), text=value, kind=kind, rule="identifier/known")
                _keep(known_, found, taken)
    for start, end, kind in _alike(window, list(found.values()), taken):
        found[start] = Identifier(start=start, end=end, text=window[start:end], kind=kind, rule="identifier/alike")
    told = kinds or {}
    return tuple(
        replace(i, kind=told[i.text]) if i.text in told and (i.kind == _GENERAL or i.rule in _BY_SHAPE) else i
        for _, i in sorted(found.items())
    )


def _keep(one: Identifier, found: dict[int, Identifier], taken: bytearray) -> None:
    found[one.start] = one
    taken[one.start : one.end] = b"\1" * (one.end - one.start)


def _add_codes(window: str, lexicon: Lexicon, found: dict[int, Identifier], taken: bytearray) -> None:
    """What is found so far as the whole codes of which it is a part, and the other codes that number something."""
    for i in list(found.values()):
        if i.rule == f"identifier/{_CONFIGURED}":
            continue
        start, end = widened(window, i.start, i.end, lexicon.identifier_codes)
        if (start, end) != (i.start, i.end) and taken.find(1, start, i.start) < 0 and taken.find(1, i.end, end) < 0:
            del found[i.start]
            _keep(replace(i, start=start, end=end, text=window[start:end]), found, taken)
    shapes = {written_like(i.text): i.kind for i in found.values()}
    for start, end in cut(window, lexicon.identifier_codes):
        if taken.find(1, start, end) >= 0 or _is_amount(window, start, end, lexicon):
            continue
        value = window[start:end]
        word = numbered(window, start, end, lexicon.identifier_codes)
        alike = written_like(value)
        if word is None and (not alike or alike not in shapes):
            continue
        kind = _kind(word, value, lexicon) if word is not None else shapes[alike]
        shapes.setdefault(alike, kind)
        _keep(Identifier(start=start, end=end, text=value, kind=kind, rule="identifier/coded"), found, taken)


def _alike(window: str, found: Sequence[Identifier], taken: bytearray) -> Iterator[tuple[int, int, str]]:
    """What is written like an identifier of the same message ("GX-201 is signed, GX-202 is stuck")."""
    for one in found:
        shape = _SERIES.match(one.text)
        if shape is None:
            continue
        again = re.compile(
            rf"(?<![A-Za-z0-9_-]){re.escape(shape['head'])}\d{{{len(shape['number'])}}}(?![A-Za-z0-9_-])"
        )
        for m in again.finditer(window):
            if taken.find(1, m.start(), m.end()) < 0:
                taken[m.start() : m.end()] = b"\1" * len(m.group())
                yield m.start(), m.end(), one.kind


def _is_identifier(text: str, start: int, end: int, kind: str, said: Mapping[str, str], lexicon: Lexicon) -> bool:
    value = text[start:end]
    digits = sum(c.isdigit() for c in value)
    marked = bool(said.get("mark") or said.get("hash"))
    if not _long_enough(value, digits, kind, said, marked=marked):
        return False
    numbered = marked and len(value) == _DAY_DIGITS and value.isdigit()
    if (_DATE.match(value) and not numbered) or _VERSION.match(value) or (_MOBILE.match(value) and not marked):
        return False
    if _is_amount(text, start, end, lexicon):
        return False
    return not lexicon.shared["secret_before"].search(text[max(0, start - _CONTEXT) : start])


def _is_amount(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    """Whether what stands around a number says that it is an amount, or part of an address."""
    if lexicon.shared["amount_before"].search(text[max(0, start - 4) : start]):
        return True
    if lexicon.shared["amount_after"].match(text[end : end + 10]):
        return True
    return text[end : end + 1] in "./@" and text[end + 1 : end + 2].isalnum()


def _long_enough(value: str, digits: int, kind: str, said: Mapping[str, str], *, marked: bool) -> bool:
    """Whether it is more than a count or an amount: the less the words before it say that a number follows, the
    longer it must be."""
    if kind in _ONLY_MARKED and not marked:
        return False
    says = bool(said.get("says", "").strip())
    slip = said.get("word", "").endswith("单")  # "退货单 R-559102": a form that is numbered
    if kind == _GENERAL and said.get("word") and not (marked or slip) and (value.isdigit() or not says):
        return False
    if not value.isdigit():
        if marked and digits == 1:
            return len(value) >= 4 and value.isalnum() and value == value.upper()
        return digits >= 2 and (len(value) >= 4 or bool(_SHORT_KEY.match(value)))
    if marked:
        by_sign = bool(said.get("hash")) or "#" in said.get("mark", "")
        return digits >= (2 if by_sign else 3) and (by_sign or not _YEAR.match(value))
    if int(value) % (100 if kind in _PRICED else 1000) == 0 or (kind in _PRICED and says) or _YEAR.match(value):
        return False
    low = kind in _COUNTED_LOW or " " in said.get("word", "") or said.get("word", "").casefold() == "po"
    return digits >= (6 if says else 4 if low else 5)


def _kind(word: str, value: str, lexicon: Lexicon) -> str:
    spoken = next((kind for kind, words in lexicon.identifier_words.items() if word in words.split("|")), None)
    named = spoken or lexicon.identifier_prefixes.get(word.upper()) or lexicon.kind_of_prefix(value)
    return named or "identifier"


@cache
def _compiled(rows: tuple[tuple[str, str, str], ...], words: str) -> tuple[_Shape, ...]:
    return tuple(
        _Shape(name, re.compile(match.replace("{words}", words)), re.compile(beside) if beside else None)
        for name, match, beside in rows
    )


def _builtin(lexicon: Lexicon) -> tuple[_Shape, ...]:
    neighbours = lexicon.identifier_neighbours
    rows = tuple(
        (str(r["name"]), str(r["match"]), neighbours[r["beside"]] if "beside" in r else "")
        for r in lexicon.identifiers
    )
    return _compiled(rows, _alternatives(tuple(lexicon.identifier_words.values())))


@cache
def _alternatives(spoken: tuple[str, ...]) -> str:
    words = sorted((w for s in spoken for w in s.split("|")), key=len, reverse=True)
    return "|".join(map(re.escape, words))


@cache
def _extra(patterns: tuple[str, ...]) -> tuple[_Shape, ...]:
    return tuple(
        _Shape(_CONFIGURED, compile_linear(p, name=f"identifier_patterns[{i}]"), None) for i, p in enumerate(patterns)
    )


def check_patterns(patterns: Sequence[str], lexicon: Lexicon) -> None:
    """ConfigError unless every configured pattern is one that can be searched in linear time, and every group
    in it is ``id``, ``word`` or a kind of identifier."""
    known = {"id", "word", "identifier", *lexicon.identifier_words}
    for i, shape in enumerate(_extra(tuple(patterns))):
        unknown = sorted(shape.pattern.groupindex.keys() - known)
        if unknown:
            raise ConfigError(f"identifier_patterns[{i}]: group {unknown[0]!r} is none of {', '.join(sorted(known))}")
