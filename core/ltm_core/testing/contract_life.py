"""What every store keeps to: the wall between users, erasure, all-or-nothing writes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ltm_core.errors import ConflictError
from ltm_core.store.base import DocumentRow, DocumentUnit, Job, SlotRow, Store
from ltm_core.store.rows import ColdFile
from ltm_core.testing.builders import T0, at, chunk, fact, message, say, summary, vector
from ltm_core.types import Anchor, Evidence, FactChange

HOSTILE_IDS = (
    "a/b",
    "a b",
    "a@b",
    "a:b",
    "a",
    "A",
    "a ",
    " a",
    "..",
    "../x",
    "session-key:z",
    "用户一",
    "\U0001f600",
    "o'neil; drop table x",
    '"quoted"',
    "a\0",
    "é",
    "e\u0301",
    "%",
    "_",
    "x" * 300,
    "x" * 301,
)


def fill(store: Store, user: str, mark: str) -> None:
    """One row of every kind for the user."""
    with store.write(user) as w:
        w.ensure_user(now=T0, timezone="Asia/Shanghai")
        cold = say(w, "m0", f"secret {mark}", session_id="s0")
        w.add_cold_file(
            ColdFile(name=mark, count=1, first_at=T0, last_at=T0, digest="d"), w.messages(items=[cold.item])
        )
        said = say(w, "m1", f"secret {mark}", session_id="s1")
        w.add_summary(summary("y1", f"secret {mark}", [said]))
        item = w.add_fact(fact("f1", mark, user_id=user))
        w.set_chunks("fact", item, [chunk({mark: 1}, 5)], at=T0)
        w.update_fact(fact("f1", mark, user_id=user, valid_to=at(9)), now=at(1))
        w.add_anchor(
            Anchor(kind="identifier", text=mark, evidence=Evidence(message_id="m1", start=0, end=1), reason="r"),
            session_id="s1",
            at=T0,
        )
        w.log_change(FactChange(op="add", fact=fact("f1", mark, user_id=user), at=T0))
        w.set_slot("s1", SlotRow(name="n", value=mark, set_at=T0, expires_at=None))
        w.put_document(
            DocumentRow(namespace=("n",), key=mark, value={"text": f"secret {mark}"}, created_at=T0, updated_at=T0),
            [DocumentUnit(start=0, end=4, vector=vector(7))],
        )
        w.add_job(Job(kind="k", user_id=user, payload={"item": item}, run_after=T0))
        w.audit("observe", now=T0, actor="test", target=mark, counts={"messages": 1})


class LifeContract:
    """Inherited by `StoreContract`."""

    def test_hostile_ids_are_walls(self, store: Store, reopen: Callable[[], Store]) -> None:
        for i, user in enumerate(HOSTILE_IDS):
            fill(store, user, f"mark{i}")
        other = reopen()
        assert sorted(other.operations().users()) == sorted(HOSTILE_IDS)
        for i, user in enumerate(HOSTILE_IDS):
            with other.read(user) as r:
                assert r.user_id == user
                assert [m.content for m in r.messages(session_id="s1")] == [f"secret mark{i}"]
                assert [f.object for f in r.facts()] == [f"mark{i}"]
                snapshot = r.snapshot()
                assert len(snapshot.rows.item) == 2
                hits = [len(p[0]) for p in snapshot.postings([f"mark{k}" for k in range(len(HOSTILE_IDS))])]
                assert hits == [2 if k == i else 0 for k in range(len(HOSTILE_IDS))]
                assert [c.fact.object for c in r.changes()] == [f"mark{i}"]
                assert [s.value for s in r.slots("s1", now=T0)] == [f"mark{i}"]
                assert [d.key for d in r.documents()] == [f"mark{i}"]
        with other.read("nobody") as r:
            assert r.user() is None and r.messages() == [] and r.facts() == [] and r.sessions() == []
            assert r.changes() == [] and r.anchors() == [] and r.slots("s1", now=T0) == []
            assert set(r.counts().values()) == {0}
            assert len(r.snapshot().rows.item) == 0 and len(r.snapshot().cosine(chunk({}, 1).vector)) == 0  # type: ignore[arg-type]
            assert r.snapshot().postings(["secret"])[0][0].tolist() == []
            assert r.snapshot().average_length == 0

    def test_erasing_one_user_leaves_the_others(self, store: Store) -> None:
        for user in ("a", "A", "b"):
            fill(store, user, f"of-{user}")
        with store.read("A") as r:
            before = (r.user(), r.messages(), r.facts(), r.changes(), r.anchors(), r.counts())
        with store.write("a") as w:
            counts = w.erase_user(now=at(5))
            assert w.user() is None and w.messages() == [] and len(w.snapshot().rows.item) == 0
        assert counts["messages"] == 1 and counts["facts"] == 1 and counts["users"] == 1 and counts["documents"] == 1
        assert min(counts[t] for t in ("sessions", "chunks", "vectors", "postings", "evidence")) >= 1
        with store.read("A") as r:
            assert (r.user(), r.messages(), r.facts(), r.changes(), r.anchors(), r.counts()) == before
        with store.read("a") as r:
            assert r.user() is None and r.messages() == [] and set(r.counts().values()) == {0}
        assert sorted(store.operations().users()) == ["A", "b"]
        with store.write("a") as w:
            assert set(w.erase_user(now=at(6)).values()) == {0}

    def test_tombstones_and_watermark_survive_the_user(self, store: Store, reopen: Callable[[], Store]) -> None:
        fill(store, "ana", "x")
        with store.write("ana") as w:
            assert w.is_tombstoned("message", "m1") is None and w.erased_before() is None
            w.add_tombstones([("message", "m1"), ("content", "secret x")], now=at(3))
            w.erase_user(now=at(4))
            w.set_erased_before(at(4))
            w.audit("erase", now=at(4), actor=None, counts={"messages": 1})
        with store.write("ana") as w:
            w.add_tombstones([("message", "m2")], now=at(5))
            w.set_erased_before(at(2))
        assert store.operations().users() == []
        with reopen().read("ana") as r:
            assert r.is_tombstoned("message", "m1") == at(3)
            assert r.is_tombstoned("content", "secret x") == at(3)
            assert r.is_tombstoned("message", "m2") == at(5)
            assert r.is_tombstoned("message", "secret x") is None
            assert r.erased_before() == at(4)
        with store.read("ben") as r:
            assert r.is_tombstoned("message", "m1") is None and r.erased_before() is None

    def test_erased_turns_keep_their_place(self, store: Store, reopen: Callable[[], Store]) -> None:
        with store.write("ana") as w:
            assert w.erasures() == (0, None) and w.marks("s1", limit=9) == []
            rows = [say(w, f"m{i}", f"words {i}", session_id="s1", at=at(i)) for i in range(4)]
            say(w, "other", "elsewhere", session_id="s2")
            (kept,) = w.messages(ids=["m2"])
            w.update_message(replace(kept, content="█████ 2"))
            w.add_ghosts([rows[1]])
            w.delete_messages([rows[1].item])
            w.add_tombstones([("message", "m1")], now=at(7))
            w.set_slot("s1", SlotRow(name="a", value="x", set_at=T0, expires_at=None))
            w.set_slot("s2", SlotRow(name="b", value="y", set_at=T0, expires_at=None))
            assert w.delete_slots(lambda slot: slot.value == "y") == 1 and w.slots("s2", now=T0) == []
        with reopen().read("ana") as r:
            marks = r.marks("s1", limit=9)
            assert [m.item for m in marks] == [rows[0].item, 0, rows[2].item, rows[3].item]
            assert [m.content_mac for m in marks] == [r.content_mac(f"words {i}") for i in range(4)]
            assert r.marks("s1", limit=2) == marks[2:] and r.marks("s1", roles=["tool"], limit=9) == []
            assert r.erasures() == (1, at(7))
        with store.write("ana") as w:
            w.set_erased_before(at(5))
            assert w.erasures() == (2, at(7))
            w.delete_messages([m.item for m in w.messages(session_id="s1")])
            assert w.delete_session("s1") and not w.delete_session("s1")
            assert w.session("s1") is None and w.slots("s1", now=T0) == []
            w.erase_user(now=at(8))
            assert [m.item for m in w.marks("s1", limit=9)] == [0]

    def test_labels_come_back(self, store: Store) -> None:
        labels = [(None, None, None, None), ("s", "ag", "ta", "ap"), ("s", None, "ta", None)]
        with store.write("ana") as w:
            for i, (session, agent, task, app) in enumerate(labels):
                say(w, f"m{i}", session_id=session or "other", agent_id=agent, task_id=task, app_id=app)
                w.add_fact(fact(f"f{i}", session_id=session, agent_id=agent, task_id=task, app_id=app))
        with store.read("ana") as r:
            assert [(f.session_id, f.agent_id, f.task_id, f.app_id) for f in r.facts()] == labels
            assert [(m.agent_id, m.task_id, m.app_id) for m in r.messages()] == [x[1:] for x in labels]
            rows = r.snapshot().rows
            assert rows.agent.tolist() == [0, r.label("ag"), 0] and rows.task.tolist()[1:] == [r.label("ta")] * 2

    def test_a_user_is_made_once_and_keeps_settings(self, store: Store) -> None:
        with store.write("ana") as w:
            state = w.ensure_user(now=T0)
            assert (state.user_id, state.timezone, state.paused_at, state.created_at) == ("ana", None, None, T0)
            assert w.ensure_user(now=at(9), timezone="Europe/Paris").created_at == T0
            w.set_user(paused_at=at(3))
        with store.write("ana") as w:
            state = w.ensure_user(now=at(10))
            assert (state.timezone, state.paused_at) == ("Europe/Paris", at(3))
            w.set_user(paused_at=None)
            w.set_user(timezone="Asia/Shanghai")
        with store.read("ana") as r:
            again = r.user()
            assert again is not None and (again.timezone, again.paused_at) == ("Asia/Shanghai", None)

    def test_a_failed_write_leaves_nothing(self, store: Store) -> None:
        fill(store, "ana", "x")
        with store.read("ana") as r:
            before = (r.user(), r.messages(), r.facts(), r.counts())
        with pytest.raises(RuntimeError, match="stop"), store.write("ana") as w:
            say(w, "m2")
            w.delete_facts(["f1"])
            w.snapshot()
            raise RuntimeError("stop")
        with pytest.raises(RuntimeError, match="stop"), store.write("new") as w:
            say(w, "m1")
            raise RuntimeError("stop")
        with store.read("ana") as r:
            assert (r.user(), r.messages(), r.facts(), r.counts()) == before
            assert len(r.snapshot().rows.item) == 2
        assert store.operations().users() == ["ana"]
        with store.write("ana") as w:
            say(w, "m2")

    def test_blocks_end_and_do_not_nest(self, store: Store) -> None:
        with store.write("ana") as w:
            say(w, "m1")
            with pytest.raises(ConflictError), store.write("ben"):
                pass
            with store.read("ana") as r:
                assert r.messages() == []
        for view in (w, r):
            with pytest.raises(ConflictError):
                view.messages()

    def test_two_stores_on_one_location_see_each_other(self, store: Store, reopen: Callable[[], Store]) -> None:
        other = reopen()
        for i in range(10):
            a, b = (store, other) if i % 2 else (other, store)
            with a.write("ana") as w:
                say(w, f"m{i}")
            with b.read("ana") as r:
                assert len(r.messages()) == i + 1 and len(r.snapshot().rows.item) == i + 1
        assert store.mac("ana") == other.mac("ana") != store.mac("ben")
        assert len(bytes.fromhex(store.mac("ana"))) >= 16

    def test_threads_lose_nothing(self, store: Store) -> None:
        errors: list[BaseException] = []

        def work(k: int) -> None:
            try:
                for i in range(20):
                    user = f"u{(k + i) % 3}"
                    with store.write(user) as w:
                        say(w, f"{k}-{i}", f"word w{k}", session_id=f"s{k}")
                    with store.read(user) as r:
                        snapshot = r.snapshot()
                        n = len(r.messages())
                        assert len(snapshot.rows.item) == n == len(snapshot.postings(["word"])[0][0])
            except BaseException as e:  # noqa: BLE001
                errors.append(e)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not errors
        total = 0
        for k in range(3):
            with store.read(f"u{k}") as r:
                total += len(r.messages())
        assert total == 120

    def test_instants_keep_their_microseconds(self, store: Store) -> None:
        moments = [datetime(1, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)]
        moments += [
            datetime(2038, 1, 19, 3, 14, 8, 1, tzinfo=UTC),
            datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        ]
        with store.write("ana") as w:
            for i, moment in enumerate(moments):
                w.add_message(message(f"m{i}", at=moment, recorded_at=moment))
        with store.read("ana") as r:
            assert [m.at for m in r.messages()] == moments
