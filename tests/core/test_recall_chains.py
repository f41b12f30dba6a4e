"""Chains of changes are followed for all facts at once, and end where following them one by one ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_core.recall.chains import LONGEST, earlier, latest
from ltm_core.recall.currency import state
from ltm_core.testing.fake_reader import FakeReader
from ltm_core.types import Fact

NOW = datetime(2025, 4, 20, 9, tzinfo=UTC)
THEN = NOW - timedelta(days=9)
IDS = [f"f{n}" for n in range(1, 9)]
WAYS: list[dict[str, Any]] = [
    {},
    {"valid_to": NOW - timedelta(days=1)},
    {"valid_to": NOW + timedelta(days=1)},
    {"retracted_at": THEN},
    {"expires_at": THEN},
]
LINKS = st.lists(
    st.tuples(st.sampled_from([*IDS, "gone", None]), st.sampled_from(WAYS)), min_size=len(IDS), max_size=len(IDS)
)


class Counting(FakeReader):
    """Notes what it was asked."""

    def __init__(self, links: Sequence[tuple[str | None, dict[str, Any]]]) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        for number, (after, way) in enumerate(links):
            self.know(f"fact {number}", at=THEN, superseded_by=after, **way)

    def facts(self, **selection: Any) -> list[Fact]:
        self.asked["facts"] += 1
        return super().facts(**selection)

    def predecessors(self, ids: Sequence[str]) -> dict[str, list[Fact]]:
        self.asked["predecessors"] += 1
        return super().predecessors(ids)


def one_by_one(reader: FakeReader, fact: Fact) -> tuple[Fact, list[Fact]]:
    """What a fact became and what was before it, asked of the store link by link."""
    last = fact
    for _ in range(LONGEST):
        if last.superseded_by is None or state(last, NOW) != "past":
            break
        found = reader.facts(ids=[last.superseded_by])
        if not found:
            break
        last = found[0]
    before: list[Fact] = []
    near = [fact]
    for _ in range(LONGEST):
        near = [f for one in near for f in reader.predecessors([one.id])[one.id]]
        before += near
    return last, before


@settings(max_examples=200, deadline=None)
@given(links=LINKS, start=st.sets(st.sampled_from(IDS), min_size=1))
def test_all_at_once_is_one_by_one(links: list[tuple[str | None, dict[str, Any]]], start: set[str]) -> None:
    reader: Any = Counting(links)
    facts = FakeReader.facts(reader, ids=sorted(start))
    expected = {f.id: one_by_one(reader, f) for f in facts}
    reader.asked.clear()
    last, before = latest(reader, facts, now=NOW), earlier(reader, facts)
    assert {f.id: (last[f.id], before[f.id]) for f in facts} == expected
    assert reader.asked["facts"] <= LONGEST
    assert reader.asked["predecessors"] <= LONGEST


def test_what_is_at_hand_is_not_asked_for() -> None:
    reader: Any = Counting([("f2", WAYS[1]), (None, {})])
    last = latest(reader, FakeReader.facts(reader), now=NOW)
    assert last["f1"].id == "f2"
    assert not reader.asked


@pytest.mark.parametrize("count", [1, 40])
def test_how_often_is_asked_does_not_grow_with_the_facts(count: int) -> None:
    reader: Any = Counting([(f"f{count + n + 1}", WAYS[1]) for n in range(count)] + [(None, {})] * count)
    facts = FakeReader.facts(reader)[:count]
    last = latest(reader, facts, now=NOW)
    assert [last[f.id].id for f in facts] == [f"f{count + n + 1}" for n in range(count)]
    assert reader.asked["facts"] == 1
