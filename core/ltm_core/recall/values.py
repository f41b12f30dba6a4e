"""Values that a text states: amounts, money, shares, dates, times of day, versions, each with the words around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Literal, TypeAlias

from ltm_core.recall.data import toml
from ltm_core.text.normalize import nfkc
from ltm_core.text.sentences import sentences
from ltm_core.text.terms import terms
from ltm_core.when import TimeMention, find_times
from ltm_core.when.numbers import chinese

Kind: TypeAlias = Literal["amount", "money", "share", "date", "clock", "version"]
READ = 2000
"""Characters of a text that are read: what is told stands before what is pasted."""
UNIT = 48
"""Characters after a number in which the counted thing is named."""
HAN_UNIT = 6
NEAR = 100
HALF_YEAR = 183
CHANGE_REACH = 60
"""Characters before a value in which the word that tells of a change is looked for."""
AFTER_REACH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value as a text states it."""

    kind: Kind
    value: str
    """Written one way, so that equal values are equal text."""
    unit: frozenset[str]
    """Terms of what is counted; empty for other kinds and where nothing is named."""
    changed: bool
    """A word of change stands by it, or it is what something moves to."""
    near: frozenset[str]
    """Terms within `NEAR` characters of it in its sentence."""
    around: frozenset[str]
    """Terms of the sentence it stands in."""


_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_DIGITS = r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_FIGURE = re.compile(r"\d|[二两兩三四五六七八九十百千万萬]")
_HAN = "[零〇一二两兩三四五六七八九十百千万萬]"


@cache
def _number() -> re.Pattern[str]:
    named = "|".join(sorted(toml("values.toml")["numbers"], key=len, reverse=True))
    return re.compile(
        rf"(?P<version>\bv?\d+\.\d+\.\d+(?:\.\d+)*\b|\bv\d+(?:\.\d+)*\b)"
        rf"|(?P<sign>[$€£¥]\s?)?(?P<digits>(?<![\d.,a-z#/=(+*^-])(?!(?:19|20)\d\d(?!\d))(?:{_DIGITS})(?!\s?[/=+*^])(?:\s?[-–~～至到]\s?(?:{_DIGITS}))?)(?P<scale>\s?k(?![\w])|\s?[万萬千亿億](?:\d+千)?)?"
        rf"|(?<![\w-])(?P<named>(?:{named})(?:-(?:{named}))?)(?![\w-])"
        rf"|(?P<han>(?!百分之){_HAN}+)(?={'[^零〇一二两兩三四五六七八九十百千万萬]'})",
    )


@cache
def _after(name: str) -> re.Pattern[str]:
    parts = [re.escape(w) + (r"(?![a-z])" if w.isalpha() and w.isascii() else "") for w in toml("values.toml")[name]]
    return re.compile(rf"\s?(?:{'|'.join(parts)})")


def any_phrase(phrases: Iterable[str]) -> re.Pattern[str]:
    """Finds any of the phrases in folded text: Latin ones at word boundaries, others anywhere."""
    words = [rf"(?<![a-z]){re.escape(p)}(?![a-z])" if p.isascii() else re.escape(p) for p in phrases]
    return re.compile("|".join(words))


@cache
def _changes() -> re.Pattern[str]:
    table = toml("values.toml")
    return any_phrase(p for name in ("changed", "moved") for phrases in table[name].values() for p in phrases)


@cache
def _moves() -> re.Pattern[str]:
    return any_phrase(p for phrases in toml("values.toml")["moved"].values() for p in phrases)


@cache
def _towards() -> re.Pattern[str]:
    """What stands right before a value that something moves to."""
    return re.compile(rf"(?:{'|'.join(p for forms in toml('values.toml')['towards'].values() for p in forms)})$")


