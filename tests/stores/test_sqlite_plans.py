"""No query walks a whole table: every statement of a busy store is put before the planner."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ltm_core.config import Config
from ltm_core.store.base import Job, SlotRow
from ltm_core.store.sqlite import SqliteStore, open_store
from ltm_core.store.sqlite.connections import Pool
from ltm_core.testing.builders import DIMENSION, T0, at, chunk, fact, say, summary, vector
from ltm_core.testing.contract_documents import document, unit
from ltm_core.testing.contract_life import fill
from ltm_core.types import Role


def exercise(store: SqliteStore) -> None:
    """Every reader and writer method with every condition, and the sweeps."""
    roles: list[Role] = ["user", "tool"]
    fill(store, "ana", "mark")
    with store.write("ana") as w:
        row = say(w, "m2", expires_at=at(2), doc_type="minutes", session_id="s2")
        w.update_message(replace(row, content="x"))
        w.touch_session("s1", at=T0, now=T0)
        w.clear_window("s1")
        w.end_session("s2", now=T0)
        w.delete_slot("s1", "n")
        w.set_chunks("message", row.item, [chunk({"a": 1}), chunk({"b": 1}, 3)], at=T0)
        w.set_vectors({x[0]: vector(1) for x in w.chunks_without_vector(limit=5)})
        w.keep_chunks("message", row.item, importance="high", expires_at=None)
        w.touch_facts(["f1"], now=T0)
        w.touch_messages([("s2", "m2")], now=T0)
        w.cold_files()
        w.cold_turns(session_id="s1", ids=["m1"])
        w.cold_turns(files=[1])
        w.chunk_vectors([row.item])
        w.replace_cold_file(w.cold_files()[0].item, w.cold_files()[0], keep=[1])
        w.turn_worths(now=T0, idle_before=T0, limit=5)
        w.set_fact_past("f1", (), last_access_at=T0)
        w.message_anchors([row.item])
        w.add_session(w.session_rows(limit=5)[0])
        w.add_tombstones([("message", "m")], now=T0)
        w.set_erased_before(at(-9))
        w.set_user(timezone="UTC")
        w.add_job(Job(kind="x", run_after=T0))
        w.put_document(document(("a",), "k"), [unit(1), unit()])
        w.set_unit_vectors({x[0]: vector(1) for x in w.units_without_vector(limit=5)})
        w.touch_documents([1], now=T0)
        told = w.add_summary(summary("y2", "told", [row]))
        w.set_chunks("summary", told.item, [chunk({"told": 1}, 2)], at=T0, role="system")
        w.set_recallable(told.item, now=T0)
        w.set_consolidated(T0)
        w.retire_messages([row.item], now=T0)
        w.update_message(replace(row, content="x", retired_at=T0))
        w.set_slot("s2", SlotRow(name="q", value=1, set_at=T0, expires_at=at(1)))
    with store.read("ana") as r:
        r.message("m1")
        r.message("m1", session_id="s1")
        r.messages()
        r.messages(newest_first=True, limit=3, since=T0, until=at(9))
        r.messages(session_id="s1", in_window=True, newest_first=True, limit=6)
        r.messages(session_id="s1", roles=roles, archived=False, doc_types=["minutes"], expired_by=at(1))
        r.messages(items=[1, 2, 3])
        r.messages(ids=["m1", "m2"], session_id="s1")
        r.messages(after_item=0, limit=5)
        r.neighbours(row.item, before=2, after=2)
        r.session("s1")
        r.sessions()
        r.sessions(after="s1")
        r.slots("s1", now=T0)
        r.facts()
        r.facts(current_at=T0, subject="user", relation="plays", limit=3)
        r.session_rows(after_item=1, limit=5)
        r.fact_rows(limit=5)
        r.audit_rows(after=1, limit=5)
        r.facts(slots=[("user", "plays")], current_at=T0)
        r.facts(slots=[("user", "plays")], waiting_at=T0)
        r.facts(known_at=T0, current_at=T0)
        r.facts(ids=["f1"], evidence_of=["m1"])
        r.facts(evidence_of=["m1"])
        r.facts(items=[1, 2])
        r.predecessors(["f1", "f2"])
        r.anchors()
        r.anchors(["m1"])
        r.document(("a",), "k")
        r.documents()
        r.documents(namespaces=[("a",)], alive_at=T0, limit=2)
        r.documents(items=[1, 2], after_item=1)
        r.document_items(alive_at=T0)
        r.document_namespaces(alive_at=T0)
        r.document_vectors([1, 2])
        r.summaries()
        r.summaries(ids=["y1", "y2"], level="day", since=T0, until=at(9))
        r.summaries(items=[1, 2], limit=2)
        r.summaries(sources=[row.item, 1], level="week", limit=1)
        r.unsummarised(before=at(9), limit=5)
        r.unsummarised(before=at(9), after=(0, 0), limit=5)
        r.count_unsummarised(before=at(9))
        r.turn_vectors([row.item, 1])
        r.retired_alone(limit=5)
        r.changes()
        r.is_tombstoned("message", "m")
        r.erased_before()
        r.snapshot().postings(["a", "secret"])
        r.counts()
    with store.write("ana") as w:
        w.delete_messages([row.item], keep_summaries=True)
        w.delete_messages([m.item for m in w.messages(ids=["m1"])])
        w.delete_summaries([s.item for s in w.summaries()])
        w.drop_orphans()
        w.delete_facts(["f1"])
        w.delete_documents([d.item for d in w.documents()])
    with store.read("ana") as r:
        r.snapshot()
    ops = store.operations()
    ops.preview(idle_before=at(99), now=at(99))
    ops.close_idle_sessions(idle_before=at(99), now=at(99), limit=10)
    ops.expire(now=at(99), limit=10)
    ops.due_jobs(now=at(99), kinds=["x"])
    for job in ops.due_jobs(now=at(99)):
        ops.fail_job(job.id, error="e", retry_at=at(99))
        ops.finish_job(job.id)
    ops.users(after="a", limit=2)
    ops.users_with_doc_types(["minutes"], before=at(99), limit=2)
    ops.set_embedder_identity("e2", dimension=DIMENSION, now=T0)
    ops.users_without_vectors(limit=2)
    ops.users_without_unit_vectors(limit=2)
    ops.users_with_documents(after="a", limit=2)
    ops.users_to_consolidate(looked_before=at(99), said_before=at(99), after="a", limit=2)
    ops.set_consolidated(["ana"], T0)
    ops.embedder_identity()
    with store.write("ana") as w:
        w.add_fact(fact("f9"))
        w.erase_user(now=T0)


def test_no_statement_walks_a_whole_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, None] = {}
    connect = Pool.connect

    def traced(self: Pool, *, writer: bool = False) -> sqlite3.Connection:
        conn = connect(self, writer=writer)
        conn.set_trace_callback(lambda sql: seen.setdefault(sql))
        return conn

    monkeypatch.setattr(Pool, "connect", traced)
    with closing(open_store(tmp_path / "data", config=Config.make())) as store:
        store.operations().set_embedder_identity("e", dimension=DIMENSION, now=T0)
        store.operations().set_outbox(True)
        exercise(store)
        statements = [s for s in seen if s.split()[0] in ("SELECT", "UPDATE", "DELETE", "INSERT")]
        assert len({re.sub(r"\d+|X'\w*'|'[^']*'", "?", s) for s in statements}) > 60
        walked = {}
        with store.connection() as conn:
            for sql in statements:
                if sql.startswith(("SELECT no FROM embedders", "SELECT count(*) FROM sqlite_master")):
                    continue  # a handful of rows
                steps = [row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()]
                bad = [s for s in steps if re.match(r"SCAN (?!\d+ CONSTANT|CONSTANT)", s)]
                if re.search(r"WHERE .*\bid_mac (IN|=) ", sql):
                    bad += [s for s in steps if not re.search("_by_id |TEMP B-TREE|CORRELATED", s)]
                if bad:
                    walked[sql] = bad
        assert walked == {}


def test_the_hot_queries_use_their_indexes(tmp_path: Path) -> None:
    expected = {
        "SELECT 1 FROM messages WHERE session = 1 AND in_window = 1 AND user_no = 1 "
        "ORDER BY at DESC, sequence DESC, id DESC LIMIT 6": "messages_by_session",
        "SELECT body FROM messages WHERE user_no = 1 AND session = 1 "
        "ORDER BY at, sequence, id": "messages_by_session",
        "SELECT body FROM messages WHERE user_no = 1 AND at >= 5 ORDER BY at, sequence, id": "messages_by_time",
        "SELECT item, tf FROM postings WHERE key = 5 AND item > 0 ORDER BY item": "PRIMARY KEY",
        "SELECT body FROM facts WHERE user_no = 1 AND slot IN (1,2) ORDER BY id": "facts_by_slot",
        "SELECT id FROM sessions WHERE ended_at IS NULL AND arrived_at < 9 "
        "ORDER BY arrived_at LIMIT 5": "sessions_open",
    }
    with closing(open_store(tmp_path / "data", config=Config.make())) as store, store.connection() as conn:
        for sql, index in expected.items():
            plan = " | ".join(row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall())
            assert index in plan, (sql, plan)
            if "facts" not in sql:
                assert "TEMP B-TREE" not in plan, (sql, plan)
