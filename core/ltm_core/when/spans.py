"""Ranges on the calendar: days, weeks from Monday, months, seasons, and how to step from one to another."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import date, datetime, time, timedelta

from .readings import Moment, Span
from .types import Direction, Precision

_PRECISION: dict[str, Precision] = {"day": "day", "week": "week", "month": "month", "year": "year"}


def midnight(day: date) -> datetime:
    return datetime.combine(day, time())


def days(
    first: date,
    after: date,
    precision: Precision,
    *,
    relative: bool = False,
    ambiguous: bool = False,
    direction: Direction | None = None,
) -> Span:
    """The span from the start of ``first`` to the start of ``after``."""
    return Span(
        since=midnight(first),
        until=midnight(after),
        precision=precision,
        relative=relative or ambiguous,
        ambiguous=ambiguous,
        direction=direction,
        day=first if precision == "day" else None,
    )


def one_day(day: date, *, relative: bool = False, ambiguous: bool = False) -> Span:
    return days(day, day + timedelta(days=1), "day", relative=relative, ambiguous=ambiguous)


def add_months(day: date, months: int) -> date:
    """The same day of another month, or that month's last day when it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def first_of(unit: str, day: date) -> date:
    """The first day of the week, month, quarter, year … that holds ``day``."""
    if unit in ("week", "fortnight"):
        return day - timedelta(days=day.weekday())
    if unit == "weekend":
        return day - timedelta(days=day.weekday() - 5)
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
    if unit == "year":
        return date(day.year, 1, 1)
    if unit == "decade":
        return date(day.year // 10 * 10, 1, 1)
    return day


def step(unit: str, day: date, count: int) -> date:
    """The day ``count`` units away."""
    if unit in ("day", "night"):
        return day + timedelta(days=count)
    if unit in ("week", "weekend"):
        return day + timedelta(weeks=count)
    if unit == "fortnight":
        return day + timedelta(weeks=2 * count)
    return add_months(day, count * {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit])


def whole(unit: str, day: date, *, relative: bool = True) -> Span:
    """The calendar unit that holds ``day``."""
    first = first_of(unit, day)
    if unit == "weekend":
        return days(first, first + timedelta(days=2), "range", relative=relative)
    if unit in ("day", "night"):
        return one_day(first, relative=relative)
    if unit == "fortnight":
        return days(first, first + timedelta(weeks=1), "week", relative=relative)
    precision: Precision = "decade" if unit == "decade" else _PRECISION.get(unit, "range")
    return days(first, step(unit, first, 1), precision, relative=relative)


def month(year: int, number: int, *, relative: bool = False, ambiguous: bool = False) -> Span:
    first = date(year, number, 1)
    return days(first, add_months(first, 1), "month", relative=relative, ambiguous=ambiguous)


def part_of(span: Span, part: str) -> Span:
    """A named part of a week, month, quarter, season, year or decade.

    Thirds for "early", "mid" and "late"; the first week and the last days for "start" and "end".
    """
    first, after = span.since.date(), span.until.date()
    length = (after - first).days
    cuts: dict[str, tuple[date, date]]
    if length == 7:
        cuts = {
            "early": (first, first + timedelta(days=2)),
            "mid": (first + timedelta(days=2), first + timedelta(days=4)),
            "late": (first + timedelta(days=4), after),
        }
    elif span.precision == "month":
        cuts = {
            "early": (first, first.replace(day=11)),
            "mid": (first.replace(day=11), first.replace(day=21)),
            "late": (first.replace(day=21), after),
            "start": (first, first.replace(day=8)),
            "end": (first.replace(day=25), after),
            "first_half": (first, first.replace(day=16)),
            "second_half": (first.replace(day=16), after),
        }
    elif span.precision == "year":
        cuts = {
            "early": (first, add_months(first, 4)),
            "mid": (add_months(first, 4), add_months(first, 8)),
            "late": (add_months(first, 8), after),
            "start": (first, add_months(first, 2)),
            "middle": (add_months(first, 5), add_months(first, 7)),
            "end": (add_months(first, 11), after),
            "first_half": (first, add_months(first, 6)),
            "second_half": (add_months(first, 6), after),
        }
    elif span.precision == "decade":
        cuts = {
            "early": (first, add_months(first, 48)),
            "mid": (add_months(first, 48), add_months(first, 84)),
            "late": (add_months(first, 84), after),
        }
    else:
        cuts = {
            "early": (first, add_months(first, 1)),
            "mid": (add_months(first, 1), add_months(first, 2)),
            "late": (add_months(first, 2), after),
        }
    aliases = {"start": "early", "end": "late", "middle": "mid"}
    lower, upper = cuts.get(part) or cuts[aliases[part]]
    return days(lower, upper, "range", relative=span.relative, ambiguous=span.ambiguous)


def yearly(at: Moment, make: Callable[[int], Span | None]) -> Span | None:
    """The latest yearly recurrence begun by now, or the first one not over yet, as the moment leans."""
    now = at.now.replace(tzinfo=None)
    years = range(at.today.year + 1, at.today.year - 9, -1)
    if at.prefer == "past":
        return next((s for y in years if (s := make(y)) and s.since <= now), None)
    return next((s for y in range(at.today.year - 1, at.today.year + 9) if (s := make(y)) and s.until > now), None)


def neighbour(at: Moment, make: Callable[[int], Span | None], offset: int) -> Span | None:
    """A yearly recurrence told by its neighbourhood: the last one over, this year's, or the next to begin."""
    now = at.now.replace(tzinfo=None)
    year = at.today.year
    if offset == 0:
        running = make(year - 1)
        return running if running and running.until > now else make(year)
    if offset < 0:
        past = (s for y in range(year, year - 9, -1) if (s := make(y)) and s.until <= midnight(at.today))
        return next(past, None)
    return next((s for y in range(year - 1, year + 9) if (s := make(y)) and s.since > now), None)


def weekday(at: Moment, number: int) -> Span:
    """The nearest such weekday other than today, before or after it as the moment leans."""
    ahead = (number - at.today.weekday()) % 7 or 7
    behind = 7 - ahead or 7
    shift = ahead if at.prefer == "future" else -behind
    return one_day(at.today + timedelta(days=shift), ambiguous=True)
