"""Filters over the values of documents: ``{key: value | {$eq $ne $gt $gte $lt $lte $in $nin $exists}}``, ``$and``,
``$or``. Pure.

Unlike the filters of memories (`ltm_core.recall.filters`) a value may be any JSON: a mapping matches when each of its
keys does, a list when it has the same elements in the same order. A missing key equals null.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ltm_core.errors import InvalidFilterError

Filter: TypeAlias = Mapping[str, Any]

DEEPEST = 8
MOST_CONDITIONS = 256
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$eq", "$ne", *_COMPARISONS, "$in", "$nin", "$exists")


def checked(filters: object) -> Filter | None:
    """The filter, or None when it asks nothing; InvalidFilterError for an unknown operator or shape."""
    if filters is None:
        return None
    if not isinstance(filters, Mapping):
        raise InvalidFilterError(f"filters must be a mapping, not {type(filters).__name__}")
    _check(filters, 1, [MOST_CONDITIONS])
    return filters or None


def _check(filters: Mapping[Any, Any], depth: int, left: list[int]) -> None:
    if depth > DEEPEST:
        raise InvalidFilterError(f"filters are nested deeper than {DEEPEST}")
    for key, value in filters.items():
        left[0] -= 1
        if left[0] < 0:
            raise InvalidFilterError(f"filters hold more than {MOST_CONDITIONS} conditions")
        if not isinstance(key, str) or not key:
            raise InvalidFilterError("a filter key must be text that is not empty")
        if key in ("$and", "$or"):
            if not isinstance(value, list | tuple) or not value or not all(isinstance(v, Mapping) for v in value):
                raise InvalidFilterError(f"{key} needs a list of filters that is not empty")
            for part in value:
                _check(part, depth + 1, left)
        elif key.startswith("$"):
            raise InvalidFilterError(f"unknown operator {key[:32]!r}; possible are $and and $or")
        elif _is_condition(value):
            for name, operand in value.items():
                _check_operator(name, operand)
        elif isinstance(value, Mapping):
            _check(value, depth + 1, left)


def _check_operator(name: object, operand: object) -> None:
    if name not in _OPERATORS:
        raise InvalidFilterError(f"unknown operator {str(name)[:32]!r}; possible are {' '.join(_OPERATORS)}")
    if name in ("$in", "$nin") and not isinstance(operand, list | tuple | set | frozenset):
        raise InvalidFilterError(f"{name} needs a list")
    if name == "$exists" and not isinstance(operand, bool):
        raise InvalidFilterError("$exists needs true or false")
    if name in _COMPARISONS and (isinstance(operand, bool) or not isinstance(operand, int | float | str)):
        raise InvalidFilterError(f"{name} needs a number or a text")


def matches(filters: Filter | None, value: Mapping[str, Any]) -> bool:
    """Whether the value passes a `checked` filter."""
    for key, condition in (filters or {}).items():
        if key == "$and":
            ok = all(matches(f, value) for f in condition)
        elif key == "$or":
            ok = any(matches(f, value) for f in condition)
        elif _is_condition(condition):
            ok = all(_holds(name, operand, value, key) for name, operand in condition.items())
        else:
            ok = _equal(value.get(key), condition)
        if not ok:
            return False
    return True


def _is_condition(value: object) -> bool:
    return isinstance(value, Mapping) and any(isinstance(k, str) and k.startswith("$") for k in value)


def _holds(name: str, operand: Any, value: Mapping[str, Any], key: str) -> bool:
    given = value.get(key)
    if name == "$exists":
        return (given is not None) is bool(operand)
    if name == "$eq":
        return bool(given == _plain(operand))
    if name == "$ne":
        return bool(given != _plain(operand))
    if name in ("$in", "$nin"):
        return any(given == _plain(o) for o in operand) is (name == "$in")
    return _ordered(_COMPARISONS[name], given, operand)


def _ordered(compare: Callable[[Any, Any], bool], a: Any, b: Any) -> bool:
    """Numbers, and texts that are numbers, by size; other texts, such as ISO dates, by their characters. What
    cannot be compared does not match."""
    try:
        return compare(float(a), float(b))
    except (TypeError, ValueError, OverflowError):
        return isinstance(a, str) and isinstance(b, str) and compare(a, b)


def _equal(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and matches(wanted, value)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and len(value) == len(wanted)
            and all(_equal(v, w) for v, w in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _plain(value: Any) -> Any:
    """Tuples as the lists that JSON makes of them."""
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value
