"""Following what becomes of facts, and walking from one thing to what is connected with it."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm_core import FactChange, InvalidInputError, LongTermMemory, NotFoundError


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder="none", timezone="UTC") as opened:
        yield opened


def say(memory: LongTermMemory, user: str, text: str) -> None:
    memory.observe(user_id=user, session_id="s", user=text)


def ops(changes: list[FactChange]) -> list[tuple[str, str, str]]:
    return [(c.fact.user_id, c.op, c.fact.object) for c in changes]


def test_a_follower_gets_each_change_after_its_commit(memory: LongTermMemory) -> None:
    seen: list[FactChange] = []
    visible: list[bool] = []

    def follow(change: FactChange) -> None:
        seen.append(change)
        known = {f.id for f in memory.facts(user_id=change.fact.user_id, include_superseded=True)}
        visible.append(change.op == "erase" or change.fact.id in known)

    end = memory.on_change(follow)
    say(memory, "ana", "I live in Lisbon.")
    say(memory, "小林", "我住在福州。")
    memory.assert_fact("quote:BJ-1", "status", "approved", user_id="ana", source="crm")
    say(memory, "ana", "I moved to Porto.")
    memory.forget_matching("Porto", user_id="ana", dry_run=False)
    assert [c[:2] for c in ops(seen)] == [
        ("ana", "add"),
        ("小林", "add"),
        ("ana", "add"),
        ("ana", "supersede"),
        ("ana", "erase"),
    ]
    assert all(visible)
    assert seen[3].previous is not None and "Lisbon" in seen[3].previous.object
    assert [c.cursor for c in seen] == [c.cursor for c in memory.changes()]
    end()
    say(memory, "ana", "I'm allergic to peanuts.")
    assert len(seen) == 5


def test_a_follower_of_one_user_hears_of_no_other(memory: LongTermMemory) -> None:
    seen: list[FactChange] = []
    memory.bind("ana").on_change(seen.append)
    say(memory, "ben", "I live in Rome.")
    say(memory, "ana", "I live in Lisbon.")
    assert {c.fact.user_id for c in seen} == {"ana"} and seen


def test_a_write_that_is_undone_is_told_to_nobody(memory: LongTermMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[FactChange] = []
    memory.on_change(seen.append)
    from ltm_core.write import service

    def fails(*args: object, **kwargs: object) -> None:
        raise RuntimeError("disk on fire")

    monkeypatch.setattr(service, "_answered", fails)
    with pytest.raises(RuntimeError):
        memory.observe(user_id="ana", session_id="s", user="I live in Lisbon.")
    assert seen == [] and list(memory.changes()) == []


def test_a_failing_follower_hurts_nobody(memory: LongTermMemory, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[FactChange] = []

    def fails(change: FactChange) -> None:
        raise ValueError("CRM is down")

    memory.on_change(fails)
    memory.on_change(seen.append)
    with caplog.at_level(logging.ERROR, logger="ltm"):
        say(memory, "ana", "I live in Lisbon.")
    assert len(seen) == 1 and len(list(memory.facts(user_id="ana"))) == 1
    assert "Lisbon" not in caplog.records[0].getMessage()
    with pytest.raises(InvalidInputError):
        memory.on_change("print")  # type: ignore[arg-type]


def test_a_follower_may_write(memory: LongTermMemory) -> None:
    def follow(change: FactChange) -> None:
        if change.fact.relation == "lives_in":
            memory.assert_fact("crm:ana", "synced", change.fact.object, user_id="ana", source="crm")

    memory.on_change(follow)
    say(memory, "ana", "I live in Lisbon.")
    assert [f.object for f in memory.facts(user_id="ana", relation="synced")] == ["Lisbon"]


def test_the_feed_of_all_users_is_paged_in_the_order_of_commits(memory: LongTermMemory) -> None:
    for i in range(7):
        memory.assert_fact(f"order:O-{i}", "status", "new", user_id=f"u{i % 3}", source="shop")
    whole = [c.fact.subject for c in memory.changes()]
    assert whole == [f"order:O-{i}" for i in range(7)]
    page = memory.changes(limit=2)
    assert page.next_cursor is not None and [c.fact.subject for c in page] == whole
    rest = memory.changes(since=page.next_cursor)
    assert [c.fact.subject for c in rest] == whole[2:]
    memory.forget_user("u1")
    assert [c.fact.subject for c in memory.changes()] == [s for i, s in enumerate(whole) if i % 3 != 1]
    last = rest[len(rest) - 1].cursor
    assert list(memory.changes(since=last)) == []
    with pytest.raises(InvalidInputError):
        memory.changes(since="yesterday")


def test_the_feed_shows_what_another_process_wrote(memory: LongTermMemory) -> None:
    code = (
        "import sys; from ltm_core import LongTermMemory\n"
        "with LongTermMemory.open(sys.argv[1], embedder='none', timezone='UTC') as m:\n"
        "    m.assert_fact('ticket:7', 'status', 'closed', user_id='ben', source='desk')\n"
    )
    assert list(memory.changes()) == []
    subprocess.run([sys.executable, "-c", code, memory.location], check=True)
    (change,) = memory.changes()
    assert (change.fact.user_id, change.fact.object) == ("ben", "closed")


# related -----------------------------------------------------------------------------------------------
def test_from_a_number_to_its_owner_and_its_latest_status(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="报价单 BJ-2024-001，麻烦跟进。")
    memory.assert_fact("quote:BJ-2024-001", "status", "submitted", user_id="ana", source="crm", at="2025-01-01")
    memory.assert_fact("quote:BJ-2024-001", "status", "approved", user_id="ana", source="crm", at="2025-02-01")
    memory.assert_fact("quote:BJ-2024-002", "status", "rejected", user_id="ana", source="crm")
    for name in ("BJ-2024-001", "quote:BJ-2024-001", "bj-2024-001"):
        near = memory.related(name, user_id="ana", depth=1)
        assert {(r.fact.relation, r.fact.object) for r in near} == {
            ("quote", "BJ-2024-001"),
            ("status", "approved"),
        }
    statuses = memory.related(user_id="ana", relation="status")
    assert [(r.fact.object, r.distance, len(r.via)) for r in statuses] == [("approved", 2, 2)]
    then = memory.related("BJ-2024-001", user_id="ana", relation="status", at="2025-01-15")
    assert [r.fact.object for r in then] == ["submitted"]
    assert list(memory.related("BJ-2024-001", user_id="ben")) == []


def test_the_walk_does_not_go_through_the_user(memory: LongTermMemory) -> None:
    memory.assert_fact("user", "order", "ORD-1", user_id="ana", source="shop")
    memory.assert_fact("user", "order", "ORD-2", user_id="ana", source="shop")
    memory.assert_fact("order:ORD-1", "contains", "laptop", user_id="ana", source="shop")
    memory.assert_fact("laptop", "serial", "X9", user_id="ana", source="shop")
    near = [(r.fact.object, r.distance) for r in memory.related("ORD-1", user_id="ana", depth=4)]
    assert near == [("ORD-1", 1), ("laptop", 1), ("X9", 2)]
    assert [r.fact.object for r in memory.related("ORD-1", user_id="ana", depth=1, limit=1)] == ["ORD-1"]


def test_a_circle_ends(memory: LongTermMemory) -> None:
    for a, b in (("a", "b"), ("b", "c"), ("c", "a")):
        memory.assert_fact(a, "knows", b, user_id="ana", source="app")
    assert len(memory.related("a", user_id="ana", depth=4)) == 3


@pytest.mark.parametrize(
    "wrong", [{"depth": 0}, {"depth": 5}, {"depth": True}, {"entity": " "}, {"limit": 0}, {"at": "sometime"}]
)
def test_wrong_input_is_refused(memory: LongTermMemory, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        memory.related(user_id="ana", **wrong)  # type: ignore[arg-type]


def test_history_of_another_user_stays_unknown(memory: LongTermMemory) -> None:
    change = memory.assert_fact("order:1", "status", "new", user_id="ana", source="shop")
    with pytest.raises(NotFoundError):
        memory.history(change.fact.id, user_id="ben")
