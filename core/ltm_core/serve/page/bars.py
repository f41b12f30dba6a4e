"""When the values of a slot held, as bars of one common time line. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ltm_core.types import FactSpan

WIDTH = 1000
"""Units of the whole line; a picture scales them."""
_LEAST = 12
"""A value that held for a moment is still seen."""


@dataclass(frozen=True, slots=True)
class Bar:
    """From where to where in units of `WIDTH`."""

    start: int
    width: int


def bars(spans: Sequence[FactSpan], *, now: datetime) -> tuple[Bar, ...]:
    """One bar per span, on the line from the first beginning to now, or to the last known end if that is later."""
    if not spans:
        return ()
    first = min(s.since for s in spans)
    last = max(now, *(s.until or s.since for s in spans))
    whole = (last - first).total_seconds() or 1.0
    out = []
    for span in spans:
        until = now if span.until is None else span.until
        start = round(WIDTH * (span.since - first).total_seconds() / whole)
        end = round(WIDTH * (max(until, span.since) - first).total_seconds() / whole)
        start = min(start, WIDTH - _LEAST)
        out.append(Bar(start, max(end - start, _LEAST)))
    return tuple(out)


__all__ = ["WIDTH", "Bar", "bars"]
