"""Dates beside the relative time words of a memory, read in the day of the one who said them."""

from __future__ import annotations

from datetime import datetime

from ltm_core.when import TimeMention, find_times

HALF_YEAR = 183
"""Days."""


def with_dates(text: str, said: datetime, language: str, *, focus: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    """The text with the date beside each relative time word ("yesterday [2025-03-04]"), and its focus moved along.

    The words are read in the day of the one who said them.
    """
    start, end = focus
    out, last = [], 0
    for mention in find_times(text, now=said, language=language if language != "other" else None, prefer="past"):
        if not mention.relative or mention.direction == "present" or mention.end <= last:
            continue
        if _year_is_a_guess(mention, said):
            continue
        shown = f" [{_range(mention.since, mention.until)}]"
        out += [text[last : mention.end], shown]
        last = mention.end
        if mention.end <= focus[0]:
            start += len(shown)
        if mention.end <= focus[1]:
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


__all__ = ["with_dates"]
