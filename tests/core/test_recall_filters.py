"""The filter language: what passes, and what is refused before anything is read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ltm_core.errors import InvalidFilterError
from ltm_core.recall.filters import checked, matches, required

RECORD = {
    "role": "user",
    "doc_type": None,
    "at": datetime(2025, 3, 1, tzinfo=UTC),
    "tags": ("work", "travel"),
    "level": 3,
    "flag": True,
}


def passes(filters: Any) -> bool:
    return matches(checked(filters), RECORD)


@pytest.mark.parametrize(
    "filters",
    [
        None,
        {},
        {"role": "user"},
        {"role": {"$eq": "user"}},
        {"role": {"$ne": "assistant"}},
        {"role": {"$in": ["user", "tool"]}},
        {"role": {"$nin": ["tool"]}},
        {"level": {"$gt": 2, "$lte": 3}},
        {"level": 3.0},
        {"tags": "work"},
        {"tags": {"$in": ["travel"]}},
        {"doc_type": None},
        {"doc_type": {"$exists": False}},
        {"unknown": {"$exists": False}},
        {"unknown": {"$ne": 1}},
        {"flag": True},
        {"at": {"$gte": "2025-03-01", "$lt": "2025-03-02"}},
        {"at": {"$lt": "2025-03-01T09:00:00+08:00"}} and {"at": "2025-03-01T08:00:00+08:00"},
        {"$or": [{"role": "tool"}, {"level": 3}]},
        {"$and": [{"role": "user"}, {"tags": "travel"}]},
    ],
)
def test_passes(filters: Any) -> None:
    assert passes(filters)


@pytest.mark.parametrize(
    "filters",
    [
        {"role": "assistant"},
        {"level": {"$gt": 3}},
        {"level": True},
        {"flag": 1},
        {"level": {"$gt": "2"}},
        {"unknown": 1},
        {"unknown": {"$lt": 5}},
        {"tags": {"$nin": ["work"]}},
        {"role": {"$in": []}},
        {"$and": [{"role": "user"}, {"level": 4}]},
        {"at": {"$gt": "2025-03-01"}},
    ],
)
def test_does_not_pass(filters: Any) -> None:
    assert not passes(filters)


@pytest.mark.parametrize(
    "filters",
    [
        "role",
        ["role"],
        {"": 1},
        {1: 2},
        {"$where": "1"},
        {"$not": [{"a": 1}]},
        {"a": {"$regex": "x"}},
        {"a": {}},
        {"a": {"b": 1}},
        {"a": [1]},
        {"a": {"$in": "abc"}},
        {"a": {"$exists": 1}},
        {"a": {"$gt": None}},
        {"a": {"$lt": True}},
        {"a": float("nan")},
        {"$or": []},
        {"$or": [1]},
        {"$and": {"a": 1}},
        {"at": "last tuesday-ish"},
        {"at": 5},
        {"a": object()},
    ],
)
def test_is_refused(filters: Any) -> None:
    with pytest.raises(InvalidFilterError):
        checked(filters)


def test_deep_and_large_filters_are_refused() -> None:
    deep: dict[str, Any] = {"a": 1}
    for _ in range(20):
        deep = {"$and": [deep]}
    with pytest.raises(InvalidFilterError):
        checked(deep)
    with pytest.raises(InvalidFilterError):
        checked({f"k{i}": 1 for i in range(1000)})


def test_a_required_value_is_known_only_where_it_is_certain() -> None:
    assert required(checked({"session_id": "s1"}), "session_id") == ("s1",)
    assert required(checked({"session_id": {"$in": ["a", "b"]}}), "session_id") == ("a", "b")
    assert required(checked({"$or": [{"session_id": "a"}]}), "session_id") is None
    assert required(None, "session_id") is None
