"""One value of a Chinese statement in the place of another of its kind: a date for a date, a count for one of the
same unit, a like name, or the object of the statement. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.norm import trim

KINDS = ("date", "year", "weekday", "clock", "measure", "money", "grade", "count", "version", "number")
"""What a value can be, by the parts ``right_*`` of the rules; the first that reads the whole value counts."""
_MOST_LONGER, _MOST_SHORTER = 8, 3
"""Characters by which a value without a form of its own may be longer or shorter than the wrong one."""
_MOST_SHORTER_WHOLE = 8
"""The same where the wrong one is all that the statement says of its subject ("是雅马哈F310")."""
_COUNTED = ("measure", "count")
"""Kinds that are a number with what it counts."""
_LONGER = 2
"""Characters by which an object is more than the value that stands in it."""


def is_typed(value: str, parts: Mapping[str, Expression]) -> bool:
    """Whether the value is told by its form: a date, a time, a sum, a count, a version."""
    return bool(_kind(value, parts))


def typed_in(text: str, parts: Mapping[str, Expression]) -> Iterator[tuple[str, re.Match[str]]]:
    """What stands in the text that is told by its form, with its kind; none overlaps another."""
    taken: list[tuple[int, int]] = []
    for kind in KINDS:
        for m in parts[f"right_{kind}"].finditer(text):
            if not any(a < m.end() and m.start() < b for a, b in taken):
                taken.append(m.span())
                yield kind, m


def put(text: str, held: str, value: str, parts: Mapping[str, Expression]) -> tuple[str, str]:
    """The part of ``text`` in whose place ``value`` goes, and the text with it; two empty ones when there is none.
    ``held``: the object of the statement."""
    kind = _kind(value, parts)
    if kind:
        return _like(text, value, kind, parts)
    wrong = _object(text, held, value, parts) or _alike(text, value) or _city(text, value, parts)
    whole = _behind(text, parts)
    wrong = wrong or whole
    apart = len(value) - len(wrong)
    shorter = _MOST_SHORTER_WHOLE if wrong == whole and len(value) > 1 else _MOST_SHORTER
    if not wrong or not apart <= _MOST_LONGER or apart < -shorter or wrong == value or is_typed(wrong, parts):
        return "", ""
    at = text.rfind(wrong)
    return wrong, text[:at] + value + text[at + len(wrong) :]


def _kind(value: str, parts: Mapping[str, Expression]) -> str:
    return next((k for k in KINDS if parts[f"right_{k}"].fullmatch(value)), "")


def _like(text: str, value: str, kind: str, parts: Mapping[str, Expression]) -> tuple[str, str]:
    """The one value of the kind, of the same unit where it counts something; a bare number also stands for the one
    count of the text ("五十三" for "五十二个人")."""
    found = [m for k, m in typed_in(text, parts) if k == kind]
    if kind == "number" and not found:
        counted = [m for k, m in typed_in(text, parts) if k in _COUNTED]
        if len(counted) == 1 and counted[0]["n"] != value:
            at, end = counted[0].span("n")
            return text[at:end], text[:at] + value + text[end:]
    told = parts[f"right_{kind}"].fullmatch(value)
    if told is not None and "unit" in told.re.groupindex:
        found = [m for m in found if _one_unit(m["unit"], told["unit"])]
    if len(found) != 1 or found[0].group() == value:
        return "", ""
    m = found[0]
    end = m.end()
    if told is not None and "part" in told.re.groupindex and not told["part"] and m["part"]:
        end = m.start("part")  # another day, at the same time of it
    return text[m.start() : end], text[: m.start()] + value + text[end:]


def _one_unit(one: str, two: str) -> bool:
    """Whether two measure words count the same ("来号人", "人")."""
    return one in two or two in one or one[-1] == two[-1]


def _alike(text: str, value: str) -> str:
    """The stretch that is written like the value: its last character, or its first two, and half of them all."""
    size = len(value)
    if size < 2 or value.isascii():
        return ""
    best, most = "", 0
    for i in range(len(text) - size + 1):
        part = text[i : i + size]
        same = sum(a == b for a, b in zip(part, value, strict=True))
        ends = part[-1] == value[-1] and part[0] == value[0] if size == 2 else part[-2:] == value[-2:]
        begins = size > 2 and part[:1] == value[:1] and same * 2 >= size
        if same * 2 >= size and (ends or begins) and same > most and same < size:
            best, most = part, same
    return best


def _city(text: str, value: str, parts: Mapping[str, Expression]) -> str:
    """The one city or province that the text names, for another."""
    if parts["city"].fullmatch(value) is None:
        return ""
    found = {
        text[i : i + n] for n in (2, 3) for i in range(len(text) - n + 1) if parts["city"].fullmatch(text[i : i + n])
    }
    longest = [c for c in found if not any(c != o and c in o for o in found)]
    return longest[0] if len(longest) == 1 else ""


def _object(text: str, held: str, value: str, parts: Mapping[str, Expression]) -> str:
    """The object of the statement without what stands around a value; "" for one that holds more than a value."""
    if held == text or not held:
        return ""
    m = parts["right_value"].search(held)
    inner = trim(m["value"] or m["before"]) if m is not None else parts["right_tail"].sub("", held)
    long = len(inner) > len(value) + _LONGER and bool(_alike(inner, value))
    return inner if inner and inner in text and not long else ""


def _behind(text: str, parts: Mapping[str, Expression]) -> str:
    """What stands behind the last "是", "在", "叫" of the statement."""
    m = parts["right_value"].search(text)
    return trim(m["value"] or m["before"]) if m is not None else ""
