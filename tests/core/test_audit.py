"""The audit log: every write with who and why, never with the words of a memory."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ltm_core import AuditEntry, InvalidInputError, LongTermMemory, acting
from ltm_core.testing.clock import Clock

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
WORDS = ("Porto", "Lisbon", "KESTREL", "北京", "oboe")


def opened(path: Path, **options: Any) -> LongTermMemory:
    return LongTermMemory.open(path, **{"embedder": "none", "timezone": "UTC", "clock": Clock(T0), **options})


def actions(entries: Any) -> list[str]:
    return [e.action for e in entries]


def test_every_write_is_logged_with_actor_and_reason(tmp_path: Path) -> None:
    with opened(tmp_path / "s") as memory:
        desk = memory.bind("ana", session_id="s1", actor="desk", reason="case 7")
        desk.observe(user="I live in Porto. My passport is KESTREL. 我住过北京。", message_id="m1")
        desk.observe(user="I live in Porto. My passport is KESTREL. 我住过北京。", message_id="m1")
        desk.remember("I play the oboe")
        desk.assert_fact("order:1", "status", "open", source="erp")
        desk.set_slot("city", "Lisbon")
        oboe = next(f for f in memory.facts(user_id="ana") if "oboe" in f.text)
        desk.suppress(oboe.id)
        desk.unsuppress(oboe.id)
        desk.correct(fact_id=oboe.id, right="flute")
        desk.restore(oboe.id)
        desk.clear_window()
        desk.replace_messages([{"role": "user", "content": "hello"}])
        desk.pause()
        desk.resume()
        list(desk.export_user())
        desk.forget(oboe.id)
        desk.delete_messages(["m1"])
        desk.end_session("s1")
        desk.forget_session("s1")
        entries = list(memory.audit("ana"))
        assert {(e.actor, e.reason, e.user_id) for e in entries} == {("desk", "case 7", "ana")}
        assert actions(entries) == [
            "observe", "remember", "assert_fact", "set_slot", "suppress", "unsuppress", "correct", "restore",
            "clear_window", "observe", "pause", "resume", "export", "forget_memory", "forget_messages",
            "end_session", "forget_session",
        ]  # fmt: skip
        first = entries[0]
        assert first.target == "m1" and first.counts["messages"] == 1 and first.at >= T0
        assert first.user_id_hmac == memory._runtime.store.mac("ana")
        said = json.dumps([[e.action, e.target, e.counts, e.actor, e.reason] for e in entries], ensure_ascii=False)
        assert not [w for w in WORDS if w in said]


def test_a_call_names_its_own_actor_and_a_block_serves_many(tmp_path: Path) -> None:
    with opened(tmp_path / "s") as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.", actor="bot")
        with acting("cron", "nightly"), acting(reason="nightly, second try"):
            memory.remember("I play the oboe", user_id="ana")

            async def also() -> None:
                await memory.aremember("I play the flute", user_id="ana")

            asyncio.run(also())
        (fact, *_) = memory.facts(user_id="ana")
        bound = memory.bind("ana", actor="desk", reason="r")
        bound.forget(fact.id, actor="ana herself", reason="asked")
        memory.observe(user_id="ana", session_id="s", user="ok")
        assert [(e.actor, e.reason) for e in memory.audit("ana")] == [
            ("bot", None),
            ("cron", "nightly, second try"),
            ("cron", "nightly, second try"),
            ("ana herself", "asked"),
            (None, None),
        ]
        for wrong in ("", " ", "x" * 201, 7, "a\0b"):
            with pytest.raises(InvalidInputError):
                memory.observe(user_id="ana", session_id="s", user="no", actor=wrong)  # type: ignore[arg-type]
            with pytest.raises(InvalidInputError):
                memory.bind("ana", reason=wrong)  # type: ignore[arg-type]
        assert len(memory.messages(user_id="ana")) == 2


def test_pages_and_cursors(tmp_path: Path) -> None:
    with opened(tmp_path / "s") as memory:
        for n in range(7):
            memory.observe(user_id=("ana", "ben")[n % 2], session_id="s", user=f"ok {n}")
        everyone = memory.audit(limit=3)
        assert len(everyone.items) == 3 and [e.user_id for e in everyone] == ["ana", "ben"] * 3 + ["ana"]
        assert len(list(memory.audit("ana", limit=1))) == 4
        cursor = everyone.items[-1].cursor
        assert len(list(memory.audit(since=cursor))) == 4 and len(list(memory.audit("ben", since=cursor))) == 2
        assert list(memory.audit(since=list(everyone)[-1].cursor)) == []
        with pytest.raises(InvalidInputError):
            memory.audit(since="x")


def test_of_an_erased_user_one_row_stays(tmp_path: Path) -> None:
    with opened(tmp_path / "s") as memory:
        memory.observe(user_id="ana-id", session_id="s", user="I live in Porto.", actor="ana-id")
        receipt = memory.forget_user("ana-id", actor="ana-id", reason="ana-id asked")
        (left,) = memory.audit()
        mac = memory._runtime.store.mac("ana-id")
        assert left == AuditEntry(
            at=left.at,
            action="forget_user",
            actor=mac,
            user_id_hmac=mac,
            target=receipt.id,
            counts=left.counts,
            cursor=left.cursor,
        )
        assert left.counts["messages"] == 1 and left.counts["audit"] == 1
        assert receipt.user_id_hmac == mac and list(memory.audit("ana-id")) == []
    held = b"".join(p.read_bytes() for p in (tmp_path / "s").rglob("*") if p.is_file())
    assert b"ana-id" not in held and b"Porto" not in held


def test_reads_are_logged_on_request_and_off_the_hot_path(tmp_path: Path) -> None:
    with opened(tmp_path / "off") as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
        memory.context("home", user_id="ana")
        memory.maintain()
        assert actions(memory.audit()) == ["observe"]
    with opened(tmp_path / "on", audit_reads=True) as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
        ana = memory.bind("ana", session_id="s", actor="desk")
        ana.context("home"), ana.search("home"), ana.facts(), ana.messages(), ana.profile(), ana.sessions()
        ana.changes(), ana.related(), ana.slots(), ana.get_slot("x")
        memory.context("x", user_id="nobody")
        assert actions(memory.audit("ana")) == ["observe"], "they wait"
        memory.observe(user_id="ana", session_id="s", user="ok")
        logged = list(memory.audit("ana"))
        assert actions(logged)[2:] == [
            "context", "search", "facts", "messages", "profile", "sessions", "changes", "related", "slots",
            "get_slot",
        ]  # fmt: skip
        assert {e.actor for e in logged[2:]} == {"desk"} and logged[2].at < logged[1].at
        ana.facts()
        memory.maintain()
        assert actions(memory.audit("ana"))[-1] == "facts"
        ana.facts()
        memory.facts(user_id="ben")
    with opened(tmp_path / "on", audit_reads=True) as memory:
        assert actions(memory.audit("ana"))[-2:] == ["facts", "facts"], "closing writes them down"
        assert memory.stats().users == 1
        memory.facts(user_id="ana")
        memory.forget_user("ana")
        memory.maintain()
        assert actions(memory.audit()) == ["forget_user"]
        for _ in range(1001):
            memory.facts(user_id="ben")
        assert memory._runtime.reads.users == [], "the buffer is bounded"


def test_the_stores_own_acts(tmp_path: Path) -> None:
    with opened(tmp_path / "s") as memory:
        memory.set_slot("x", 1, user_id="ana", session_id="s", ttl=1)
        memory.backup(tmp_path / "b", actor="cron", reason="weekly")
        memory.maintain(T0.replace(year=2027))
        memory.maintain(T0.replace(year=2027))
        rows = [e for e in memory.audit() if e.user_id is None]
        assert [(e.action, e.actor, e.reason, e.user_id_hmac) for e in rows] == [
            ("backup", "cron", "weekly", ""),
            ("maintain", None, None, ""),
        ]
