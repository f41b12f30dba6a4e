"""Instants as integers: microseconds since 1970-01-01 UTC, the only form in which a store keeps time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

from ltm_core.errors import InvalidTimeError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = 2**63 - 1
"""Stands for "no end" where a column of instants cannot be empty."""
_DAY_US = 86_400_000_000


@overload
def to_us(value: datetime) -> int: ...
@overload
def to_us(value: None) -> None: ...
def to_us(value: datetime | None) -> int | None:
    """Microseconds since 1970 UTC; a naive datetime raises InvalidTimeError."""
    if value is None:
        return None
    if value.tzinfo is None:
        raise InvalidTimeError("a naive datetime reached the store; it needs a time zone")
    span = value - EPOCH
    return span.days * _DAY_US + span.seconds * 1_000_000 + span.microseconds


@overload
def from_us(value: int) -> datetime: ...
@overload
def from_us(value: None) -> None: ...
def from_us(value: int | None) -> datetime | None:
    """The UTC datetime of an instant."""
    if value is None:
        return None
    return EPOCH + timedelta(microseconds=value)
