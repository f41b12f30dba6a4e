"""Times of day: how an hour, a part of the day and a day make a range."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from .readings import Clock, Span
from .spans import midnight


def merge(outer: Clock, inner: Clock) -> Clock:
    """``inner`` told more closely by ``outer``: "evening" and "at 8" make 8 p.m."""
    if inner.hour is None:
        return outer if outer.hour is not None else inner
    merged = replace(inner, half=inner.half or outer.half, low=outer.low, high=outer.high)
    if inner.until is not None:
        merged = replace(merged, until=merge(outer, inner.until))
    return merged


def _hour(clock: Clock) -> int:
    hour = clock.hour or 0
    if clock.half == "am":
        return 0 if hour == 12 and (clock.low is None or clock.low == 0) else hour
    if clock.half == "pm":
        return hour + 12 if hour < 12 else hour
    if clock.half == "night":
        if hour == 12:
            return 24
        return hour + 24 if hour < 5 else hour + 12 if hour < 12 else hour
    # Nobody plans for three at night without saying so.
    return hour + 12 if 1 <= hour <= 6 else hour


def on(day: date, clock: Clock, *, bare_hours: bool = True) -> Span:
    """The range the clock means on ``day``; an hour without minutes lasts an hour."""
    base = midnight(day)
    if clock.hour is None:
        low, high = clock.low or 0, clock.high or 24
        return Span(
            since=base + timedelta(hours=low),
            until=base + timedelta(hours=high),
            precision="hour",
            day=day,
            clock=clock,
        )
    hour = _hour(clock) if bare_hours or clock.half else clock.hour
    since = base + timedelta(hours=hour, minutes=clock.minute or 0)
    exact = clock.minute is not None
    until = since + (timedelta(minutes=1) if exact else timedelta(hours=1))
    if clock.until is not None:
        close = clock.until
        closing = on(day, replace(close, half=close.half or clock.half) if close.hour else close).since
        if closing <= since:
            closing += timedelta(hours=12 if closing + timedelta(hours=12) > since else 24)
        return Span(since=since, until=closing, precision="range", day=day, clock=clock)
    return Span(since=since, until=until, precision="instant" if exact else "hour", day=day, clock=clock)
