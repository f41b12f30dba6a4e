"""Instants, ranges and zones given as parameters, and dates put beside relative words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from ltm_core.errors import InvalidTimeError

from .find import search
from .types import TimeMention

_QUOTED = 40
_EARLIEST, _LATEST = datetime(2, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
"""Every zone, and a year before and after, can be told of an instant between them."""
# What may stand beside the one time of a phrase.
_FILLING = (
    r"(?:\b(?:in|on|at|of|the|during|over|for|from|back|sometime|around|about)\b"
    r"|[在的于里の中にはで]|间|内|[\s,.。，、?？!！]+)"
)


def _shown(value: str) -> str:
    return repr(value) if len(value) <= _QUOTED else f"a text of {len(value)} characters"


def parse_instant(value: datetime | str, *, zone: ZoneInfo | tzinfo) -> datetime:
    """The instant in UTC; a value without an offset is read in ``zone``, a date is its first moment.

    InvalidTimeError for what cannot be read and for the first and the last year of the calendar.
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            raise InvalidTimeError(f"not an ISO 8601 date or time: {_shown(value)}") from None
    elif isinstance(value, datetime):
        moment = value
    else:
        raise InvalidTimeError(f"a time must be a datetime or ISO 8601 text, not {type(value).__name__}")
    if moment.utcoffset() is None:
        moment = moment.replace(tzinfo=zone)
    try:
        instant = moment.astimezone(UTC)
    except (OverflowError, ValueError):
        raise InvalidTimeError("the time lies outside the calendar") from None
    if not _EARLIEST <= instant < _LATEST:
        raise InvalidTimeError("the time must lie in the years 2 to 9998")
    return instant


def parse_range(text: str, *, now: datetime) -> tuple[datetime, datetime]:
    """The range a phrase such as "last week", "上个月" or "2024" names; the phrase must be nothing else."""
    found = search(text, now=now, weak=True) if isinstance(text, str) else ()
    if len(found) == 1:
        rest = text[: found[0].start] + " " + text[found[0].end :]
        if not re.sub(_FILLING, "", rest, flags=re.IGNORECASE):
            return found[0].since, found[0].until
    shown = _shown(text) if isinstance(text, str) else type(text).__name__
    raise InvalidTimeError(f"not a time or a range of time: {shown}")


def zone_of(name: str) -> ZoneInfo:
    """The IANA zone of that name."""
    if isinstance(name, str) and name:
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):  # unknown; malformed; a folder of the zone database
            pass
    shown = _shown(name) if isinstance(name, str) else type(name).__name__
    raise InvalidTimeError(f"unknown time zone: {shown}")


def stored_zone(name: str) -> ZoneInfo:
    """The zone that a row names, known when the row was written; UTC where it is none any more: on a machine
    with an older zone database, or in a file that rotted."""
    try:
        return zone_of(name)
    except InvalidTimeError:
        return zone_of("UTC")


def _label(mention: TimeMention) -> str:
    since, until = mention.since, mention.until
    first = since.date().isoformat()
    if mention.precision == "instant":
        return f"{first} {since:%H:%M}"
    if mention.precision == "hour":
        return f"{first} {since:%H:%M}" if until - since <= timedelta(hours=1) else first
    if mention.precision == "month":
        return first[:7]
    if mention.precision == "year":
        return first[:4]
    if mention.precision == "decade":
        return f"{first[:4]}s"
    last = (until - timedelta(microseconds=1)).date().isoformat()
    return first if first == last else f"{first}..{last}"


def resolve_words(text: str, mentions: Iterable[TimeMention]) -> str:
    """The text with the date in brackets after each relative mention; the words stay.

    A day reads ``[2025-03-04]``, a month ``[2025-03]``, a stretch ``[2025-03-03..2025-03-09]``.
    """
    parts: list[str] = []
    done = 0
    for found in mentions:
        if found.relative:
            space = " " if text[found.end - 1 : found.end].isascii() else ""
            parts.append(f"{text[done : found.end]}{space}[{_label(found)}]")
            done = found.end
    return "".join((*parts, text[done:]))
