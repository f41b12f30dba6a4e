"""Dates beside the relative time words of a memory, read in the day of the one who said them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

from ltm_core.when import TimeMention, find_times

HALF_YEAR = 183
"""Days."""


Shown: TypeAlias = tuple[int, str]
"""Where a relative time word ends, and the date to show behind it."""


def shown_dates(text: str, said: datetime, language: str) -> tuple[Shown, ...]:
    """The date of each relative time word of ``text``, read in the day of the one who said it; in order."""
    out: list[Shown] = []
    last = 0
    for mention in find_times(text, now=said, language=language if language != "other" else None, prefer="past"):
        if not mention.relative or mention.direction == "present" or mention.end <= last:
            continue
        if _year_is_a_guess(mention, said):
            continue
        out.append((mention.end, f" [{_range(mention.since, mention.until)}]"))
        last = mention.end
    return tuple(out)


def with_dates(text: str, dates: Sequence[Shown], *, focus: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    """The text with its dates in place ("yesterday [2025-03-04]"), and its focus moved along."""
    start, end = focus
    out, last = [], 0
    for at, shown in dates:
        out += [text[last:at], shown]
        last = at
        if at <= focus[0]:
            start += len(shown)
        if at <= focus[1]:
            end += len(shown)
    return "".join([*out, text[last:]]), (start, end)


def _year_is_a_guess(mention: TimeMention, said: datetime) -> bool:
    """A day without a year whose next occurrence is nearer than the one that was read ("moved to June 17")."""
    named = mention.precision in ("day", "hour", "instant", "range") and any(c.isdigit() for c in mention.text)
    return named and abs((mention.since - said).days) > HALF_YEAR


def _range(since: datetime, until: datetime) -> str:
    """A day, or first and last day."""
    first, last = since.date(), until.date()
    if until > since and (until.hour, until.minute, until.second, until.microsecond) == (0, 0, 0, 0):
        last = type(last).fromordinal(last.toordinal() - 1)
    return first.isoformat() if last <= first else f"{first.isoformat()} – {last.isoformat()}"


__all__ = ["Shown", "shown_dates", "with_dates"]
