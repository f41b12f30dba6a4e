"""The reading of each kind of rule."""

from __future__ import annotations

from collections.abc import Callable

from . import days, years
from .counts import count, recent, rolling
from .groups import Groups
from .hours import clock, daypart
from .readings import Moment, Reading

Resolver = Callable[[Groups, Moment], Reading | None]

RESOLVERS: dict[str, Resolver] = {
    "day": days.read_day,
    "unit": days.read_unit,
    "count": count,
    "rolling": rolling,
    "recent": recent,
    "weekday": days.read_weekday,
    "weekend": days.read_weekend,
    "date": days.read_date,
    "year": years.read_year,
    "season": years.read_season,
    "quarter": years.read_quarter,
    "decade": years.read_decade,
    "holiday": years.read_holiday,
    "nth": years.read_nth,
    "sofar": days.read_sofar,
    "iso": years.read_iso,
    "era": years.read_era,
    "clock": clock,
    "daypart": daypart,
}
