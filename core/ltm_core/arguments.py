"""The plain arguments of a call, checked before anything is read or written; ids are checked in `scoping`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from ltm_core.errors import InvalidInputError
from ltm_core.when import parse_instant

_NUMBER = re.compile(r"-?[0-9]{1,19}")


def text_of(value: Any, what: str) -> str:
    """``value`` as text that can be stored; InvalidInputError for other types, NUL and lone surrogates."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{what} must be text, not {type(value).__name__}")
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise InvalidInputError(f"{what} contains a NUL or a lone surrogate")
    return value


def words_of(value: Any, what: str) -> str | None:
    """``value`` as words to be cleaned and kept, or None; InvalidInputError for other types."""
    if value is not None and not isinstance(value, str):
        raise InvalidInputError(f"{what} must be text, not {type(value).__name__}")
    return value


def optional_text(value: Any, what: str) -> str | None:
    """Like `text_of`, and None stays None."""
    return None if value is None else text_of(value, what)


def texts_of(values: Any, what: str) -> tuple[str, ...]:
    """Several texts; a bare text is refused, for its characters would be taken one by one."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInputError(f"{what} must be a list of texts, not {type(values).__name__}")
    return tuple(text_of(v, f"{what}[{i}]") for i, v in enumerate(values))


def limit_of(value: Any, *, default: int = 100, most: int = 1000) -> int:
    """A page size: ``default`` for None; InvalidInputError outside 1..``most``."""
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInputError(f"limit must be a whole number from 1 to {most}, not {value!r}")
    return value


def short_text(value: Any, what: str) -> str | None:
    """A name of at most 100 characters, or None; InvalidInputError for blank text, NUL and other types."""
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or len(value) > 100 or "\0" in value:
        raise InvalidInputError(f"{what} must be non-blank text of at most 100 characters")
    return value


def one_of(value: Any, choices: Any, what: str) -> Any:
    """``value`` when it is None or one of the literal type ``choices``; else InvalidInputError names them."""
    if value is not None and value not in get_args(choices):
        raise InvalidInputError(f"{what} must be one of {', '.join(get_args(choices))}")
    return value


def number_of(cursor: Any, *, most: int = 2**63 - 1) -> int:
    """The number in a cursor, 0 for None; InvalidInputError for what no page gave."""
    if cursor is None:
        return 0
    given = text_of(cursor, "cursor")
    # Longer ones are not read at all: no store counts that far.
    number = int(given) if _NUMBER.fullmatch(given) else most + 1
    if not -most <= number <= most:
        raise InvalidInputError(f"cursor {given[:40]!r} was not given by this call")
    return number


def life_of(value: float | timedelta | None, now: datetime) -> timedelta | None:
    """A life from ``now`` on, seconds or a timedelta; InvalidInputError when it is none or ends too late."""
    if value is None:
        return None
    try:
        span = value if isinstance(value, timedelta) else timedelta(seconds=value)
        if span > timedelta(0):
            parse_instant(now + span, zone=UTC)
    except (TypeError, OverflowError, ValueError) as e:
        raise InvalidInputError("ttl must be a number of seconds or a timedelta, and end before the year 9999") from e
    if span <= timedelta(0):
        raise InvalidInputError("ttl must be more than 0 seconds")
    return span
