"""Maintenance stops at any point and goes on, and lets turns through between its transactions."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import BusyError, LongTermMemory
from ltm_core.testing.clock import Clock

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
SETTINGS: dict[str, Any] = {
    "embedder": "none",
    "timezone": "UTC",
    "forgetting": ["decay", "ttl"],
    "ttl_days": {"status": 30},
    "audit_days": 30,
    "changes_days": 30,
    "consolidate_after_days": 2,
    "consolidate_min_turns": 3,
    "consolidate_weekly_after_days": 0,
}
TALK = {
    "ana": ("We saw {} ships at the lighthouse.", "The bakery sells {} kinds of rye bread."),
    "lin": ("我们在灯塔看到了{}艘船。", "面包店卖{}种黑麦面包。"),
}


def lived(path: Path, clock: Clock) -> LongTermMemory:
    """A few days of two users, in Chinese and English, long ago."""
    clock.now = START
    memory = LongTermMemory.open(path, clock=clock, **SETTINGS)
    for day in range(2):
        for user, texts in TALK.items():
            for n in range(3):
                memory.observe(user_id=user, session_id=f"s{day}", user=texts[day].format(20 + n))
        clock.now += timedelta(days=1)
    memory.observe(user_id="ana", session_id="last", user="I am allergic to penicillin.")
    memory.observe(user_id="lin", session_id="last", user="我对青霉素过敏。")
    memory.assert_fact("order:7", "status", "sent", user_id="ana", source="shop")
    clock.now += timedelta(days=400)
    return memory


def held(memory: LongTermMemory) -> dict[str, Any]:
    """What is in the store, without ids and times of the run."""
    summaries = {}
    for user in ("ana", "lin"):
        with memory._runtime.store.read(user) as reader:
            summaries[user] = sorted((s.level, s.text) for s in reader.summaries())
    return {
        "turns": {u: [m.content for m in memory.messages(user_id=u)] for u in ("ana", "lin")},
        "facts": {u: sorted(f.text for f in memory.facts(user_id=u)) for u in ("ana", "lin")},
        "open": [s.id for u in ("ana", "lin") for s in memory.sessions(user_id=u) if s.ended_at is None],
        "summaries": summaries,
    }


class _StopError(Exception):
    """The process is gone."""


@pytest.mark.parametrize("each", [3])
def test_stopped_at_any_point_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, each: int
) -> None:
    with lived(tmp_path / "whole", Clock(START)) as memory:
        memory.maintain()
        wanted = held(memory)
    clock = Clock(START)
    memory = lived(tmp_path / "stopped", clock)
    store = memory._runtime.store
    original, left, stops = store.write, each, 0

    def write(user_id: str) -> AbstractContextManager[Any]:
        nonlocal left
        if left <= 0:
            raise _StopError
        left -= 1
        return original(user_id)

    monkeypatch.setattr(store, "write", write)
    while True:
        # A lease of the run that stopped is over before the next one.
        left, clock.now = each, clock.now + timedelta(minutes=30)
        try:
            memory.maintain()
            break
        except _StopError:
            stops += 1
    monkeypatch.undo()
    memory.maintain()
    assert stops >= 2 and held(memory) == wanted and memory.doctor().healthy
    memory.close()


def test_turns_get_through_between_its_transactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(START)
    memory = lived(tmp_path, clock)
    other = LongTermMemory.open(tmp_path, clock=clock, maintenance_batch=3, **SETTINGS)
    told: list[str] = []
    operations = type(other._runtime.store.operations())
    close = operations.close_idle_sessions

    def closing(self: Any, **arguments: Any) -> Any:
        # Between two batches, and in the place of a busy one, somebody else's turn is stored.
        told.append(f"Live turn {len(told)}.")
        memory.observe(user_id="live", session_id="now", user=told[-1])
        found = close(self, **arguments)
        assert found <= 3
        return found

    monkeypatch.setattr(operations, "close_idle_sessions", closing)
    report = other.maintain()
    assert report.sessions_closed == 6 and len(told) == 3
    assert [m.content for m in memory.messages(user_id="live")] == told
    with memory._runtime.store.write("ana"), pytest.raises(BusyError):
        LongTermMemory.open(tmp_path, clock=clock, busy_timeout_seconds=0.05, **SETTINGS).maintain()
    other.close()
    memory.close()
