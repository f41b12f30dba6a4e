"""Identifiers that are known by the paper or matter they are told of and by being written as a code: in groups, with
signs, letters and figures mixed ("parcel JD0146 0003 8871 55", "they logged my rucksack as LP~0091~blue").

The shapes of `identifiers.toml` name every way in which a number may stand; here a code is cut out first, and then
its neighbourhood says whether it numbers something. Data: ``coded`` of `identifiers.toml`. Pure and linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from ltm_core.write.words.expressions import Expression

_CODE = re.compile(
    r"(?<![A-Za-z0-9_./@~+-])(?:[A-Z]{1,6} |(?<=[写是号:：面])[一-鿿]{1,2}-(?=\d))?"
    r"(?=[A-Za-z~/._-]{0,24}(?:[-/][一-鿿]{1,4}[-/][A-Za-z0-9-]{0,12})?\d)"
    r"[A-Za-z0-9]+(?:[-_/.~:](?:[A-Za-z0-9]+|[一-鿿]{1,4}(?=[-/]))){0,8}"
    r"(?: ?/? ?(?:(?=[A-Z]{0,4}[-/.]?\d)[A-Z0-9]+(?:[-_/.][A-Za-z0-9]+){0,4}|[A-Z]{1,3}(?![A-Za-z]))){0,8}"
    r"(?![A-Za-z0-9_@])"
)
"""A stretch of groups of letters and figures, the first of which holds a figure or stands before one that does."""
_CHINESE = re.compile(r"[一-鿿]")
_GROUP = re.compile(r" ?/ ?| ")
_ALNUM = re.compile(r"[A-Za-z0-9]")
_LOWER_WORD = re.compile(r"[a-z]{3,}")
_COUNTED = re.compile(r"\d+(?:-[a-z]+)+$")
_NUMBERS_ONLY = re.compile(
    r"(?:\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{2,4})?|\d{1,2}:\d\d(?::\d\d)?"
    r"|\d{1,3}-\d{1,3}|\d{1,3}/\d{1,3}|v?\d+(?:\.\d+)+)\.?$"
)
"""Dates, times, addresses of machines, versions, scores and readings."""
_PHONE = re.compile(
    r"0\d{2,5}[- ]\d|(?:1[- ])?\d{3}[- ]\d{3}[- ]\d{4}$|\d{3}-\d{4}$"
    r"|1[3-9]\d[- ]?\d{4}[- ]?\d{4}$|400[- ]?\d{3,4}[- ]?\d{3,4}$"
)
"""Numbers that people are called on, unless they are said to number something."""
_POSTCODE = re.compile(r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$")
MOST_CODES = 200
"""Codes of one message that are looked at."""
_LOOK_BACK = 60
"""Characters before a code in which the word for what it numbers may stand."""
_LOOK_ON = 24
_STRONG = 5
"""Letters and figures of a code that mixes them, from which it may stand apart from what it numbers."""
_FIGURES = 5
"""Figures of one that has no letters, in groups or with signs."""
_BESIDE, _SAID = 1, 2
"""How a code is marked: it stands beside the word for what it numbers, or that is said to be a number."""
_LEAST = 2
"""Figures of one with letters."""
_IN_GROUPS = 4
"""The same of one in groups ("CT 380" is a price) or with a word ("over-40s")."""
_ONE_GROUP = 7
"""Figures of one that is a single number: below, it may be a sum or a count."""


def cut(text: str, parts: Mapping[str, Expression]) -> Iterator[tuple[int, int]]:
    """Where codes stand in a text, whatever they may be of; a text of more than ``MOST_CODES`` is a table."""
    for m in islice(_CODE.finditer(text), MOST_CODES):
        start, end = _trimmed(text, *m.span(), parts)
        start += without_lead(text[start:end], parts)
        if any(c.isdigit() for c in text[start:end]):
            yield start, end


def numbered(text: str, start: int, end: int, parts: Mapping[str, Expression]) -> str | None:
    """The word that says what a code numbers, "" when only a mark says that it numbers something; None when nothing
    does, or when it is a number of another sort (a price, a phone, a version, a model)."""
    value = text[start:end]
    before = _clause_before(text, start, parts)
    of = "_zh" if _CHINESE.search(before) else ""
    if _POSTCODE.match(value) or parts[f"other{of}"].search(before) is not None:
        return None
    told = parts[f"adjacent{of}"].search(before)
    says = told.groupdict() if told is not None else {}
    marked = 0
    if told is not None:
        marked = _SAID if says.get("mark") or says.get("alone") else _BESIDE
    if told is None and _is_strong(value):
        told = parts[f"apart{of}"].search(before)
    if told is None or not _is_code(value, parts, marked=marked):
        return None
    word = (told.groupdict().get("word") or "").casefold()
    if not word and (_PHONE.match(value) or (says.get("courier") and _figures(value) < _FIGURES)):
        return None  # "my number is 07700 900318", "淘宝88VIP"
    return word


def without_lead(value: str, parts: Mapping[str, Expression]) -> int:
    """Where in a number that begins with characters the number begins ("编的是张政信访〔2024〕38号")."""
    lead = parts["lead_zh"].match(value)
    return lead.end() if lead is not None else 0


def written_like(value: str) -> str:
    """How a code is written, whatever its figures and letters are; "" of one that many things are written like."""
    if not _is_strong(value) and _figures(value) < _FIGURES:
        return ""
    return "".join("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in value)


def widened(text: str, start: int, end: int, parts: Mapping[str, Expression]) -> tuple[int, int]:
    """The whole code of which a shape found a part ("HC-20-77154-M" of "HC-20-77154"); the span itself when it is
    whole."""
    for m in _CODE.finditer(text, max(0, start - 8)):
        if m.start() > start:
            break
        first, last = _trimmed(text, *m.span(), parts)
        if first <= start and end <= last and text[start:last].count(" ") <= 8:
            return (first if _ALNUM.match(text, first) else start), last
    return start, end


def _trimmed(text: str, start: int, end: int, parts: Mapping[str, Expression]) -> tuple[int, int]:
    """The code without the word for what it numbers before it, and without the count, time or article behind it."""
    lead = parts["abbreviation"].match(text[start:end])
    if lead is not None:
        start += lead.end()
    for gap in reversed(list(_GROUP.finditer(text, start, end))):
        if _goes_with(text[gap.end() : end], text[end : end + _LOOK_ON], parts):
            break
        end = gap.start()
    return start, end


def _goes_with(last: str, after: str, parts: Mapping[str, Expression]) -> bool:
    """Whether a last group belongs to the code before it."""
    if parts["measured"].match(last) is not None or parts["counted"].match(after) is not None:
        return False
    if last.isalpha():
        return last != "I" and parts["closes"].match(after) is not None
    return True


def _clause_before(text: str, start: int, parts: Mapping[str, Expression]) -> str:
    before = text[max(0, start - _LOOK_BACK) : start]
    ends = [m.end() for m in parts["sentence_end"].finditer(before)]
    return before[ends[-1] :] if ends else before


def _is_strong(value: str) -> bool:
    """Whether it is written as nothing but a code is: capitals and figures, in groups or with signs."""
    figures, letters = _figures(value), _letters(value)
    if _LOWER_WORD.search(value) or figures < (_IN_GROUPS if " " in value else _LEAST):
        return False
    return letters > 0 and figures + letters >= _STRONG


def _is_code(value: str, parts: Mapping[str, Expression], *, marked: int) -> bool:
    """Whether it may be a code rather than a date, a time, a measure or a count. ``marked``: 1 when it stands beside
    the word for what it numbers, 2 when that is said to be a number."""
    figures, letters = _figures(value), _letters(value)
    if parts["measured"].match(value) is not None or _COUNTED.match(value) is not None:
        return False
    if _LOWER_WORD.search(value) and figures < _IN_GROUPS:
        return False
    if _PHONE.match(value) and marked < _SAID:
        return False
    if _NUMBERS_ONLY.match(value) and (marked < _SAID or figures <= _FIGURES):
        return False
    if letters:
        return figures >= _LEAST and figures + letters >= _STRONG
    if value.isdigit() and marked < _SAID:
        return bool(marked) and figures >= _ONE_GROUP
    return bool(marked) and figures >= _FIGURES


def _figures(value: str) -> int:
    return sum(map(str.isdigit, value))


def _letters(value: str) -> int:
    return sum(map(str.isalpha, value))
