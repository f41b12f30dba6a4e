"""What each kind of day, week, month or year expression means. Readings of counts and clocks are elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone

from .clock import on
from .counts import count, recent, rolling
from .groups import Groups
from .holidays import holiday, nth_weekday
from .hours import clock, daypart
from .spans import (
    add_months,
    days,
    first_of,
    midnight,
    month,
    neighbour,
    one_day,
    part_of,
    step,
    weekday,
    whole,
    yearly,
)
from .types import Moment, Reading, Span

Resolver = Callable[[Groups, Moment], Reading | None]


def _day(g: Groups, at: Moment) -> Reading | None:
    offset = g.offset("day")
    if offset is None:
        return None
    span = one_day(at.today + timedelta(days=offset), relative=True)
    part = g.daypart()
    return replace(on(span.since.date(), part), relative=True) if part else span


def _unit(g: Groups, at: Moment) -> Reading | None:
    rel, unit = g.offset("rel"), g.word("unit")
    if rel is None or unit is None:
        return None
    span = whole(unit, step(unit, first_of(unit, at.today), rel))
    part = g.word("part")
    return part_of(span, part) if part else span


def _weekday(g: Groups, at: Moment) -> Reading | None:
    number = g.offset("wd")
    if number is None:
        return None
    rel = g.value("near") if g.value("near") is not None else g.value("rel")
    week = g.offset("wrel")
    if isinstance(rel, int) or week is not None:
        monday = first_of("week", at.today)
        return one_day(
            monday + timedelta(days=number, weeks=week if week is not None else int(rel or 0)), relative=True
        )
    if rel is None:
        return weekday(at, number)
    near = replace(at, prefer="future" if rel == "after" else "past")
    shift = -7 if rel == "before_last" else 0
    return one_day((weekday(near, number).since + timedelta(days=shift)).date(), relative=True)


def _weekend(g: Groups, at: Moment) -> Reading | None:
    rel = g.offset("rel")
    here = whole("weekend", at.today)
    if rel is None:
        shift = 0
        if at.prefer == "past" and here.since > at.now.replace(tzinfo=None):
            shift = -1
        return replace(whole("weekend", at.today + timedelta(weeks=shift)), ambiguous=True)
    return whole("weekend", at.today + timedelta(weeks=rel))


def _valid(year: int, number: int, day: int) -> date | None:
    try:
        return date(year, number, day)
    except ValueError:
        return None


def _month_of(g: Groups, at: Moment) -> Span | None:
    """The month the words name, with a year, a neighbourhood, or neither."""
    number, year = g.number("m"), g.year(at)
    if number is None or not 1 <= number <= 12:
        return None
    if g.names_year:
        return None if year is None else month(year, number, relative=g.year_is_relative)
    rel = g.offset("rel")
    if rel is not None:
        span = neighbour(at, lambda y: month(y, number), rel)
        return replace(span, relative=True) if span else None
    return yearly(at, lambda y: month(y, number, ambiguous=True))


def _date(g: Groups, at: Moment) -> Reading | None:
    named = g.raw("d") is not None
    day = g.number("d")
    if named and (day is None or not 1 <= day <= 31):
        return None
    mrel = g.offset("mrel")
    if mrel is not None:
        first = add_months(at.today.replace(day=1), mrel)
        found = _valid(first.year, first.month, day or 1)
        return one_day(found, relative=True) if found else None
    if g.raw("m") is None and "m" not in g.rule.fix:
        return _day_of_month(day, at) if day else None
    if not named:
        span = _month_of(g, at)
        if g.raw("mto") is not None:
            return _months_to(span, g.number("mto"))
        part = g.word("part")
        return part_of(span, part) if span and part else span
    number, year = g.number("m"), g.year(at)
    if number is None:
        return None

    last = g.number("dto")

    def make(y: int) -> Span | None:
        found = _valid(y, number, day or 1)
        if found is None or g.raw("dto") is None:
            return one_day(found, ambiguous=True) if found else None
        end = _valid(y, number, last or 0)
        return days(found, end + timedelta(days=1), "range", ambiguous=True) if end and end > found else None

    if g.names_year:
        span = make(year) if year is not None else None
        relative = g.year_is_relative
        return replace(span, ambiguous=False, relative=relative) if span else None
    return yearly(at, make)


def _months_to(span: Span | None, last: int | None) -> Span | None:
    if span is None or last is None or not 1 <= last <= 12:
        return None
    first = span.since.date()
    after = month(first.year + (last < first.month), last).until
    return replace(span, until=after, precision="range")


def _day_of_month(day: int, at: Moment) -> Span | None:
    sign = 1 if at.prefer == "future" else -1
    for distance in range(14):
        first = add_months(at.today.replace(day=1), sign * distance)
        found = _valid(first.year, first.month, day)
        if found and (found >= at.today if sign > 0 else found <= at.today):
            return one_day(found, ambiguous=True)
    return None


def _year(g: Groups, at: Moment) -> Reading | None:
    year = g.year(at)
    if year is None:
        return None
    span = days(date(year, 1, 1), date(year + 1, 1, 1), "year", relative=g.year_is_relative)
    part = g.word("part") or g.word("yearpart")
    return part_of(span, part) if part else span


def _season(g: Groups, at: Moment) -> Reading | None:
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


def _quarter(g: Groups, at: Moment) -> Reading | None:
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


def _decade(g: Groups, at: Moment) -> Reading | None:
    tens, century = g.number("dec"), g.raw("century")
    if tens is None:
        return None
    if tens < 100:
        base = {"19": 1900, "20": 2000}.get((century or "")[:2])
        tens += (2000 if tens < 30 else 1900) if base is None else base
    span = days(date(tens, 1, 1), date(tens + 10, 1, 1), "decade")
    part = g.word("part")
    return part_of(span, part) if part else span


def _holiday(g: Groups, at: Moment) -> Reading | None:
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


def _nth(g: Groups, at: Moment) -> Reading | None:
    """The nth week, weekend or weekday of a month; weeks are counted in sevens from the first."""
    span, nth = _month_of(g, at), g.number("nth")
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


def _sofar(g: Groups, at: Moment) -> Reading | None:
    """The part of a running day, week, month or year that is behind or ahead."""
    unit, ahead = g.word("unit"), g.offset("rel") == 1
    if unit is None:
        return None
    span = whole(unit, at.today)
    if unit == "day":
        now = at.now.replace(tzinfo=None, second=0, microsecond=0)
        low, high = (now, span.until) if ahead else (span.since, now)
    else:
        low, high = (midnight(at.today), span.until) if ahead else (span.since, midnight(at.today))
    if low >= high:
        return span
    return Span(since=low, until=high, precision="range", relative=True)


def _iso(g: Groups, at: Moment) -> Reading | None:
    year, number, day = g.number("y"), g.number("m"), g.number("d")
    if year is None or number is None or not 1 <= number <= 12:
        return None
    if g.raw("d") is None:
        return month(year, number)
    found = _valid(year, number, day or 0)
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


def _era(g: Groups, at: Moment) -> Reading | None:
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
    found = _valid(year, number, day or 0)
    return one_day(found) if found else None


RESOLVERS: dict[str, Resolver] = {
    "day": _day,
    "unit": _unit,
    "count": count,
    "rolling": rolling,
    "recent": recent,
    "weekday": _weekday,
    "weekend": _weekend,
    "date": _date,
    "year": _year,
    "season": _season,
    "quarter": _quarter,
    "decade": _decade,
    "holiday": _holiday,
    "nth": _nth,
    "sofar": _sofar,
    "iso": _iso,
    "era": _era,
    "clock": clock,
    "daypart": daypart,
}
