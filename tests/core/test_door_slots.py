"""One value per instant: late arrivals, values dated ahead, suppressed ones, in a single-valued slot."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.testing.clock import Clock

START = datetime(2025, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder="none", clock=clock, timezone="UTC") as opened:
        yield opened


def current(memory: LongTermMemory, as_of: datetime | str | None = None) -> list[str]:
    return [f.object for f in memory.facts(user_id="ana", as_of=as_of)]


def say(memory: LongTermMemory, words: str, at: datetime | str | None = None) -> None:
    memory.observe(user_id="ana", session_id="s", user=words, at=at)


def status(memory: LongTermMemory, value: str, day: int, month: int = 5) -> None:
    memory.assert_fact(
        "quote:1", "status", value, user_id="ana", source="erp", at=f"2025-{month:02}-{day:02}T00:00:00Z"
    )


def timeline(memory: LongTermMemory, days: range, month: int = 5) -> list[list[str]]:
    return [current(memory, f"2025-{month:02}-{day:02}T12:00:00Z") for day in days]


def test_late_history_finds_its_place(memory: LongTermMemory) -> None:
    for value, day in (("approved", 10), ("draft", 1), ("sent", 5), ("read", 7), ("made", 3)):
        status(memory, value, day)
    expected = ["draft"] * 2 + ["made"] * 2 + ["sent"] * 2 + ["read"] * 3 + ["approved"] * 2
    assert timeline(memory, range(1, 12)) == [[v] for v in expected]
    status(memory, "sent", 6)
    assert timeline(memory, range(1, 12)) == [[v] for v in expected]
    fact = memory.facts(user_id="ana").items[0]
    assert [f.object for f in memory.history(fact.id, user_id="ana")] == [
        "draft", "made", "sent", "read", "approved"
    ]  # fmt: skip


def test_a_value_asserted_again_is_not_replaced_by_what_came_between(memory: LongTermMemory) -> None:
    status(memory, "approved", 10)
    status(memory, "approved", 20)
    status(memory, "paid", 15)
    assert current(memory) == ["approved"]
    assert timeline(memory, range(10, 25)) == [["approved"]] * 15
    status(memory, "paid", 21)
    assert current(memory) == ["paid"]


def test_late_words_of_the_user_find_their_place(memory: LongTermMemory) -> None:
    say(memory, "I live in Oslo.", "2025-05-20")
    say(memory, "I live in Leeds.", "2025-01-20")
    say(memory, "I moved to Porto.", "2025-03-20")
    assert [current(memory, f"2025-0{m}-25") for m in range(1, 6)] == [
        ["Leeds"], ["Leeds"], ["Porto"], ["Porto"], ["Oslo"]
    ]  # fmt: skip


def test_an_applications_dates_order_what_is_to_come(memory: LongTermMemory, clock: Clock) -> None:
    status(memory, "draft", 1)
    status(memory, "active", 1, month=7)
    status(memory, "signed", 20)
    assert current(memory) == ["signed"]
    clock.now += timedelta(days=60)
    assert current(memory) == ["active"]


def test_later_words_withdraw_what_was_to_come(memory: LongTermMemory, clock: Clock) -> None:
    say(memory, "I live in Leeds.")
    memory.assert_fact("user", "lives_in", "Oslo", user_id="ana", source="form", at=START + timedelta(days=30))
    assert current(memory) == ["Leeds"]
    say(memory, "I live in Leeds.")
    say(memory, "I moved to Bergen.")
    assert current(memory) == ["Bergen"]
    clock.now += timedelta(days=60)
    assert current(memory) == ["Bergen"]


def test_what_was_to_come_is_denied(memory: LongTermMemory, clock: Clock) -> None:
    say(memory, "I live in Leeds.")
    memory.assert_fact("user", "lives_in", "Oslo", user_id="ana", source="form", at=START + timedelta(days=30))
    say(memory, "I don't live in Oslo.")
    clock.now += timedelta(days=60)
    assert "Leeds" in current(memory)
    assert not [f for f in memory.facts(user_id="ana") if f.object == "Oslo" and f.is_positive]


def test_what_was_to_come_is_told_again_or_comes_early(memory: LongTermMemory, clock: Clock) -> None:
    for _ in range(2):
        memory.assert_fact("user", "lives_in", "Oslo", user_id="ana", source="form", at=START + timedelta(days=30))
    (fact,) = memory.facts(user_id="ana", include_superseded=True)
    assert fact.support_count == 2
    say(memory, "I live in Oslo.")
    assert current(memory) == ["Oslo"]
    clock.now += timedelta(days=60)
    assert current(memory) == ["Oslo"]


def test_a_suppressed_value_is_reinforced_and_stays_suppressed(memory: LongTermMemory) -> None:
    say(memory, "I live in Leeds.")
    say(memory, "I like tea.")
    for fact in memory.facts(user_id="ana"):
        memory.suppress(fact.id, user_id="ana")
    say(memory, "I live in Leeds.")
    say(memory, "I like tea.")
    assert current(memory) == []
    every = list(memory.facts(user_id="ana", include_superseded=True))
    assert [(f.object, f.support_count) for f in every] == [("Leeds", 2), ("tea", 2)]


def test_a_new_value_closes_a_suppressed_one(memory: LongTermMemory) -> None:
    say(memory, "I live in Leeds.")
    leeds = memory.facts(user_id="ana").items[0]
    memory.suppress(leeds.id, user_id="ana")
    say(memory, "I moved to Porto.")
    assert current(memory) == ["Porto"]
    memory.unsuppress(leeds.id, user_id="ana")
    assert current(memory) == ["Porto"]
    assert [f.object for f in memory.history(leeds.id, user_id="ana")] == ["Leeds", "Porto"]


def test_two_values_to_come_follow_each_other(memory: LongTermMemory, clock: Clock) -> None:
    say(memory, "I live in Leeds.")
    for place, days in (("Oslo", 20), ("Rome", 30), ("Bergen", 10)):
        memory.assert_fact("user", "lives_in", place, user_id="ana", source="form", at=START + timedelta(days=days))
    seen = [current(memory, START + timedelta(days=d)) for d in (1, 11, 21, 31)]
    assert seen == [["Leeds"], ["Bergen"], ["Oslo"], ["Rome"]]
