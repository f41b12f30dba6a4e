"""Corrections, restoring and unsuppressing keep one value per slot and instant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import Fact, LongTermMemory, NotFoundError
from ltm_core.testing.clock import Clock

START = datetime(2025, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder="none", clock=clock, timezone="UTC") as opened:
        yield opened


def current(memory: LongTermMemory, as_of: datetime | None = None) -> list[str]:
    return [f.object for f in memory.facts(user_id="ana", as_of=as_of)]


def every(memory: LongTermMemory) -> list[Fact]:
    return list(memory.facts(user_id="ana", include_superseded=True))


def named(memory: LongTermMemory, object: str) -> Fact:
    return next(f for f in every(memory) if f.object == object)


def say(memory: LongTermMemory, words: str) -> datetime:
    """Says it and returns an instant a little later; a day passes."""
    clock: Clock = memory._runtime.clock  # type: ignore[assignment]
    memory.observe(user_id="ana", session_id="s", user=words)
    then = clock.now + timedelta(hours=1)
    clock.now += timedelta(days=1)
    return then


# correct ----------------------------------------------------------------------------------------------
def test_correcting_a_past_value_leaves_the_present_one(memory: LongTermMemory) -> None:
    before = say(memory, "I live in Leeds.")
    after = say(memory, "I moved to Porto.")
    leeds, porto = named(memory, "Leeds"), named(memory, "Porto")
    done = memory.correct(fact_id=leeds.id, right="York", user_id="ana")
    assert done.fact.object == "York" and done.fact.superseded_by == porto.id
    assert done.previous is not None and done.previous.retracted_at is not None
    assert (current(memory, before), current(memory, after), current(memory)) == (["York"], ["Porto"], ["Porto"])
    assert [f.object for f in memory.history(porto.id, user_id="ana")] == ["Leeds", "York", "Porto"]


@pytest.mark.parametrize("named_by", ["fact_id", "wrong"])
def test_the_same_correction_again_changes_nothing(memory: LongTermMemory, named_by: str) -> None:
    say(memory, "I live in Leeds.")
    leeds = named(memory, "Leeds")
    how = {"fact_id": leeds.id} if named_by == "fact_id" else {"wrong": "Leeds"}
    first = memory.correct(right="York", user_id="ana", **how)
    feed = len(list(memory.changes(user_id="ana")))
    again = memory.correct(right="York", user_id="ana", **how)
    assert (again.op, again.fact.id) == ("skip", first.fact.id)
    assert again.previous is not None and again.previous.id == leeds.id
    assert len(every(memory)) == 2 and len(list(memory.changes(user_id="ana"))) == feed
    assert current(memory) == ["York"]
    with pytest.raises(NotFoundError):
        memory.correct(wrong="Leeds", right="Hull", user_id="ana")
    memory.correct(fact_id=leeds.id, right="Hull", user_id="ana")
    assert current(memory) == ["Hull"]


def test_a_corrected_value_holds_from_the_beginning(memory: LongTermMemory) -> None:
    before = say(memory, "I live in Leeds.")
    memory.correct(wrong="Leeds", right="I live in York.", user_id="ana")
    assert current(memory) == current(memory, before) == ["York"]


def test_the_truth_may_belong_to_another_slot(memory: LongTermMemory) -> None:
    say(memory, "I like green tea.")
    say(memory, "I live in Leeds.")
    done = memory.correct(wrong="green tea", right="I live in Oslo.", user_id="ana")
    assert current(memory) == ["Oslo"] and done.fact.object == "Oslo"
    assert named(memory, "green tea").retracted_at is not None
    leeds = named(memory, "Leeds")
    assert leeds.valid_to is not None and leeds.retracted_at is None


def test_a_known_truth_is_reinforced(memory: LongTermMemory) -> None:
    say(memory, "I like tea.")
    say(memory, "I like coffee.")
    tea = named(memory, "tea")
    done = memory.correct(wrong="coffee", right="tea", user_id="ana")
    assert (done.op, done.fact.id, done.fact.support_count) == ("reinforce", tea.id, 2)
    assert done.previous is not None and done.previous.object == "coffee"
    assert current(memory) == ["tea"] and len(every(memory)) == 2
    assert memory.correct(wrong="coffee", right="tea", user_id="ana").op == "skip"
    assert named(memory, "tea").support_count == 2


def test_the_successor_was_true_all_along(memory: LongTermMemory) -> None:
    before = say(memory, "I live in Leeds.")
    say(memory, "I moved to Porto.")
    memory.correct(fact_id=named(memory, "Leeds").id, right="Porto", user_id="ana")
    assert current(memory) == current(memory, before) == ["Porto"]


def test_a_correction_and_back(memory: LongTermMemory) -> None:
    say(memory, "I live in Leeds.")
    memory.correct(wrong="Leeds", right="York", user_id="ana")
    memory.correct(wrong="York", right="Leeds", user_id="ana")
    assert current(memory) == ["Leeds"]
    memory.correct(wrong="Leeds", right="York", user_id="ana")
    assert current(memory) == ["York"]


# suppress ---------------------------------------------------------------------------------------------
def test_unsuppressing_brings_a_value_back(memory: LongTermMemory) -> None:
    say(memory, "I live in Leeds.")
    leeds = named(memory, "Leeds")
    memory.suppress(leeds.id, user_id="ana")
    say(memory, "I like tea.")
    assert current(memory) == ["tea"]
    assert memory.unsuppress(leeds.id, user_id="ana").fact.is_current
    assert current(memory) == ["Leeds", "tea"]


@pytest.mark.parametrize("older", [True, False])
def test_of_two_values_the_one_told_later_stays(memory: LongTermMemory, older: bool) -> None:
    say(memory, "I live in Leeds.")
    say(memory, "I moved to Porto.")
    quiet, other = ("Leeds", "Porto") if older else ("Porto", "Leeds")
    # As an import or an older version may have left it.
    with memory._runtime.store.write("ana") as writer:
        writer.update_fact(replace(named(memory, "Leeds"), valid_to=None, superseded_by=None))
        writer.update_fact(replace(named(memory, quiet), valid_to=None, superseded_by=None, suppressed_at=START))
    assert current(memory) == [other]
    memory.unsuppress(named(memory, quiet).id, user_id="ana")
    assert current(memory) == ["Porto"]
    assert named(memory, "Leeds").superseded_by == named(memory, "Porto").id


# restore ----------------------------------------------------------------------------------------------
def test_restoring_leaves_one_value_per_instant(memory: LongTermMemory, clock: Clock) -> None:
    instants = [say(memory, w) for w in ("I live in Leeds.", "I moved to Porto.", "I moved to Oslo.")]
    leeds = named(memory, "Leeds")
    memory.restore(leeds.id, user_id="ana")
    assert [current(memory, t) for t in instants] == [["Leeds"], ["Porto"], ["Oslo"]]
    assert current(memory) == ["Leeds"] and memory.facts(user_id="ana").items[0].id == leeds.id
    clock.now += timedelta(days=1)
    memory.restore(named(memory, "Porto").id, user_id="ana")
    assert [current(memory, t) for t in instants] == [["Leeds"], ["Porto"], ["Oslo"]]
    assert current(memory) == ["Porto"]


def test_restoring_what_nothing_replaced_gives_it_back_whole(memory: LongTermMemory) -> None:
    instants = [say(memory, w) for w in ("I live in Leeds.", "I no longer live in Leeds.")]
    memory.restore(named(memory, "Leeds").id, user_id="ana")
    assert ["Leeds" in current(memory, t) for t in instants] == [True, True]


def test_restoring_a_corrected_value_takes_the_place_of_the_correction(memory: LongTermMemory) -> None:
    before = say(memory, "I live in Leeds.")
    memory.correct(wrong="Leeds", right="York", user_id="ana")
    memory.restore(named(memory, "Leeds").id, user_id="ana")
    assert current(memory) == ["Leeds"] and current(memory, before) == ["York"]


def test_restoring_an_expired_value_ends_the_one_told_since(memory: LongTermMemory, clock: Clock) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Leeds.", ttl=60)
    clock.now += timedelta(days=1)
    since = say(memory, "I live in Porto.")
    memory.restore(named(memory, "Leeds").id, user_id="ana")
    assert current(memory) == ["Leeds"] and current(memory, since) == ["Porto"]


def test_an_expired_correction_gives_way_to_the_value_before(memory: LongTermMemory, clock: Clock) -> None:
    say(memory, "I live in Leeds.")
    memory.observe(user_id="ana", session_id="s", user="I moved to Porto.", ttl=7200)
    memory.correct(wrong="Porto", right="Oslo", user_id="ana")
    assert current(memory) == ["Oslo"]
    clock.now += timedelta(hours=3)
    assert current(memory) == ["Leeds"]
