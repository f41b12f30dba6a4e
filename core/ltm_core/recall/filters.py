"""The filter language: ``{key: value | {$eq $ne $gt $gte $lt $lte $in $nin $exists}}``, ``$and``, ``$or``.

A filter is checked whole before anything is read; a key is one of our fields or a metadata key. A field with
several values (tags) matches when one of them does. A missing key equals nothing and is not compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeAlias

from ltm_core.errors import InvalidFilterError

Filter: TypeAlias = Mapping[str, Any]

TIME_FIELDS = frozenset({"at", "recorded_at", "valid_from", "valid_to", "expires_at", "last_seen_at"})
DEEPEST = 8
MOST_CONDITIONS = 256

_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
}
_LISTS = ("$in", "$nin")
_OPERATORS = frozenset({"$eq", "$ne", "$exists", *_LISTS, *_COMPARISONS})


def checked(filters: object, *, zone: tzinfo = UTC) -> Filter | None:
    """The filter in one shape, with its times as aware datetimes; None when it asks nothing.

    InvalidFilterError for an unknown operator or shape. Naive times are read in ``zone``.
    """
    if filters is None:
        return None
    if not isinstance(filters, Mapping):
        raise InvalidFilterError(f"filters must be a mapping, not {type(filters).__name__}")
    budget = [MOST_CONDITIONS]
    return _all(filters, zone, 1, budget) or None


def _all(filters: Mapping[Any, Any], zone: tzinfo, depth: int, budget: list[int]) -> dict[str, Any]:
    if depth > DEEPEST:
        raise InvalidFilterError(f"filters are nested deeper than {DEEPEST}")
    out: dict[str, Any] = {}
    for key, value in filters.items():
        budget[0] -= 1
        if budget[0] < 0:
            raise InvalidFilterError(f"filters hold more than {MOST_CONDITIONS} conditions")
        if not isinstance(key, str) or not key:
            raise InvalidFilterError("a filter key must be a string that is not empty")
        if key in ("$and", "$or"):
            if not isinstance(value, Sequence) or isinstance(value, str | bytes) or not value:
                raise InvalidFilterError(f"{key} needs a list of filters that is not empty")
            if not all(isinstance(v, Mapping) for v in value):
                raise InvalidFilterError(f"{key} holds something else than filters")
            out[key] = [_all(v, zone, depth + 1, budget) for v in value]
        elif key.startswith("$"):
            raise InvalidFilterError(f"unknown operator {key[:32]!r}; possible are $and and $or")
        else:
            out[key] = _condition(key, value, zone)
    return out


def _condition(key: str, value: Any, zone: tzinfo) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {"$eq": _scalar(key, value, zone)}
    if not value:
        raise InvalidFilterError(f"the condition on {key[:64]!r} is empty")
    out: dict[str, Any] = {}
    for operator, operand in value.items():
        if operator not in _OPERATORS:
            known = " ".join(sorted(_OPERATORS))
            raise InvalidFilterError(f"unknown operator {str(operator)[:32]!r}; possible are {known}")
        if operator in _LISTS:
            if not isinstance(operand, Sequence | set | frozenset) or isinstance(operand, str | bytes):
                raise InvalidFilterError(f"{operator} needs a list")
            out[operator] = [_scalar(key, v, zone) for v in operand]
        elif operator == "$exists":
            if not isinstance(operand, bool):
                raise InvalidFilterError("$exists needs true or false")
            out[operator] = operand
        else:
            out[operator] = _scalar(key, operand, zone)
            if operator in _COMPARISONS and (operand is None or isinstance(operand, bool)):
                raise InvalidFilterError(f"{operator} needs a number, a text or a time")
    return out


def _scalar(key: str, value: Any, zone: tzinfo) -> Any:
    if key in TIME_FIELDS and value is not None:
        return _time(value, zone)
    if isinstance(value, datetime):
        return _time(value, zone)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidFilterError("a filter value must be a finite number")
    if value is None or isinstance(value, str | int | float):
        return value
    raise InvalidFilterError(
        f"a filter value must be a text, a number, a time, true, false or null, not {type(value).__name__}"
    )


def _time(value: Any, zone: tzinfo) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(moment, datetime):
            return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidFilterError("a time in a filter must be a datetime or an ISO date such as 2025-03-01T09:00:00+08:00")


def matches(filters: Filter | None, record: Mapping[str, Any]) -> bool:
    """Whether ``record`` passes a `checked` filter."""
    if not filters:
        return True
    for key, condition in filters.items():
        if key == "$and":
            ok = all(matches(f, record) for f in condition)
        elif key == "$or":
            ok = any(matches(f, record) for f in condition)
        else:
            ok = all(_holds(operator, operand, record, key) for operator, operand in condition.items())
        if not ok:
            return False
    return True


def _holds(operator: str, operand: Any, record: Mapping[str, Any], key: str) -> bool:
    present = key in record and record[key] is not None
    if operator == "$exists":
        return present is operand
    if operator in ("$ne", "$nin"):
        opposite = "$eq" if operator == "$ne" else "$in"
        return not _holds(opposite, operand, record, key)
    value = record.get(key)
    values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
    if operator == "$eq":
        return any(_same(v, operand) for v in values) if values else operand is None
    if operator == "$in":
        return any(_same(v, o) for v in values for o in operand)
    return any(_comparable(v, operand) and _COMPARISONS[operator](v, operand) for v in values)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return bool(a == b)


def _comparable(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or a is None:
        return False
    number = int | float
    return (
        (isinstance(a, number) and isinstance(b, number))
        or (isinstance(a, str) and isinstance(b, str))
        or (isinstance(a, datetime) and isinstance(b, datetime))
    )


def required(filters: Filter | None, key: str) -> tuple[Any, ...] | None:
    """The only values of ``key`` that can pass, or None when the filter does not say so at its top level."""
    condition = (filters or {}).get(key)
    if not isinstance(condition, Mapping):
        return None
    if "$eq" in condition:
        return (condition["$eq"],)
    return tuple(condition["$in"]) if "$in" in condition else None


__all__ = ["Filter", "checked", "matches", "required"]
