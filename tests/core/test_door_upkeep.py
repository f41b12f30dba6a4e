"""Time as the injected clock tells it: sweeps, archives, expiry."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import ConflictError, LongTermMemory
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import FailingEmbedder, HashEmbedder

START = datetime(2025, 6, 2, 10, tzinfo=UTC)
EVER = timedelta(days=36500)


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder="none", clock=clock, timezone="UTC") as opened:
        yield opened


def current(memory: LongTermMemory, **options: object) -> list[str]:
    return [f.object for f in memory.facts(user_id="ana", **options)]  # type: ignore[arg-type]


def test_the_store_knows_the_injected_time(tmp_path: Path, clock: Clock) -> None:
    clock.now += EVER
    with LongTermMemory.open(tmp_path / "store", embedder="none", clock=clock, timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.", ttl=60)
        (fact,) = memory.facts(user_id="ana")
        assert memory.history(fact.id, user_id="ana").items[0].is_current
        assert memory.stats().current_facts == 1
        with pytest.raises(ConflictError):
            memory.restore(fact.id, user_id="ana")


@pytest.mark.parametrize("year", [2001, 2030])
def test_a_session_is_idle_by_arrival_not_by_the_dates_of_its_turns(
    memory: LongTermMemory, clock: Clock, year: int
) -> None:
    said = START.replace(year=year)
    memory.observe(user_id="ana", session_id="s", user="I play the oboe.", at=said)
    assert memory.maintain(dry_run=True).sessions_closed == memory.maintain().sessions_closed == 0
    clock.now += timedelta(seconds=901)
    assert memory.maintain(dry_run=True).sessions_closed == memory.maintain().sessions_closed == 1
    (session,) = memory.sessions(user_id="ana")
    assert session.last_at == said and session.ended_at is not None


def test_sessions_are_listed_by_the_time_of_their_turns(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="new", user="hello", at=START)
    memory.observe(user_id="ana", session_id="old", user="hello", at=START - EVER)
    assert [s.id for s in memory.sessions(user_id="ana")] == ["new", "old"]


def test_an_archived_turn_keeps_its_words_and_its_facts(tmp_path: Path, clock: Clock) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder(), clock=clock, timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I play the oboe.", doc_type="meeting_notes", ttl=10_000)
        memory.context("oboe?", user_id="ana")  # the cache holds the rows with their end
        clock.now += timedelta(seconds=9_000)
        planned, done = memory.maintain(dry_run=True), memory.maintain()
        assert planned.archived == done.archived == 1
        clock.now += timedelta(seconds=9_000)
        memory.maintain()
        assert current(memory) == ["the oboe"]
        assert {i.tier for i in memory.search("oboe", user_id="ana")} == {"semantic", "episodic"}


def test_a_dry_run_tells_what_the_run_does(tmp_path: Path, clock: Clock) -> None:
    embedder = FailingEmbedder()
    with LongTermMemory.open(tmp_path / "s", embedder=embedder, clock=clock, timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="Minutes one.", doc_type="meeting_notes", ttl=60)
        memory.observe(user_id="ana", session_id="s", user="Minutes two.", doc_type="meeting_notes")
        memory.set_slot("a", 1, user_id="ana", session_id="s")
        embedder.failures = 0
        clock.now += timedelta(hours=3)
        planned, done = memory.maintain(dry_run=True), memory.maintain()
    counts = [
        (r.sessions_closed, r.slots_expired, r.items_expired, r.archived, r.jobs_done, r.embedded)
        for r in (planned, done)
    ]
    assert counts[0] == counts[1]
    assert done.archived == 1 and done.embedded >= 1


def test_a_statement_lasts_as_long_as_its_longest_telling(tmp_path: Path, clock: Clock) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder(), clock=clock, timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I play the oboe.", ttl=60)
        memory.observe(user_id="ana", session_id="s", user="I play the oboe.", ttl=3600)
        memory.observe(user_id="ana", session_id="s", user="I like tea.", ttl=60)
        memory.observe(user_id="ana", session_id="s", user="I like tea.")
        memory.observe(user_id="ana", session_id="s", user="I like tea.", ttl=60)
        clock.now += timedelta(seconds=120)
        for _ in range(2):
            assert current(memory) == ["the oboe", "tea"]
            found = memory.search("oboe tea", user_id="ana", tiers=("semantic",))
            assert sorted(i.text for i in found) == ["I like tea", "I play the oboe"]
            memory.maintain()
        clock.now += timedelta(hours=1)
        assert current(memory) == ["tea"]


@pytest.mark.parametrize("swept", [True, False])
def test_what_an_expired_value_had_replaced_holds_again(memory: LongTermMemory, clock: Clock, swept: bool) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Leeds.")
    clock.now += timedelta(days=1)
    memory.observe(user_id="ana", session_id="s", user="I moved to Porto.", ttl=3600)
    moved = clock.now
    assert current(memory) == ["Porto"]
    clock.now += timedelta(hours=2)
    if swept:
        assert memory.maintain().items_expired == 2
    assert current(memory) == ["Leeds"]
    assert [f.object for f in memory.profile("ana").about_user["lives_in"]] == ["Leeds"]
    assert "Leeds" in memory.context("Where do I live?", user_id="ana").text
    assert memory.stats().current_facts == 1
    if not swept:
        assert current(memory, as_of=moved) == ["Porto"]
    memory.observe(user_id="ana", session_id="s", user="I moved to Oslo.")
    memory.maintain()
    assert current(memory) == ["Oslo"]


def test_values_that_expire_together_give_way_to_the_one_before(memory: LongTermMemory, clock: Clock) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Leeds.")
    memory.observe(user_id="ana", session_id="s", user="I moved to Porto.", ttl=60)
    memory.observe(user_id="ana", session_id="s", user="I moved to Oslo.", ttl=60)
    clock.now += timedelta(hours=2)
    memory.maintain()
    assert current(memory) == ["Leeds"]


def test_an_expired_value_in_the_middle_leaves_no_gap(memory: LongTermMemory, clock: Clock) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Leeds.")
    memory.observe(user_id="ana", session_id="s", user="I moved to Porto.", ttl=60)
    middle = clock.now
    clock.now += timedelta(seconds=10)
    memory.observe(user_id="ana", session_id="s", user="I moved to Oslo.")
    clock.now += timedelta(hours=2)
    assert current(memory) == ["Oslo"]
    memory.maintain()
    assert current(memory) == ["Oslo"] and current(memory, as_of=middle) == ["Leeds"]


def test_what_came_late_does_not_hold_again(memory: LongTermMemory, clock: Clock) -> None:
    def status(value: str, day: int) -> None:
        memory.assert_fact("quote:1", "status", value, user_id="ana", source="erp", at=f"2025-05-{day:02}T00:00:00Z")

    memory.observe(user_id="ana", session_id="s", user="I live in Porto.", at="2025-05-01")
    memory.observe(user_id="ana", session_id="s", user="I live in Oslo.", at="2025-05-10", ttl=60)
    memory.observe(user_id="ana", session_id="s", user="I live in Leeds.", at="2025-05-05")
    for value, day in (("draft", 1), ("approved", 10), ("approved", 20), ("paid", 15)):
        status(value, day)
    clock.now += timedelta(hours=1)
    for _ in range(2):
        assert sorted(current(memory)) == ["Leeds", "approved"]
        memory.maintain()
