"""The values that English words give to what has one at a time: a sum, a time of day, a way to get about. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from ltm_core.write.known.sorts import named_things
from ltm_core.write.words.load import default_lexicon

_TOKEN = re.compile(r"\d[\d,]*(?:[.:]\d+)*|[a-z]+|[£$€¥%]", re.I)
_NOON = 12 * 60
_HOUR = 60
_HOURS = ("hour", "hour2", "hour3", "hour4", "hour5", "hour6")
"""Groups of which one holds the hour of a time of day."""


def values(text: str, kind: str) -> frozenset[str]:
    """The values of the kind that the text names, each in one form: "half past six" is "6:30", "fifteen" is "15"."""
    if kind == "time":
        return _times(text)
    if kind in ("amount", "number"):
        return _numbers(text, counted=kind == "amount")
    return _listed(text, kind)


@lru_cache(maxsize=4096)
def _listed(text: str, kind: str) -> frozenset[str]:
    """Those that the lexicon lists by their words, or the names of one sort."""
    listed = default_lexicon().kinds.get(kind)
    if listed is None:
        return named_things(text).get(kind, frozenset())
    return frozenset(name for name, worded in listed.items() if worded.search(text) is not None)


@lru_cache(maxsize=4096)
def _times(text: str) -> frozenset[str]:
    """Times of day, on a clock of twelve hours."""
    found = set()
    for m in default_lexicon().rules("en").parts["clock_time"].finditer(text):
        near, minute = (v and v.lower() for v in (m["near"], m["minute"] or m["minute2"]))
        hour = next((m[g].lower() for g in _HOURS if m[g]), "")
        at = (_number(hour) or 0) * _HOUR
        if near:
            off = 30 if "half" in near else 15 if "quarter" in near else _number(near.split()[0]) or 0
            at += -off if near.endswith(("to", "before")) else off
        elif minute:
            at += 45 if "five" in minute else _number(minute) or 0
        at %= _NOON
        found.add(f"{at // _HOUR}:{at % _HOUR:02}")
    return frozenset(found)


@lru_cache(maxsize=4096)
def _numbers(text: str, *, counted: bool) -> frozenset[str]:
    """Numbers in figures or words. ``counted``: without those that only order or date, or tell a time of day."""
    parts = default_lexicon().rules("en").parts
    if counted:
        text = parts["no_amount"].sub(" | ", text)
    out: set[str] = set()
    run: list[int] = []
    for token in [*_TOKEN.findall(text.lower()), "|"]:
        if token[0].isdigit():
            out |= _total(run)
            run = []
            out.add(token.replace(",", "").removesuffix(".00"))
            continue
        n = _number(token)
        if n is not None:
            run.append(n)
        elif not (run and token in ("and", "a")):
            out |= _total(run)
            run = []
    return frozenset(out)


def _total(run: list[int]) -> set[str]:
    """What a run of number words says: "a hundred and five"."""
    total = part = 0
    for n in run:
        if n >= 1000:
            total, part = total + max(part, 1) * n, 0
        elif n == 100:
            part = max(part, 1) * n
        else:
            part += n
    return {str(total + part)} if run else set()


def _number(word: str) -> int | None:
    return int(word) if word.isdigit() else default_lexicon().numbers.get(word)
