"""Where sentences begin and end, in Chinese, Japanese, English and mixtures of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .data import json_text


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A piece ``[start, end)`` of a text, counted in code points."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The words of this piece of ``text``."""
        return text[self.start : self.end]


_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*$", re.MULTILINE)
_LINE_END = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")

_CLOSERS = "\"'”’」』）】》〉〕)\\]}»*_"
_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3\U00020000-\U0003ffff"
_STOP = re.compile(
    r"(?P<url>(?:https?://|www\.)[^\s\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f“”‘’「」『』<>]*"
    r"[^\s\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f“”‘’「」『』<>.,!?;:)\]'\"])"
    rf"|(?P<wide>[。！？｡]+[。！？｡!?…~～]*[{_CLOSERS}]*)"
    rf"|(?P<dots>(?:…+|\.\.+)[{_CLOSERS}]*)"
    rf"|(?P<bang>[!?][!?…。！？]*[{_CLOSERS}]*)"
    rf"|(?P<point>\.[{_CLOSERS}]*)"
)
_WORD_BEFORE = re.compile(r"[^\W_](?:[^\s(\[\"'“‘]*)$")
_LOOK_BACK = 24
_OPENERS = "\"'“‘([{「『（【《*_#-–—•"


@cache
def _abbreviations() -> tuple[frozenset[str], frozenset[str]]:
    data = json.loads(json_text("abbreviations.json"))
    return frozenset(data["never_end"]), frozenset(data["end_before_capital"])


def sentences(text: str) -> list[Span]:
    """The sentences of ``text`` in order: disjoint, not blank, together all that is not white space.

    A line break ends a sentence; a fenced block of code is one; an address on the web is never cut.
    Time is linear in the length.
    """
    spans: list[Span] = []
    position = 0
    for start, end in _fences(text):
        spans.extend(_in_prose(text, position, start))
        spans.extend(_trimmed(text, start, end))
        position = end
    spans.extend(_in_prose(text, position, len(text)))
    return spans


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Fenced blocks; one that is never closed runs to the end of the text."""
    opened: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opened is None:
            opened = mark
        elif mark[1].startswith(opened[1]) and mark[0].strip() == mark[1]:
            yield opened.start(), mark.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    """The span without white space at its ends, or nothing."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield Span(start=start, end=end)


def _in_prose(text: str, start: int, end: int) -> Iterator[Span]:
    for line_break in _LINE_END.finditer(text, start, end):
        yield from _in_line(text, start, line_break.start())
        start = line_break.end()
    yield from _in_line(text, start, end)


def _in_line(text: str, start: int, end: int) -> Iterator[Span]:
    line_start = start
    for stop in _STOP.finditer(text, start, end):
        if stop.lastgroup != "url" and _ends_sentence(text, stop, line_start, end):
            yield from _trimmed(text, start, stop.end())
            start = stop.end()
    yield from _trimmed(text, start, end)


def _ends_sentence(text: str, stop: re.Match[str], line_start: int, end: int) -> bool:
    """Whether the signs matched by ``stop`` end a sentence that goes on to another one."""
    after = stop.end()
    if after >= end:
        return True
    following = text[after]
    kind = stop.lastgroup
    if kind == "wide":
        # 「行くよ。」と言った: what follows a closing bracket in kana carries the sentence on.
        return not (stop[0][-1] in "」』" and "\u3041" <= following <= "\u3096")
    spaced = following.isspace()
    if kind == "bang":
        return spaced or _is_cjk(following)
    if not spaced and not (kind == "point" and _is_cjk(following)):
        return False
    start_of_next = _next_sign(text, after, end)
    if kind == "dots":
        return start_of_next.isupper() or _is_cjk(start_of_next)
    return _point_ends(text, stop.start(), start_of_next, line_start)


def _point_ends(text: str, point: int, start_of_next: str, line_start: int) -> bool:
    before = _WORD_BEFORE.search(text[max(line_start, point - _LOOK_BACK) : point])
    if before is None:
        return True
    word = before[0].lower()
    if word.isdigit():
        # "1. Buy milk" is an item when nothing stands before the number.
        number = point - len(word)
        return bool(text[max(line_start, number - _LOOK_BACK) : number].strip())
    never, before_capital = _abbreviations()
    if word in never or (len(word) == 1 and word.isascii() and before[0].isupper() and word != "i"):
        return False
    if word in before_capital:
        return start_of_next.isupper() or _is_cjk(start_of_next)
    return True


def _next_sign(text: str, position: int, end: int) -> str:
    """The first character of what comes next, without opening signs; empty when nothing comes near."""
    for ch in text[position : min(end, position + _LOOK_BACK)]:
        if not ch.isspace() and ch not in _OPENERS:
            return ch
    return ""


def _is_cjk(ch: str) -> bool:
    return bool(_CJK_CHARACTER.match(ch))


_CJK_CHARACTER = re.compile(f"[{_CJK}]")
