"""Hot first, where it is switched on: older turns are searched when too few answer, or a time is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.testing.clock import Clock

START = datetime(2025, 1, 6, 9, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    clock = Clock(START)
    with LongTermMemory.open(
        tmp_path / "s", embedder="none", clock=clock, timezone="UTC", tiers_by_age=True, hot_enough=2
    ) as opened:
        opened.observe(user_id="ana", session_id="old", user="The quagga exhibition was closed.")
        opened.observe(user_id="ana", session_id="old", user="The heron flew over the old mill.")
        opened.observe(user_id="ana", session_id="old", user="I am allergic to penicillin.")
        clock.now += timedelta(days=90)
        for n in range(3):
            opened.observe(user_id="ana", session_id="new", user=f"The heron came back to the lake, visit {n}.")
        yield opened


def found(memory: LongTermMemory, query: str, **options: object) -> list[str]:
    return [i.text for i in memory.search(query, user_id="ana", tiers=["episodic"], **options)]  # type: ignore[arg-type]


def test_enough_hot_turns_answer_alone(memory: LongTermMemory) -> None:
    assert len(found(memory, "Where was the heron?")) == 3
    assert not [t for t in found(memory, "Where was the heron?") if "mill" in t]


def test_older_turns_answer_when_hot_ones_do_not(memory: LongTermMemory) -> None:
    assert any("quagga" in t for t in found(memory, "What about the quagga exhibition?"))
    context = memory.context("What about the quagga exhibition?", user_id="ana")
    assert any("older turns were searched too" in n for n in context.notes)


def test_a_time_reaches_back(memory: LongTermMemory) -> None:
    assert any("mill" in t for t in found(memory, "Where was the heron in January 2025?"))
    assert found(memory, "heron", until=START + timedelta(days=1))[0] == "The heron flew over the old mill."


def test_facts_have_no_age(memory: LongTermMemory) -> None:
    assert "penicillin" in memory.context("What am I allergic to?", user_id="ana").text
