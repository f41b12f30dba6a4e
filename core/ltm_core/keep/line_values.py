"""The values in the lines of an export: how each is written, and checked when it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args

from ltm_core.documents.checks import fields_of, key_of, namespace_of, value_of
from ltm_core.errors import InvalidInputError
from ltm_core.scoping import identifier
from ltm_core.types import Evidence
from ltm_core.write.incoming.intake import checked_metadata

_MOST_COUNT = 2**31 - 1
_LONGEST_LIFE = 9999 * 366 * 86_400
"""Seconds: no time to live ends after the year 9999."""
_MOST_MANY = 10_000
"""Pieces of evidence, sources, anchors, tags and earlier times of one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The sizes a line may have, from Config."""

    id: int
    text: int
    metadata: int
    document: int
    line: int


Check = Callable[[Any, Limits], Any]


def written(value: Any) -> Any:
    """The value in the form of the file: instants as ISO 8601 in UTC."""
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


def an_id(value: Any, limits: Limits) -> str:
    if not isinstance(value, str):
        raise InvalidInputError("not text")
    return identifier(value, "id", limit=limits.id)


def _plain(value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise InvalidInputError("not text")
    if len(value) > most:
        raise InvalidInputError(f"{len(value)} characters, at most {most} are allowed")
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise InvalidInputError("a NUL or a lone surrogate")
    return value


def text(value: Any, limits: Limits) -> str:
    return _plain(value, limits.text)


def short(value: Any, limits: Limits) -> str:
    return _plain(value, 1000)


def word(value: Any, limits: Limits) -> str:
    return _plain(value, 100)


def instant(value: Any, limits: Limits) -> datetime:
    try:
        moment = datetime.fromisoformat(_plain(value, 64))
        if moment.tzinfo is None:
            raise InvalidInputError("an instant without its zone")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as e:
        if isinstance(e, InvalidInputError):
            raise
        raise InvalidInputError("no instant in ISO 8601") from None


def day(value: Any, limits: Limits) -> date:
    try:
        return date.fromisoformat(_plain(value, 10))
    except ValueError as e:
        if isinstance(e, InvalidInputError):
            raise
        raise InvalidInputError("no day in ISO 8601") from None


def flag(value: Any, limits: Limits) -> bool:
    if not isinstance(value, bool):
        raise InvalidInputError("neither true nor false")
    return value


def count(value: Any, limits: Limits) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_COUNT:
        raise InvalidInputError(f"no whole number from 0 to {_MOST_COUNT}")
    return value


def share(value: Any, limits: Limits) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInputError("no number from 0 to 1")
    return float(value)


def one_of(choices: Any) -> Check:
    known = frozenset(get_args(choices))

    def check(value: Any, limits: Limits) -> Any:
        if not isinstance(value, str) or value not in known:
            raise InvalidInputError("none of the known values")
        return value

    return check


def metadata(value: Any, limits: Limits) -> dict[str, Any]:
    return checked_metadata(value, most_bytes=limits.metadata)


def value(value: Any, limits: Limits) -> Any:
    return checked_metadata({"value": value}, most_bytes=limits.metadata)["value"]


def each(check: Check) -> Check:
    def checked(value: Any, limits: Limits) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > _MOST_MANY:
            raise InvalidInputError(f"no list of at most {_MOST_MANY}")
        return tuple(check(v, limits) for v in value)

    return checked


def span(value: Any, limits: Limits) -> Evidence:
    if not isinstance(value, list) or len(value) != 3:
        raise InvalidInputError("no [message, start, end]")
    start, end = count(value[1], limits), count(value[2], limits)
    if start > end:
        raise InvalidInputError("a span that ends before it begins")
    return Evidence(message_id=an_id(value[0], limits), start=start, end=end)


def namespace(value: Any, limits: Limits) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidInputError("no list of at least one label")
    return namespace_of(value, limit=limits.id, what="label")


def key(value: Any, limits: Limits) -> str:
    return key_of(value, limit=limits.id)


def document(value: Any, limits: Limits) -> dict[str, Any]:
    return value_of(value, most_bytes=limits.document)


def paths(value: Any, limits: Limits) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidInputError("no list of paths")
    return fields_of(value)


def life(value: Any, limits: Limits) -> timedelta:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LONGEST_LIFE:
        raise InvalidInputError(f"no number of seconds up to {_LONGEST_LIFE}")
    return timedelta(seconds=value)
