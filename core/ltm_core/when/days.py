"""What expressions of a day, a week or a month mean."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from .clock import on
from .groups import Groups
from .readings import Moment, Reading, Span
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


def read_day(g: Groups, at: Moment) -> Reading | None:
    offset = g.offset("day")
    if offset is None:
        return None
    span = one_day(at.today + timedelta(days=offset), relative=True)
    part = g.daypart()
    return replace(on(span.since.date(), part), relative=True) if part else span


def read_unit(g: Groups, at: Moment) -> Reading | None:
    rel, unit = g.offset("rel"), g.word("unit")
    if rel is None or unit is None:
        return None
    span = whole(unit, step(unit, first_of(unit, at.today), rel))
    part = g.word("part")
    return part_of(span, part) if part else span


def read_weekday(g: Groups, at: Moment) -> Reading | None:
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


def read_weekend(g: Groups, at: Moment) -> Reading | None:
    rel = g.offset("rel")
    here = whole("weekend", at.today)
    if rel is None:
        shift = 0
        if at.prefer == "past" and here.since > at.now.replace(tzinfo=None):
            shift = -1
        return replace(whole("weekend", at.today + timedelta(weeks=shift)), ambiguous=True)
    return whole("weekend", at.today + timedelta(weeks=rel))


def valid(year: int, number: int, day: int) -> date | None:
    try:
        return date(year, number, day)
    except ValueError:
        return None


def month_of(g: Groups, at: Moment) -> Span | None:
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


def read_date(g: Groups, at: Moment) -> Reading | None:
    named = g.raw("d") is not None
    day = g.number("d")
    if named and (day is None or not 1 <= day <= 31):
        return None
    mrel = g.offset("mrel")
    if mrel is not None:
        first = add_months(at.today.replace(day=1), mrel)
        found = valid(first.year, first.month, day or 1)
        return one_day(found, relative=True) if found else None
    if g.raw("m") is None and "m" not in g.rule.fix:
        return _day_of_month(day, at) if day else None
    if not named:
        span = month_of(g, at)
        if g.raw("mto") is not None:
            return _months_to(span, g.number("mto"))
        part = g.word("part")
        return part_of(span, part) if span and part else span
    number, year = g.number("m"), g.year(at)
    if number is None:
        return None

    last = g.number("dto")

    def make(y: int) -> Span | None:
        found = valid(y, number, day or 1)
        if found is None or g.raw("dto") is None:
            return one_day(found, ambiguous=True) if found else None
        end = valid(y, number, last or 0)
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
        found = valid(first.year, first.month, day)
        if found and (found >= at.today if sign > 0 else found <= at.today):
            return one_day(found, ambiguous=True)
    return None


def read_sofar(g: Groups, at: Moment) -> Reading | None:
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
