"""What every store keeps to for export, import, backups and the audit log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ltm_core.errors import ConflictError, NotFoundError
from ltm_core.store.base import Store
from ltm_core.store.rows import ColdFile, ColdTurn, EarlierTimes, SessionRow
from ltm_core.testing.builders import T0, at, chunk, fact, say
from ltm_core.types import Anchor, Evidence, Session


def _anchor(message_id: str, text: str) -> Anchor:
    return Anchor(kind="identifier", text=text, evidence=Evidence(message_id=message_id, start=0, end=2), reason="r")


class RowContract:
    """Inherited by `StoreContract`."""

    def test_sessions_are_told_as_they_are_written(self, store: Store, reopen: Callable[[], Store]) -> None:
        row = SessionRow(
            session=Session(id="s1", started_at=at(-9), last_at=at(-1), ended_at=at(3), message_count=0),
            arrived_at=at(2),
        )
        with store.write("ana") as w:
            assert w.add_session(row) and not w.add_session(replace(row, arrived_at=at(9)))
            say(w, "m1", at=at(-5), recorded_at=at(1))
            say(w, "m2", session_id="s2")
        with reopen().read("ana") as r:
            first, second = r.session_rows(limit=9)
            assert first.arrived_at == at(2) and first.session == replace(row.session, message_count=1)
            assert second.session.id == "s2" and r.session_rows(after_item=first.item, limit=9) == [second]
            assert r.session_rows(limit=1) == [first]
        with store.read("ben") as r:
            assert r.session_rows(limit=9) == [] and r.fact_rows(limit=9) == [] and r.audit_rows(limit=9) == []

    def test_anchors_belong_to_their_turn_and_not_to_its_id(self, store: Store) -> None:
        with store.write("ana") as w:
            rows = [say(w, "m1", session_id=s) for s in ("s1", "s2", "s3")]
            for session, text in (("s1", "one"), ("s2", "two"), ("s1", "three")):
                w.add_anchor(_anchor("m1", text), session_id=session, at=T0)
            found = w.message_anchors([r.item for r in rows])
        assert {i: [a.text for a in v] for i, v in found.items()} == {
            rows[0].item: ["one", "three"],
            rows[1].item: ["two"],
        }

    def test_uses_are_counted_and_no_other_write_touches_them(self, store: Store) -> None:
        with store.write("ana") as w:
            rows = [say(w, "m1", session_id=s) for s in ("s1", "s2")]
            w.add_fact(fact("f1"))
        with store.read("ana") as r:
            before = r.user()
        with store.write("ana") as w:
            w.touch_messages([("s1", "m1"), ("s1", "m1"), ("s9", "m1"), ("s1", "nowhere")], now=at(7), count=3)
            w.touch_messages([("s1", "m1")], now=at(6))
            w.touch_facts(["f1"], now=at(7), count=2)
            w.touch_facts(["f1"], now=at(5))
        with store.read("ana") as r:
            assert r.user() == before
            assert [(m.access_count, m.last_access_at) for m in r.messages()] == [(4, at(7)), (0, None)]
            assert [(f.fact.access_count, f.last_access_at) for f in r.fact_rows(limit=9)] == [(3, at(7))]
        with store.write("ana") as w:
            w.update_message(replace(rows[0], content="Other words.", access_count=99))
        with store.read("ana") as r:
            assert [m.access_count for m in r.messages()] == [4, 0]

    def test_the_worth_of_turns_is_told_without_their_words(self, store: Store) -> None:
        with store.write("ana") as w:
            w.touch_session("s1", at=T0, now=at(5))
            w.touch_session("s2", at=T0, now=at(-50))
            plain = say(w, "m1", session_id="s1", importance="high")
            said = say(w, "m2", session_id="s2", at=at(-90))
            say(w, "m3", session_id="s2", expires_at=at(1))
            w.add_anchor(_anchor("m1", "kept"), session_id="s1", at=T0)
            w.add_anchor(replace(_anchor("m2", "x"), kind="stated_fact"), session_id="s2", at=T0)
            facts = [
                w.add_fact(fact(i, evidence=(Evidence(message_id="m2", start=0, end=1),), source_message_ids=("m2",)))
                for i in ("f1", "f2")
            ]
            w.touch_messages([("s2", "m2")], now=at(3))
        with store.read("ana") as r:
            first, second = r.turn_worths(now=at(2), idle_before=at(1), limit=9)
            assert r.turn_worths(now=at(2), idle_before=at(1), after_item=first.item, limit=1) == [second]
            assert (first.item, first.importance, first.anchored, first.in_window) == (plain.item, "high", True, True)
            assert (second.item, second.at, second.anchored, second.in_window) == (said.item, at(-90), False, False)
            assert (first.recorded_at, second.recorded_at) == (plain.recorded_at, said.recorded_at)
            assert (first.supports, set(second.supports)) == ((), set(facts))
            assert (second.access_count, second.last_access_at) == (1, at(3))
            assert len(r.turn_worths(now=T0, idle_before=at(9), limit=9)) == 3
        with store.read("ben") as r:
            assert r.turn_worths(now=T0, idle_before=T0, limit=9) == []

    def test_the_retention_class_is_the_users(self, store: Store, reopen: Callable[[], Store]) -> None:
        with store.write("ana") as w:
            w.ensure_user(now=T0)
            w.set_user(retention="deep")
            w.set_user(timezone="Asia/Shanghai")
        with reopen().read("ana") as r:
            state = r.user()
            assert state is not None and (state.retention, state.timezone) == ("deep", "Asia/Shanghai")
        with store.write("ana") as w:
            w.set_user(retention="")
            state = w.user()
            assert state is not None and state.retention is None

    def test_facts_are_told_with_their_past(self, store: Store, reopen: Callable[[], Store]) -> None:
        with store.write("ana") as w:
            # Its successor has expired, so it reads as holding again; what is written says otherwise.
            old = fact("f1", "Lisbon", valid_to=at(1), superseded_by="f2", recorded_at=at(-9), valid_from=at(-9))
            w.set_chunks("fact", w.add_fact(old), [chunk({"a": 1})], at=T0)
            w.add_fact(fact("f2", "Porto", valid_from=at(1), recorded_at=at(1), expires_at=at(2)))
            w.update_fact(replace(old, suppressed_at=at(5)), now=at(5))
            w.touch_facts(["f1"], now=at(6))
        with store.read("ana") as r:
            assert r.facts(current_at=at(3), ids=["f1"]) == []
            first, second = r.fact_rows(limit=9)
            assert (first.fact.valid_to, first.fact.superseded_by) == (at(1), "f2")
            assert first.last_access_at == at(6) and first.fact.access_count == 1
            assert [(e.known_until, e.suppressed_at, e.superseded_by) for e in first.earlier] == [(at(5), None, "f2")]
            assert second.earlier == () and r.fact_rows(after_item=first.item, limit=9) == [second]
        past = (
            EarlierTimes(known_until=at(2), valid_from=at(-9)),
            EarlierTimes(known_until=at(4), valid_from=at(-9), retracted_at=at(2), expires_at=at(90)),
        )
        with store.write("ana") as w:
            w.set_fact_past("f1", past, last_access_at=None)
            with pytest.raises(NotFoundError):
                w.set_fact_past("nothing", past, last_access_at=None)
        with reopen().read("ana") as r:
            row = r.fact_rows(limit=1)[0]
            assert row.earlier == past and row.last_access_at is None
            (known,) = r.facts(ids=["f1"], known_at=at(3))
            assert (known.retracted_at, known.suppressed_at) == (at(2), None)

    def test_the_audit_log_is_in_order_and_goes_with_the_user(
        self, store: Store, reopen: Callable[[], Store]
    ) -> None:
        ops = store.operations()
        with store.write("ana") as w:
            w.ensure_user(now=T0)
            w.audit("observe", now=T0, actor="bot", target="m1", counts={"messages": 1}, reason="chat")
        with store.read("ana") as r:
            before = r.user()
        with store.write("ana") as w:
            w.audit("export", now=at(1), actor=None)
        with store.read("ana") as r:
            assert r.user() == before, "a row of the log is no change of the user's memory"
            first, second = r.audit_rows(limit=9)
            assert r.audit_rows(after=first.number, limit=9) == [second] and r.audit_rows(limit=1) == [first]
        assert (first.action, first.actor, first.reason, first.target) == ("observe", "bot", "chat", "m1")
        assert first.counts == {"messages": 1} and first.user_id == "ana" and first.user_mac == store.mac("ana")
        ops.audit("maintain", now=at(2), actor="cron", counts={"jobs": 2}, reason="nightly")
        with store.write("ben") as w:
            w.ensure_user(now=T0)
            w.audit("observe", now=at(3), actor=None)
        with store.write("ana") as w:
            w.erase_user(now=at(4))
            w.audit("forget_user", now=at(4), actor="ana", target="receipt", counts={"users": 1}, reason="ana asked")
        rows = reopen().operations().audit_rows(limit=9)
        assert [(r.action, r.user_id) for r in rows] == [
            ("maintain", None),
            ("observe", "ben"),
            ("forget_user", None),
        ]
        assert (rows[0].user_mac, rows[0].actor, rows[0].reason) == ("", "cron", "nightly")
        assert (rows[2].user_mac, rows[2].actor, rows[2].reason) == (store.mac("ana"), store.mac("ana"), None)
        assert ops.audit_rows(after=rows[0].number, limit=1) == [rows[1]]
        with store.read("ana") as r:
            assert r.audit_rows(limit=9) == []

    def test_a_backup_is_new_and_its_list_follows(self, store: Store, tmp_path: Path) -> None:
        with store.write("ana") as w:
            say(w, "m1", "ZQ-7741-Kestrel")
        ops = store.operations()
        assert ops.list_erasures(now=at(1)) == 0
        assert ops.back_up(tmp_path / "copies" / "one").bytes > 0
        with pytest.raises(ConflictError):
            ops.back_up(tmp_path / "copies" / "one")
        with store.write("ana") as w:
            w.add_tombstones([("fact", "f1")], now=at(2))
            w.set_erased_before(at(2))
            w.erase_user(now=at(2))
        assert ops.list_erasures(now=at(3)) == 1 and ops.list_erasures(now=at(3)) == 0
        (listed,) = [p.read_bytes() for p in (tmp_path / "copies").glob("*.jsonl")]
        assert store.mac("ana").encode() in listed and store.mac("f1").encode() in listed
        assert b"ana" not in listed.replace(store.mac("ana").encode(), b"") and b"Kestrel" not in listed

    def test_turns_in_files_are_known_by_place_and_id_and_no_longer_held(
        self, store: Store, reopen: Callable[[], Store]
    ) -> None:
        with store.write("ana") as w:
            rows = [say(w, f"m{n}", f"word {n}", session_id="s1", has_caller_id=n == 1) for n in range(3)]
            assert [len(v) for v in w.chunk_vectors([r.item for r in rows]).values()] == [1, 1, 1]
            macs = [m.content_mac for m in w.messages()]
            file = ColdFile(name="f.parquet", count=2, first_at=T0, last_at=at(1), digest="d")
            kept = w.add_cold_file(file, w.messages(items=[rows[0].item, rows[1].item]))
        with reopen().read("ana") as r:
            assert r.cold_files() == [kept] and kept == replace(file, item=kept.item)
            assert [m.id for m in r.messages()] == ["m2"] and r.snapshot().rows.owner.tolist() == [rows[2].item]
            assert [(m.item, m.is_cold, m.content_mac) for m in r.marks("s1", limit=9)] == [
                (rows[0].item, True, macs[0]), (rows[1].item, True, macs[1]), (rows[2].item, False, macs[2]),
            ]  # fmt: skip
            assert r.cold_turns(ids=["m1"], session_id="s1") == [ColdTurn(item=rows[1].item, file=kept.item)]
            assert r.cold_turns(ids=["m1"], session_id="s2") == [] == r.cold_turns(ids=["m2"])
            assert len(r.cold_turns(files=[kept.item])) == len(r.cold_turns(session_id="s1")) == 2
            assert r.unseal(r.seal({"a": "ü"})) == {"a": "ü"}
        with store.read("ben") as r:
            assert r.cold_files() == [] and r.cold_turns() == []
        with store.write("ana") as w:
            w.replace_cold_file(kept.item, replace(file, name="g.parquet", count=1), keep=[rows[1].item])
            (new,) = w.cold_files()
            assert (new.name, new.count) == ("g.parquet", 1)
            assert w.cold_turns() == [ColdTurn(item=rows[1].item, file=new.item)]
            w.replace_cold_file(new.item, None)
            assert w.cold_files() == [] and w.cold_turns() == []
