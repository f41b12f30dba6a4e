"""How long the audit log, the feed and the marks of what policies dropped are kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory, NotFoundError
from ltm_core.testing.clock import Clock

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
TEXTS = ("We saw a long film about lighthouses.", "我们看了一部关于灯塔的电影。")


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[LongTermMemory]:
    settings: dict[str, Any] = {"audit_days": 90, "changes_days": 90, "replay_days": 365, "forgetting": ["decay"]}
    with LongTermMemory.open(tmp_path, embedder="none", clock=clock, timezone="UTC", **settings) as made:
        yield made


def test_by_default_all_is_kept(tmp_path: Path, clock: Clock) -> None:
    with LongTermMemory.open(tmp_path, embedder="none", clock=clock, timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I like green tea.")
        clock.now += timedelta(days=5000)
        assert memory.maintain().logs_dropped == {}
        assert [e.action for e in memory.audit("ana")] == ["observe"] and len(memory.changes().items) == 1


def test_old_rows_of_the_logs_go(memory: LongTermMemory, clock: Clock) -> None:
    memory.observe(user_id="ana", session_id="s", user="I like green tea.")
    clock.now += timedelta(days=89)
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    assert memory.maintain().logs_dropped == {}
    clock.now += timedelta(days=2)
    assert memory.maintain(dry_run=True).logs_dropped == {"audit": 1, "changes": 1}
    assert len(memory.audit("ana").items) == 2
    assert memory.maintain().logs_dropped == {"audit": 1, "changes": 1}
    assert [e.at.date() for e in memory.audit("ana") if e.action == "observe"] == [START.date() + timedelta(days=89)]
    assert [c.fact.object for c in memory.changes()] == ["Porto"] and memory.doctor().healthy


def test_who_follows_the_feed_too_seldom_is_told(memory: LongTermMemory, clock: Clock) -> None:
    memory.observe(user_id="ana", session_id="s", user="I like green tea.")
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    early, late = memory.changes()
    clock.now += timedelta(days=91)
    memory.observe(user_id="ana", session_id="s", user="I work as a nurse.")
    memory.maintain()
    with pytest.raises(NotFoundError, match=f"up to {late.cursor} .*changes_days"):
        memory.changes(since=early.cursor)
    with pytest.raises(NotFoundError):
        memory.changes(since=early.cursor, user_id="ana")
    assert [c.op for c in memory.changes(since=late.cursor)] == [c.op for c in memory.changes()] == ["add"]


@pytest.mark.parametrize("with_ids", [True, False], ids=["ids", "places"])
def test_a_replay_is_recognised_as_long_as_it_is_said(memory: LongTermMemory, clock: Clock, with_ids: bool) -> None:
    history = [{"role": "user", "content": t} | ({"id": f"m{n}"} if with_ids else {}) for n, t in enumerate(TEXTS)]
    asked = {"role": "user", "content": "The safe holds nine gold coins."} | ({"id": "m9"} if with_ids else {})
    memory.observe(user_id="ana", session_id="s", messages=[*history, asked])
    memory.forget_matching("nine gold coins", user_id="ana", dry_run=False)
    # An id is marked when the turn is dropped, its place when it was said.
    for days, known in ((300, True), (700 if with_ids else 400, False)):
        clock.now = START + timedelta(days=days)
        memory.maintain()
        clock.now = START + timedelta(days=days + 1)
        memory.maintain()
        seen = memory.observe(user_id="ana", session_id="s", messages=[*history, asked])
        assert [m.status for m in seen.messages] == ["erased" if known else "stored"] * 2 + ["erased"]
        assert "gold" not in " ".join(m.content for m in memory.messages(user_id="ana"))
