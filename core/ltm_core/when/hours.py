"""Readings of clock times and parts of the day."""

from __future__ import annotations

from dataclasses import replace

from .groups import Groups
from .readings import Clock, Moment


def daypart(g: Groups, at: Moment) -> Clock | None:
    """A part of the day, not yet on any day."""
    return g.daypart()


def clock(g: Groups, at: Moment) -> Clock | None:
    """An hour of some day, told by its meridian, by a part of the day, or not at all."""
    hour, minute = g.number("hh"), g.number("mm")
    if hour is None or not 0 <= hour <= 24:
        return None
    if g.raw("mm") is not None and (minute is None or minute > 59):
        return None
    quarter = g.offset("quarter")
    if quarter is not None:
        minute = quarter
        if quarter < 0:
            hour, minute = (hour - 1) % 24, 60 + quarter
    if hour == 24 and minute:
        return None
    part = g.daypart()
    found = Clock(hour=hour, minute=minute)
    if part is not None:
        if hour > 12 and part.half == "am":
            return None
        found = replace(found, half=part.half, low=part.low, high=part.high)
    meridian = g.word("mer")
    if meridian is not None:
        if not 1 <= hour <= 12:
            return replace(found, half="pm") if hour > 12 and meridian == "pm" else None
        found = replace(found, half="am" if meridian == "am" else "pm")
        if meridian == "am":
            found = replace(found, low=0, high=12)
    elif part is None and (g.raw("hh") or "").startswith("0"):
        found = replace(found, half="am")
    return found
