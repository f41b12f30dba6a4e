"""Which days a named holiday falls on."""

from __future__ import annotations

from datetime import date, timedelta

from .lexicon import common
from .readings import Span
from .spans import days, one_day


def _easter(year: int) -> date:
    """Western Easter Sunday, by the Gregorian computus."""
    golden, century = year % 19, year // 100
    skipped = century - century // 4 - (8 * century + 13) // 25
    epact = (19 * golden + skipped + 15) % 30
    epact -= (epact // 28) * (1 - (epact // 28) * (29 // (epact + 1)) * ((21 - golden) // 11))
    offset = epact - (year + year // 4 + epact + 2 - century + century // 4) % 7
    month = 3 + (offset + 40) // 44
    return date(year, month, offset + 28 - 31 * (month // 4))


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """The nth such weekday of a month, counted from 1; a negative nth counts from the end."""
    if nth > 0:
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return last - timedelta(days=(last.weekday() - weekday) % 7 - 7 * (nth + 1))


def _start(rule: str, year: int) -> date | None:
    base, _, shift = rule.partition("+")
    if base.startswith("nth:"):
        month, weekday, nth = (int(p) for p in base[4:].split(","))
        day = nth_weekday(year, month, weekday, nth)
    elif base == "easter":
        day = _easter(year)
    elif base.startswith("lunar:"):
        table, since = common().lunar[base[6:]], common().lunar_since
        if not since <= year < since + len(table):
            return None
        entry = table[year - since]
        day = date(year, int(entry[:2]), int(entry[2:]))
    else:
        day = date(year, int(base[:2]), int(base[3:5]))
    return day + timedelta(days=int(shift or 0))


def holiday(name: str, year: int, *, relative: bool = False, ambiguous: bool = False) -> Span | None:
    """The day, or the days, of a holiday in a year; None when its table does not reach that year."""
    rule, _, length = common().holidays[name].partition("/")
    first = _start(rule, year)
    if first is None:
        return None
    if not length:
        return one_day(first, relative=relative, ambiguous=ambiguous)
    return days(first, first + timedelta(days=int(length)), "range", relative=relative, ambiguous=ambiguous)
