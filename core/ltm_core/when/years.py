"""What expressions of a year, its parts and its holidays mean, and dates in figures."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta, timezone

from .days import month_of, valid
from .groups import Groups
from .holidays import holiday, nth_weekday
from .readings import Moment, Reading, Span
from .spans import add_months, days, month, neighbour, one_day, part_of, whole, yearly


def read_year(g: Groups, at: Moment) -> Reading | None:
    year = g.year(at)
    if year is None:
        return None
    span = days(date(year, 1, 1), date(year + 1, 1, 1), "year", relative=g.year_is_relative)
    part = g.word("part") or g.word("yearpart")
    return part_of(span, part) if part else span


def read_season(g: Groups, at: Moment) -> Reading | None:
    name = g.word("season")
    if name is None:
        return None
    start, length = (int(p) for p in name.split("+"))

    def make(year: int) -> Span:
        first = date(year, start, 1)
        return days(first, add_months(first, length), "season", ambiguous=True)

    year, rel = g.year(at), g.offset("rel")
    span: Span | None
    if g.raw("yrel") is not None and year == at.today.year:
        span = neighbour(at, make, 0)
    elif g.names_year:
        span = make(year) if year is not None else None
    elif rel is not None:
        span = neighbour(at, make, rel)
    else:
        span = yearly(at, make)
    if span is None:
        return None
    told = g.names_year or rel is not None
    span = replace(span, ambiguous=not told, relative=not told or g.raw("y") is None)
    part = g.word("part")
    return part_of(span, part) if part else span


def read_quarter(g: Groups, at: Moment) -> Reading | None:
    number = g.number("q")
    if number == -1:
        number = 4
    if number is None or not 1 <= number <= 4:
        return None

    def make(year: int) -> Span:
        first = date(year, 3 * number - 2, 1)
        return days(first, add_months(first, 3), "range", ambiguous=True)

    if not g.names_year:
        return yearly(at, make)
    year = g.year(at)
    return None if year is None else replace(make(year), ambiguous=False, relative=g.year_is_relative)


def read_decade(g: Groups, at: Moment) -> Reading | None:
    tens, century = g.number("dec"), g.raw("century")
    if tens is None:
        return None
    if tens < 100:
        base = {"19": 1900, "20": 2000}.get((century or "")[:2])
        tens += (2000 if tens < 30 else 1900) if base is None else base
    span = days(date(tens, 1, 1), date(tens + 10, 1, 1), "decade")
    part = g.word("part")
    return part_of(span, part) if part else span


def read_holiday(g: Groups, at: Moment) -> Reading | None:
    name = g.word("hol")
    if name is None:
        return None

    def make(year: int) -> Span | None:
        return holiday(name, year, ambiguous=True)

    rel = g.offset("rel")
    if g.names_year:
        year = g.year(at)
        span = make(year) if year is not None else None
        return replace(span, ambiguous=False, relative=g.year_is_relative) if span else None
    if rel is not None:
        span = neighbour(at, make, rel)
        return replace(span, ambiguous=False) if span else None
    return yearly(at, make)


def read_nth(g: Groups, at: Moment) -> Reading | None:
    """The nth week, weekend or weekday of a month; weeks are counted in sevens from the first."""
    span, nth = month_of(g, at), g.number("nth")
    mrel = g.offset("mrel")
    if mrel is not None:
        span = whole("month", add_months(at.today.replace(day=1), mrel))
    if span is None or nth is None or not -1 <= nth <= 5 or nth == 0:
        return None
    first, after = span.since.date(), span.until.date()
    wd = g.offset("wd")
    if wd is not None:
        day = nth_weekday(first.year, first.month, wd, nth)
        if not first <= day < after:
            return None
        return one_day(day, relative=span.relative, ambiguous=span.ambiguous)
    if nth < 0:
        low, high = after - timedelta(days=7), after
    else:
        low = first + timedelta(days=7 * (nth - 1))
        high = min(low + timedelta(days=7), after)
    return days(low, high, "range", relative=span.relative, ambiguous=span.ambiguous) if low < high else None


def read_iso(g: Groups, at: Moment) -> Reading | None:
    year, number, day = g.number("y"), g.number("m"), g.number("d")
    if year is None or number is None or not 1 <= number <= 12:
        return None
    if g.raw("d") is None:
        return month(year, number)
    found = valid(year, number, day or 0)
    if found is None:
        return None
    if g.raw("hour") is None:
        return one_day(found)
    hour, minute = int(g.raw("hour") or 0), int(g.raw("minute") or 0)
    if hour > 23:
        return None
    since = datetime(found.year, found.month, found.day, hour, minute)  # noqa: DTZ001  # wall clock
    zone = g.raw("zone")
    if zone is not None:
        signed = 0 if zone == "z" else int(zone[1:3]) * 60 + int(zone[-2:])
        if signed >= 24 * 60:
            return None
        offset = timezone(timedelta(minutes=-signed if zone[0] == "-" else signed))
        since = since.replace(tzinfo=offset).astimezone(at.zone)
    return Span(since=since, until=since + timedelta(minutes=1), precision="instant")


def read_era(g: Groups, at: Moment) -> Reading | None:
    """A year of a Japanese reign, with a month and a day if they are given."""
    base, count_of = g.offset("era"), g.number("yn")
    if base is None or count_of is None or count_of < 1:
        return None
    year, number, day = base + count_of - 1, g.number("m"), g.number("d")
    if g.raw("m") is None:
        return days(date(year, 1, 1), date(year + 1, 1, 1), "year")
    if number is None or not 1 <= number <= 12:
        return None
    if g.raw("d") is None:
        return month(year, number)
    found = valid(year, number, day or 0)
    return one_day(found) if found else None
