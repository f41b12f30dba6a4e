"""Counted distances from now: "three days ago", "in two weeks", "the last ten days"."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from .clock import on
from .groups import Groups
from .readings import Clock, Moment, Reading, Span
from .spans import add_months, days, first_of, midnight, step, weekday, whole

_SMALLER = {
    "year": (12, "month"),
    "month": (30, "day"),
    "week": (7, "day"),
    "day": (24, "hour"),
    "hour": (60, "minute"),
    "quarter": (3, "month"),
    "decade": (10, "year"),
    "fortnight": (14, "day"),
}
_SECONDS = {"second": 1, "minute": 60, "hour": 3600}


def _exactly(count: float, unit: str) -> tuple[int, str, str | None]:
    """A count without its fraction, in a smaller unit if need be, and how finely that is then meant."""
    if count == int(count):
        return int(count), unit, None
    factor, smaller = _SMALLER.get(unit, (1, unit))
    loose = "week" if smaller == "day" else None
    return round(count * factor), smaller, loose


def _instant(at: Moment, seconds: int) -> datetime:
    """The moment so many elapsed seconds away, on the user's clock."""
    return (at.now.astimezone(UTC) + timedelta(seconds=seconds)).astimezone(at.zone)


def _at_distance(at: Moment, count: float, unit: str) -> Span:
    amount, unit, loose = _exactly(count, unit)
    if unit in _SECONDS:
        moment = _instant(at, amount * _SECONDS[unit]).replace(second=0, microsecond=0)
        if unit == "hour":
            moment = moment.replace(minute=0)
            return Span(since=moment, until=moment + timedelta(hours=1), precision="hour", relative=True)
        return Span(since=moment, until=moment + timedelta(minutes=1), precision="instant", relative=True)
    day = step(unit, at.today if unit in ("day", "night", "week", "fortnight") else first_of(unit, at.today), amount)
    if unit == "night":
        return replace(on(day, Clock(low=18, high=28, half="night")), relative=True)
    return whole(loose or unit, day)


def count(g: Groups, at: Moment) -> Reading | None:
    """So many units before or after now: the calendar unit found there, the range for a vague count."""
    pair, unit, sign = g.count("n"), g.word("unit"), g.offset("dir")
    if pair is None or unit is None or sign is None:
        return None
    if g.rule.fix.get("plan") and at.prefer == "past" and at.cued:
        return None  # "finished it in two days" tells how long it took
    low, high = pair
    if g.raw("half") is not None:
        low, high = low + 0.5, high + 0.5
    origin = g.offset("day")
    number = g.offset("wd")
    if origin is not None:
        at = replace(at, now=at.now + timedelta(days=origin))
    elif number is not None:
        base = midnight(weekday(replace(at, prefer="future"), number).since.date())
        at = replace(at, now=base.replace(tzinfo=at.now.tzinfo))
    exact = origin is not None or number is not None
    if exact and unit in ("week", "fortnight", "month", "year") and low == high == int(low):
        day = at.today + timedelta(weeks=int(low) * sign) if unit == "week" else step(unit, at.today, int(low) * sign)
        return whole("day", day)
    near, far = _at_distance(at, low * sign, unit), _at_distance(at, high * sign, unit)
    if low == high:
        return near
    first, last = (far, near) if sign < 0 else (near, far)
    return Span(since=first.since, until=last.until, precision="range", relative=True)


def rolling(g: Groups, at: Moment) -> Reading | None:
    """The stretch of so many units that ends, or begins, today."""
    pair, unit = g.count("n"), g.word("unit")
    sign = g.offset("back") if g.offset("back") is not None else g.offset("rel")
    if pair is None or unit is None or not sign:
        return None
    amount, unit, _ = _exactly(pair[1], unit)
    if amount < 1:
        return None
    if unit in _SECONDS:
        other = _instant(at, sign * amount * _SECONDS[unit])
        since, until = (other, at.now) if sign < 0 else (at.now, other)
        return Span(
            since=since, until=until, precision="range", relative=True, direction="past" if sign < 0 else "future"
        )
    distance = add_months(at.today, sign * amount) if unit == "month" else step(unit, at.today, sign * amount)
    low, high = (distance, at.today) if sign < 0 else (at.today, distance)
    return days(low, high + timedelta(days=1), "range", relative=True, direction="past" if sign < 0 else "future")


def recent(g: Groups, at: Moment) -> Reading | None:
    """A vague stretch with its bounds in the lexicon, in days before today."""
    far, near = g.offset("far"), g.offset("near")
    if far is None or near is None:
        return None
    return days(at.today - timedelta(days=far), at.today - timedelta(days=near - 1), "range", relative=True)