_LATIN_UNIT = re.compile(r"\s?-?([a-z][a-z'\-]*(?:\s+[a-z][a-z'\-]*){0,3})")
_HAN_UNIT = re.compile(rf"\s?([\u4e00-\u9fff\u3041-\u30ff]{{1,{HAN_UNIT}}})")
_SCALES = {"k": 1000, "千": 1000, "万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8}


def values_of(text: str, *, said: datetime) -> list[Value]:
    """The values that ``text`` states, in order; dates only where they lie ahead of ``said``: what is past happened,
    and nothing moves it."""
    return [value for sentence in _sentences(text) for value in _of_sentence(sentence, said)]


def _of_sentence(sentence: str, said: datetime) -> Iterator[Value]:
    if not any(c.isdigit() for c in sentence) and not _number().search(sentence):
        return
    around = frozenset(terms(sentence))
    taken: list[tuple[int, int]] = []

    def value(kind: Kind, shown: str, start: int, end: int, unit: frozenset[str] = frozenset()) -> Value:
        near = around
        if start > NEAR or end + NEAR < len(sentence):
            near &= frozenset(terms(sentence[max(0, start - NEAR) : end + NEAR]))
        changed = _is_changed(sentence, start, end)
        return Value(kind=kind, value=shown, unit=unit, changed=changed, near=near, around=around)

    for mention in find_times(sentence, now=said, prefer="future"):
        if not any(c.isdigit() for c in mention.text) and mention.precision not in ("day", "hour", "instant"):
            continue
        taken.append((mention.start, mention.end))
        if mention.precision in ("hour", "instant"):
            yield value("clock", mention.since.strftime("%H:%M"), mention.start, mention.end)
        elif mention.precision in ("day", "range", "week") and _is_ahead(mention, said):
            # The year of a date without one is a guess; two dates differ by what is written.
            shown = f"{mention.since:%m-%d}/{mention.until:%m-%d}"
            yield value("date", shown, mention.start, mention.end)
    for match in _number().finditer(sentence):
        start, end = match.span()
        if any(start < b and end > a for a, b in taken):
            continue
        if match["version"]:
            yield value("version", match["version"].lstrip("v"), start, end)
            continue
        written = _written(match)
        if written is None:
            continue
        after = sentence[end : end + UNIT]
        if match["sign"] or _after("money_after").match(after):
            yield value("money", written, start, end)
        elif (percent := _after("percent_after").match(after)) or sentence[:start].endswith("百分之"):
            yield value("share", written, start, end + (percent.end() if percent else 0))
        else:
            unit = unit_terms(after)
            if unit or _towards().search(sentence[:start]):
                yield value("amount", written, start, end, unit)


def _is_ahead(mention: TimeMention, said: datetime) -> bool:
    """Whether a date lies ahead of ``said``; one without a year is meant in the half year around it."""
    if mention.relative and not any(c.isdigit() for c in mention.text):
        return mention.direction == "future"
    days = (mention.until - said).days
    return (days + HALF_YEAR) % (2 * HALF_YEAR) >= HALF_YEAR if mention.relative else days >= 0


def _written(match: re.Match[str]) -> str | None:
    if match["digits"]:
        shown = match["digits"].replace(",", "")
        if match["scale"] and re.fullmatch(r"[\d.]+", shown):
            scale = match["scale"].strip()
            return _plain(float(shown) * _SCALES[scale[0]] + 1000 * int(scale[1:-1] or 0))
        return _plain(float(shown)) if re.fullmatch(r"[\d.]+", shown) else re.sub(r"\s?[-–~～至到]\s?", "-", shown)
    named: Mapping[str, int] = toml("values.toml")["numbers"]
    if match["named"]:
        return str(sum(named[w] for w in match["named"].split("-")))
    if match["han"] and match["han"] != "一":
        number = chinese(match["han"].replace("兩", "两"))
        return None if number is None else str(number)
    return None


def _plain(number: float) -> str:
    return f"{number:f}".rstrip("0").rstrip(".")


def unit_terms(after: str) -> frozenset[str]:
    """Terms of what a number counts, from the words after it."""
    found = _LATIN_UNIT.match(after) or _HAN_UNIT.match(after)
    if found is None:
        return frozenset()
    words = found[1]
    if words[0].isascii():
        # Up to the first function word: "150 commits and 12 branches" counts commits.
        named: list[str] = []
        for word in words.split():
            own = terms(word)
            if not own:
                break
            named += own
        return frozenset(named)
    return frozenset(terms(words))


def may_state(text: str) -> bool:
    """Whether a number is written in ``text``, apart from English number words; cheap."""
    return bool(_FIGURE.search(text, 0, READ))


def tells_of_change(text: str) -> bool:
    """Whether a word of change stands in ``text``; cheap."""
    return bool(_changes().search(text[:READ].lower()))


def moves_of(text: str) -> list[frozenset[str]]:
    """The terms of each sentence of ``text`` that says something was moved or called off, whether or not to what."""
    return [frozenset(terms(s)) for s in _sentences(text) if _moves().search(s)]


def _sentences(text: str) -> list[str]:
    text = nfkc(_FENCE.sub(" ", text[: 2 * READ]))[:READ].lower()
    return [span.of(text) for span in sentences(text)]


def _is_changed(sentence: str, start: int, end: int) -> bool:
    before = sentence[max(0, start - CHANGE_REACH) : start]
    near = sentence[max(0, start - CHANGE_REACH) : end + AFTER_REACH]
    return bool(_towards().search(before)) or bool(_changes().search(near))


__all__ = ["Kind", "Value", "any_phrase", "may_state", "moves_of", "tells_of_change", "unit_terms", "values_of"]
