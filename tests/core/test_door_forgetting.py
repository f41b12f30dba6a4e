"""Forgetting by policy through the door: what goes, what stays, who is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import Config, ConfigError, InvalidInputError, LongTermMemory
from ltm_core.keep.consolidate import settle
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
Opening = Callable[..., LongTermMemory]


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Opening]:
    """Opens one store as often as asked."""
    memories: list[LongTermMemory] = []

    def open_it(**options: object) -> LongTermMemory:
        memories.append(
            LongTermMemory.open(
                tmp_path / "store",
                embedder=HashEmbedder(),
                clock=clock,
                **{"timezone": "UTC", **options},  # type: ignore[arg-type]
            )
        )
        return memories[-1]

    yield open_it
    for memory in memories:
        memory.close()


def talk(memory: LongTermMemory, user_id: str = "ana", films: int = 3) -> None:
    for n in range(films):
        memory.observe(user_id=user_id, session_id=f"s{n}", user=f"We saw a long film about lighthouse {n} today.")
    memory.observe(user_id=user_id, session_id="facts", user="I am allergic to penicillin.")
    memory.observe(user_id=user_id, session_id="facts", user="Please remember that the spare key is under the pot.")
    memory.observe(user_id=user_id, session_id="facts", user="My order number is ORD-20417.")
    memory.observe(user_id=user_id, session_id="facts", user="I like green tea.")


def words(memory: LongTermMemory, user_id: str = "ana") -> str:
    return " | ".join([m.content for m in memory.messages(user_id=user_id)])


def objects(memory: LongTermMemory, user_id: str = "ana") -> set[str]:
    return {f.object for f in memory.facts(user_id=user_id, include_superseded=True)}


def test_nothing_is_forgotten_unless_a_policy_is_named(opened: Opening, clock: Clock) -> None:
    memory = opened()
    talk(memory)
    clock.now += timedelta(days=3000)
    report = memory.maintain()
    assert (report.forgotten, report.spared, report.decisions) == ({}, {}, ())
    assert "lighthouse 2" in words(memory)


def test_decay_keeps_what_matters_and_a_dry_run_says_so_before(opened: Opening, clock: Clock) -> None:
    memory = opened(forgetting=["decay"])
    talk(memory)
    clock.now += timedelta(days=700)
    planned = memory.maintain(dry_run=True)
    assert "lighthouse" in words(memory)
    done = memory.maintain()
    assert planned.forgotten == done.forgotten == {"decay": 5}
    assert planned.decisions == done.decisions and planned.spared == done.spared
    assert {d.kind for d in done.decisions} == {"fact", "message"} and {d.user_id for d in done.decisions} == {"ana"}
    assert "lighthouse" not in words(memory) and not {o for o in objects(memory) if "tea" in o}
    assert {"penicillin"} <= objects(memory) and "under the pot" in objects(memory)
    assert "ORD-20417" in words(memory)
    assert "penicillin" in memory.context("What am I allergic to?", user_id="ana").text
    assert memory.maintain().forgotten == {} and memory.doctor().healthy


def test_what_is_forgotten_is_in_no_file_and_in_the_log(opened: Opening, clock: Clock, tmp_path: Path) -> None:
    memory = opened(forgetting=["decay"])
    talk(memory)
    clock.now += timedelta(days=700)
    memory.maintain()
    entry = next(e for e in memory.audit("ana") if e.action == "forget_policy")
    assert entry.counts == {"messages": 4, "facts": 1, "decay": 5}
    erased = [c for c in memory.changes(user_id="ana") if c.op == "erase"]
    assert [c.reason for c in erased] == ["forgotten: decay"] and erased[0].fact.text == ""
    data = b"".join(p.read_bytes() for p in (tmp_path / "store").rglob("*") if p.is_file())
    assert b"lighthouse" not in data and b"green tea" not in data and b"penicillin" in data


def test_a_host_that_sends_its_whole_history_again_brings_nothing_back(opened: Opening, clock: Clock) -> None:
    memory = opened(forgetting=["decay"])
    history = [{"role": "user", "content": f"We saw film {n}."} for n in range(4)]
    named = [{"role": "user", "content": f"We heard song {n}.", "id": f"m{n}"} for n in range(4)]
    memory.observe(user_id="ana", session_id="plain", messages=history)
    memory.observe(user_id="ana", session_id="named", messages=named)
    clock.now += timedelta(days=300)
    assert memory.maintain().forgotten == {"decay": 8}
    again = memory.observe(
        user_id="ana", session_id="plain", messages=[*history, {"role": "user", "content": "New."}]
    )
    assert [m.status for m in again.messages] == ["erased"] * 4 + ["stored"]
    assert {m.status for m in memory.observe(user_id="ana", session_id="named", messages=named).messages} == {
        "erased"
    }


def test_recall_keeps_a_memory_and_is_counted_with_later_writes(opened: Opening, clock: Clock) -> None:
    memory = opened(forgetting=["decay"])
    talk(memory)
    for _ in range(3):
        clock.now += timedelta(days=20)
        first = memory.search("green tea", user_id="ana", tiers=["semantic"])
        assert memory.search("green tea", user_id="ana", tiers=["semantic"]) == first
        memory.search("film about lighthouse 1", user_id="ana", tiers=["episodic"], top_k=1)
    (tea,) = (f for f in memory.facts(user_id="ana") if "tea" in f.object)
    assert tea.access_count == 0
    memory.maintain()
    assert memory.history(tea.id, user_id="ana").items[0].access_count == 6
    clock.now += timedelta(days=100)
    memory.maintain()
    assert any("tea" in o for o in objects(memory))
    assert "lighthouse 1" in words(memory) and "lighthouse 2" not in words(memory)


def test_uses_are_counted_by_a_later_write_once_they_are_many(opened: Opening, clock: Clock) -> None:
    memory = opened()
    for n in range(70):
        memory.assert_fact(f"item-{n}", "colour", f"red {n}", user_id="ana", source="test")
    for n in range(70):
        memory.search(f"item-{n} colour red {n}", user_id="ana", top_k=1)
    memory.observe(user_id="ana", session_id="s", user="Hello there.")
    assert sum(f.access_count for f in memory.facts(user_id="ana")) == 70


def test_uses_are_counted_at_close_and_never_by_a_reader(opened: Opening, clock: Clock) -> None:
    memory = opened()
    talk(memory)
    memory.search("green tea", user_id="ana")
    memory.close()
    with opened(read_only=True) as reader:
        reader.search("green tea", user_id="ana")
    counts = {f.object: f.access_count for f in opened(count_uses=False).facts(user_id="ana")}
    assert [n for o, n in counts.items() if "tea" in o] == [1]


def test_capacity_drops_the_least_valuable(opened: Opening, clock: Clock) -> None:
    memory = opened(forgetting=["capacity"], capacity_per_user=8)
    talk(memory, films=20)
    clock.now += timedelta(hours=1)
    report = memory.maintain()
    assert report.forgotten == {"capacity": 20 + 4 + len(objects(memory)) - 8}
    assert "penicillin" in objects(memory) and memory.maintain().forgotten == {}


def test_ttl_is_per_kind(opened: Opening, clock: Clock) -> None:
    memory = opened(forgetting=["ttl"], ttl_days={"message": 30})
    talk(memory)
    clock.now += timedelta(days=31)
    memory.maintain()
    assert "lighthouse" not in words(memory) and "green tea" not in words(memory)
    assert any("tea" in o for o in objects(memory)) and memory.doctor().healthy


def test_deep_users_are_remembered_longer(opened: Opening, clock: Clock) -> None:
    memory = opened(forgetting=["decay", "capacity"], capacity_per_user=6, retention_classes={
        "deep": {"half_life_days": 3650, "capacity": 0}, "guest": {"half_life_days": 1, "capacity": 5},
    })  # fmt: skip
    for user in ("ana", "ben", "cleo"):
        talk(memory, user)
    memory.set_retention("ben", "deep", actor="support")
    memory.set_retention("cleo", "guest")
    assert memory.profile("ben").retention == "deep" and memory.profile("ana").retention == "ordinary"
    clock.now += timedelta(days=8)
    memory.maintain()
    assert "lighthouse" in words(memory, "ben") and "lighthouse" not in words(memory, "cleo")
    memory.set_retention("ben", "ordinary")
    assert memory.profile("ben").retention == "ordinary"
    clock.now += timedelta(days=300)
    memory.maintain()
    assert "lighthouse" not in words(memory, "ben")
    assert [(e.target, e.actor) for e in memory.audit("ben") if e.action == "set_retention"] == [
        ("deep", "support"), ("ordinary", None),
    ]  # fmt: skip


def test_refused_before_anything_changes(opened: Opening) -> None:
    memory = opened()
    with pytest.raises(InvalidInputError, match="deep, not 'eternal'"):
        memory.set_retention("ana", "eternal")
    assert memory.stats().users == 0
    refused: tuple[dict[str, Any], ...] = (
        {"forgetting": ["sometimes"]},
        {"ttl_days": {"rumour": 3}},
        {"ttl_days": {"message": 0}},
        {"retention_classes": {"ordinary": {}}},
        {"retention_classes": {"deep": {"half_life": 3}}},
    )
    for bad in refused:
        with pytest.raises(ConfigError):
            Config.make(**bad)


def test_policies_are_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = tmp_path / "ltm.toml"
    toml.write_text(
        'forgetting = ["decay", "ttl"]\nretention_half_life_days = 14\n[ttl_days]\nmessage = 90\n'
        "[retention_classes.vip]\nhalf_life_days = 0\ncapacity = 0\n",
        encoding="utf-8",
    )
    config = Config.load(toml)
    assert config.forgetting == ("decay", "ttl") and config.ttl_days == {"message": 90}
    assert config.retention_class("vip").half_life_days == 0 and config.retention_class(None).half_life_days == 14
    monkeypatch.setenv("LTM_FORGETTING", "capacity")
    monkeypatch.setenv("LTM_TTL_DAYS", '{"status": 7}')
    assert Config.load(toml).forgetting == ("capacity",) and Config.load(toml).ttl_days == {"status": 7}
    assert Config.make(forgetting="none").forgetting == ()


def test_the_class_and_the_uses_go_with_an_export(opened: Opening, clock: Clock) -> None:
    memory = opened()
    talk(memory)
    memory.set_retention("ana", "deep")
    memory.search("film lighthouse", user_id="ana")
    memory.maintain()
    lines = list(memory.export_user("ana"))
    assert any('"access_count":1' in x and '"type":"message"' in x for x in lines)
    memory.import_user(lines, user_id="copy", trust=True)
    assert memory.profile("copy").retention == "deep"
    kept = [x for x in lines if '"type":"message"' in x]
    assert sorted(x for x in memory.export_user("copy") if '"type":"message"' in x) == sorted(kept)


def test_no_turn_goes_before_its_summary_stands_for_it(opened: Opening, clock: Clock) -> None:
    memory = opened(
        forgetting=["decay"], consolidate_after_days=2, consolidate_min_turns=3, consolidate_topic_turns=2
    )
    for n in range(8):
        memory.observe(
            user_id="ana", session_id="day", user=f"They say the lighthouse on the island has {n + 20} steps."
        )
    clock.now += timedelta(days=400)
    memory.maintain(dry_run=True)
    planned = memory.maintain(dry_run=True)
    assert planned.forgotten == {} and planned.spared == {"its summary does not replace it yet": 8}
    report = memory.maintain()
    assert report.summarised >= 1 and report.forgotten == {"decay": 8} and "steps" not in words(memory)
    assert any("steps" in i.text for i in memory.search("steps of the lighthouse", user_id="ana"))
    assert memory.doctor().healthy


CONSOLIDATING: dict[str, Any] = {
    "forgetting": ["decay"],
    "consolidate_after_days": 2,
    "consolidate_min_turns": 3,
    "consolidate_topic_turns": 2,
    "consolidate_weekly_after_days": 0,
}


def days_of_steps(memory: LongTermMemory, clock: Clock, *, days: int, **more: Any) -> None:
    for day in range(days):
        for n in range(4):
            text = f"They say Lighthouse {day} on the island has {10 * day + n + 20} steps."
            memory.observe(user_id="ana", session_id=f"day{day}", user=text, **more)
        clock.now += timedelta(days=1)


def test_what_one_run_has_no_time_to_summarise_waits_for_the_next(opened: Opening, clock: Clock) -> None:
    memory = opened(**CONSOLIDATING, consolidate_per_run=1, count_uses=False)
    days_of_steps(memory, clock, days=4)
    clock.now += timedelta(days=400)
    for _ in range(12):
        report = memory.maintain()
        left = list(memory.messages(user_id="ana"))
        told = {i.text for i in memory.search("steps of lighthouses", user_id="ana", top_k=40)}
        for day in range(4):
            assert any(f"Lighthouse {day}" in t for t in told), "a turn or its summary"
        if not left:
            break
        clock.now += timedelta(minutes=20)
    assert not left and report.spared == {} and memory.doctor().healthy


@pytest.mark.parametrize("way", ["observe", "import"])
def test_a_log_that_is_told_later_waits_for_its_summary_too(opened: Opening, clock: Clock, way: str) -> None:
    memory = opened(**CONSOLIDATING)
    memory.observe(user_id="ana", session_id="new", user="Hello there, the sea is calm.")
    old = [
        {
            "role": "user",
            "content": f"They say the old lighthouse has {n} steps.",
            "at": START + timedelta(days=-500, minutes=n),
        }
        for n in range(21, 25)
    ]
    memory.observe(user_id="ben", session_id="log", messages=old)
    lines = list(memory.export_user("ben"))
    memory.forget_user("ben")
    clock.now += timedelta(days=30)
    memory.maintain()
    if way == "import":
        assert memory.import_user(lines, user_id="ana", trust=True).imported["message"] == 4
    else:
        memory.observe(user_id="ana", session_id="log", messages=old)
    clock.now += timedelta(hours=1)
    if way == "observe":
        assert memory.maintain().spared == {"its summary does not replace it yet": 4}, "looked at yesterday"
        clock.now += timedelta(days=1)
    report = memory.maintain()
    assert report.summarised >= 1 and report.forgotten == {"decay": 4}
    assert any("steps" in i.text for i in memory.search("steps of the lighthouse", user_id="ana"))


def test_a_summary_that_is_not_found_replaces_nothing(
    opened: Opening, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(**CONSOLIDATING)
    days_of_steps(memory, clock, days=1)
    clock.now += timedelta(days=400)
    with monkeypatch.context() as patched:
        patched.setattr(settle, "_is_found", lambda *a, **k: False)
        report = memory.maintain()
        assert report.consolidation["missed"] >= 1 and report.forgotten == {}
    clock.now += timedelta(days=1)
    assert memory.maintain().forgotten == {"decay": 4}


def test_the_deep_class_is_there_beside_classes_of_ones_own(opened: Opening) -> None:
    memory = opened(retention_classes={"guest": {"half_life_days": 1}})
    memory.set_retention("ana", "deep")
    memory.set_retention("ben", "guest")
    assert memory.config.retention_class("deep").half_life_days == 3650
    own = Config.make(retention_classes={"deep": {"half_life_days": 99, "capacity": 7}})
    assert own.retention_class("deep").capacity == 7
