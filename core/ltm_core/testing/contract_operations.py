"""What every store does across users: sweeps, jobs, statistics, receipts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ltm_core.errors import ConflictError, InvalidScopeError, NotFoundError
from ltm_core.store.base import Job, Operations, SlotRow, Store
from ltm_core.testing.builders import DIMENSION, T0, at, fact, say
from ltm_core.testing.contract_life import fill
from ltm_core.types import FactChange, Receipt


class OperationsContract:
    """Inherited by `StoreContract`."""

    def test_idle_sessions_are_closed_in_batches(self, store: Store) -> None:
        for user in ("ana", "ben"):
            with store.write(user) as w:
                say(w, "m1", session_id="old", at=at(999))
                say(w, "m2", session_id="new", recorded_at=at(60))
                w.set_slot("old", SlotRow(name="n", value=1, set_at=T0, expires_at=None))
        ops = store.operations()
        first = ops.close_idle_sessions(idle_before=at(30), now=at(61), limit=1)
        rest = ops.close_idle_sessions(idle_before=at(30), now=at(61), limit=10)
        assert (first, rest) == (1, 1)
        assert ops.close_idle_sessions(idle_before=at(30), now=at(62), limit=10) == 0
        for user in ("ana", "ben"):
            with store.read(user) as r:
                session = r.session("old")
                assert session is not None and session.ended_at == at(61)
                assert r.messages(session_id="old", in_window=True) == [] and r.slots("old", now=T0) == []
                assert len(r.messages(session_id="new", in_window=True)) == 1

    def test_what_expired_is_gone(self, store: Store) -> None:
        with store.write("ana") as w:
            say(w, "m1", expires_at=at(10))
            say(w, "m2", expires_at=at(99))
            w.add_fact(fact("f1", expires_at=at(10)))
            w.add_fact(fact("f2"))
            w.set_slot("s1", SlotRow(name="a", value=1, set_at=T0, expires_at=at(10)))
            w.set_slot("s1", SlotRow(name="b", value=1, set_at=T0, expires_at=None))
        assert store.operations().expire(now=at(10), limit=100) == {
            "slots": 1,
            "messages": 1,
            "facts": 1,
            "documents": 0,
        }
        assert set(store.operations().expire(now=at(10), limit=100).values()) == {0}
        with store.read("ana") as r:
            assert [m.id for m in r.messages()] == ["m2"] and [f.id for f in r.facts()] == ["f2"]
            assert [s.name for s in r.slots("s1", now=T0)] == ["b"] and len(r.snapshot().rows.item) == 1

    def test_jobs_wait_fail_and_end(self, store: Store) -> None:
        ops = store.operations()
        with store.write("ana") as w:
            w.add_job(Job(kind="extract", user_id="ana", payload={"item": 3}, run_after=T0))
            w.add_job(Job(kind="sweep", run_after=at(5)))
            with pytest.raises(InvalidScopeError):
                w.add_job(Job(kind="x", user_id="ben", run_after=T0))
        (job,) = ops.due_jobs(now=at(1))
        assert (job.kind, job.user_id, job.payload, job.attempts) == ("extract", "ana", {"item": 3}, 0)
        assert [j.kind for j in ops.due_jobs(now=at(5), kinds=["sweep"])] == ["sweep"]
        assert ops.due_jobs(now=at(5), kinds=[]) == []
        ops.fail_job(job.id, error="timeout", retry_at=at(9))
        assert ops.due_jobs(now=at(1), kinds=["extract"]) == []
        (again,) = ops.due_jobs(now=at(9), kinds=["extract"])
        assert (again.attempts, again.error) == (1, "timeout")
        ops.fail_job(job.id, error="gave up", retry_at=None)
        assert [j.kind for j in ops.due_jobs(now=at(99))] == ["sweep"]
        ops.finish_job(ops.due_jobs(now=at(99))[0].id)
        assert ops.due_jobs(now=at(99)) == []
        with pytest.raises(NotFoundError):
            ops.fail_job(10**6, error="x", retry_at=None)

    def test_the_feed_of_all_users_is_in_the_order_of_commits(self, store: Store) -> None:
        def log(user: str, id: str) -> None:
            with store.write(user) as w:
                w.add_fact(fact(id, user_id=user))
                w.log_change(FactChange(op="add", fact=fact(id, user_id=user), at=T0))

        for n, user in enumerate(("ana", "ben", "ana", "cy")):
            log(user, f"f{n}")
        marks = store.operations().change_marks(after=0, limit=10)
        assert [user for _, user in marks] == ["ana", "ben", "ana", "cy"]
        assert marks == sorted(marks) and store.operations().change_marks(after=marks[0][0], limit=2) == marks[1:3]
        with store.read("ana") as r:
            assert [int(c.cursor) for c in r.changes()] == [marks[0][0], marks[2][0]]
        with store.write("ben") as w:
            w.erase_user(now=at(1))
        assert store.operations().change_marks(after=0, limit=10) == [m for m in marks if m[1] != "ben"]

    def test_listeners_hear_of_what_was_committed(self, store: Store) -> None:
        heard: list[tuple[str, str]] = []
        end = store.listen(lambda changes: heard.extend((c.fact.id, c.cursor) for c in changes))

        def log(id: str) -> FactChange:
            with store.write("ana") as w:
                w.add_fact(fact(id))
                logged = w.log_change(FactChange(op="add", fact=fact(id), at=T0))
                assert list(w.logged) == [logged] and heard == before
                if id == "f2":
                    raise KeyError("undone")
            return logged

        before: list[tuple[str, str]] = []
        first = log("f1")
        assert heard == [("f1", first.cursor)]
        before = list(heard)
        with pytest.raises(KeyError):
            log("f2")
        assert heard == before
        end()
        end()
        log("f3")
        assert heard == before

    def test_a_used_store_has_no_faults(self, store: Store) -> None:
        for user in ("ana", "ben"):
            fill(store, user, "Kestrel")
        with store.write("ben") as w:
            w.erase_user(now=at(1))
        assert store.operations().check_file() == []
        for user in ("ana", "ben", "nobody"):
            with store.read(user) as r:
                assert not r.index_faults(), user
        with store.write("ana") as w:
            before = w.counts()
            assert w.drop_orphans() == 0 and w.counts() == before and not w.index_faults()

    def test_a_job_is_claimed_once_and_ended_by_its_claim(self, store: Store, reopen: Callable[[], Store]) -> None:
        with store.write("ana") as w:
            for n in range(3):
                w.add_job(Job(kind="extract", user_id="ana", payload={"items": [n]}, run_after=at(n)))
            w.add_job(Job(kind="other", user_id="ana", run_after=T0))
        ops, others = store.operations(), reopen().operations()

        def claim(of: Operations, now: int, limit: int = 1) -> list[Job]:
            return of.claim_jobs(now=at(now), kinds=["extract"], lease_until=at(now + 10), limit=limit)

        (first,) = claim(ops, 5)
        assert (first.payload, first.attempts, first.user_id) == ({"items": [0]}, 1, "ana")
        assert [j.payload["items"] for j in claim(others, 5, limit=9)] == [[1], [2]]
        assert claim(ops, 14, limit=9) == [] and len(ops.due_jobs(now=at(14), kinds=["extract"])) == 0
        (again,) = claim(others, 15)
        assert again.id == first.id and again.attempts == 2
        # The first claim is lost: it can neither end the job nor finish it.
        assert not ops.end_claim(first.id, attempts=1, retry_at=at(20), error="late")
        with store.write("ana") as w:
            assert not w.finish_claimed(first.id, attempts=1)
        assert others.end_claim(again.id, attempts=2, retry_at=at(16), error=None)
        (third,) = [j for j in claim(ops, 16, limit=9) if j.id == first.id]
        assert (third.attempts, third.error) == (2, None)
        with store.write("ana") as w:
            assert w.finish_claimed(third.id, attempts=2)
        with store.write("ben") as w:
            w.ensure_user(now=T0)
            (left, *_) = ops.due_jobs(now=at(99), kinds=["extract"])
            assert not w.finish_claimed(left.id, attempts=left.attempts)

    def test_what_a_transaction_undoes_leaves_the_claim(self, store: Store) -> None:
        with store.write("ana") as w:
            w.add_job(Job(kind="extract", user_id="ana", run_after=T0))
        ops = store.operations()
        (job,) = ops.claim_jobs(now=at(1), kinds=["extract"], lease_until=at(9), limit=1)
        with pytest.raises(KeyError), store.write("ana") as w:
            assert w.finish_claimed(job.id, attempts=1)
            raise KeyError
        assert ops.stats().jobs == 1 and ops.end_claim(job.id, attempts=1, retry_at=at(2), error="again")

    def test_jobs_of_paused_users_wait(self, store: Store) -> None:
        with store.write("ana") as w:
            w.add_job(Job(kind="extract", user_id="ana", run_after=T0))
            w.set_user(paused_at=at(1))
        ops = store.operations()
        assert ops.claim_jobs(now=at(5), kinds=["extract"], lease_until=at(9), limit=1) == []
        with store.write("ana") as w:
            w.set_user(paused_at=None)
        assert len(ops.claim_jobs(now=at(5), kinds=["extract"], lease_until=at(9), limit=1)) == 1

    def test_dead_letters_are_listed_revived_and_dropped(self, store: Store) -> None:
        with store.write("ana") as w:
            for _ in range(4):
                w.add_job(Job(kind="extract", user_id="ana", run_after=T0))
        ops = store.operations()
        jobs = ops.claim_jobs(now=at(1), kinds=["extract"], lease_until=at(9), limit=9)
        for job in jobs[:3]:
            assert ops.end_claim(job.id, attempts=1, retry_at=None, error="gave up")
        dead = ops.dead_jobs()
        assert [(j.user_id, j.attempts, j.status, j.error) for j in dead] == [("ana", 1, "dead", "gave up")] * 3
        assert [j.id for j in ops.dead_jobs(after=dead[0].id, limit=1)] == [dead[1].id]
        assert ops.dead_jobs(kinds=["other"]) == [] and ops.stats().dead_jobs == 3
        assert ops.revive_jobs([dead[0].id, jobs[3].id, 10**9], now=at(20)) == 1
        (back,) = [j for j in ops.due_jobs(now=at(20)) if j.id == dead[0].id]
        assert back.attempts == 0 and back.status == "ready"
        assert ops.drop_dead_jobs([dead[1].id]) == 1 and ops.revive_jobs(None, now=at(21)) == 1
        assert ops.drop_dead_jobs(None) == 0 and ops.dead_jobs() == []

    def test_operations_list_users_and_counts(self, store: Store) -> None:
        for i in range(5):
            with store.write(f"u{i}") as w:
                say(w, "m1", doc_type="minutes" if i % 2 else None, archived_at=at(1) if i == 3 else None)
                w.add_fact(fact("f1"))
                w.add_fact(fact("f2", retracted_at=at(1)))
        ops = store.operations()
        first = ops.users(limit=2)
        assert len(first) == 2 and sorted(first + ops.users(after=first[1])) == [f"u{i}" for i in range(5)]
        assert ops.users_with_doc_types(["minutes", "contract"], before=at(9), limit=9) == ["u1"]
        assert ops.users_with_doc_types(["minutes"], before=at(0), limit=9) == []
        stats = ops.stats()
        assert (stats.users, stats.sessions, stats.messages, stats.facts, stats.current_facts) == (5, 5, 5, 10, 5)
        assert (stats.chunks, stats.vectors, stats.embedder) == (5, 5, "test-embedder")
        assert stats.bytes_on_disk > 0 and stats.schema_version >= 1 and stats.terms > 0
        ops.set_embedder_identity("test-embedder", dimension=DIMENSION, now=T0)
        with pytest.raises(ConflictError):
            ops.set_embedder_identity("test-embedder", dimension=DIMENSION + 1, now=T0)

    def test_a_receipt_is_recorded_and_bytes_are_gone(self, store: Store) -> None:
        fill(store, "ana", "ZQ-7741-Kestrel")
        fill(store, "ben", "tea")
        with store.write("ana") as w:
            counts = w.erase_user(now=at(1))
        ops = store.operations()
        clean, files = ops.scrub(needles=[b"ZQ-7741-Kestrel", "鹰".encode()], wait_seconds=5)
        assert clean and files > 0
        assert ops.scrub(needles=[b"secret tea"], wait_seconds=5)[0]  # another user says it by right
        receipt = Receipt(
            id="r1", user_id_hmac=store.mac("ana"), what="user", at=at(1), counts=counts, bytes_clean=clean
        )
        ops.record_receipt(receipt)
        ops.record_receipt(receipt)

    def test_settings_of_the_store_are_kept_replaced_and_removed(self, store: Store) -> None:
        ops = store.operations()
        assert ops.setting("floor:e") is None
        ops.set_setting("floor:e", '{"a": 1}')
        ops.set_setting("另一个", "值")
        assert store.operations().setting("floor:e") == '{"a": 1}'
        ops.set_setting("floor:e", "2")
        assert (ops.setting("floor:e"), ops.setting("另一个")) == ("2", "值")
        ops.set_setting("floor:e", None)
        assert ops.setting("floor:e") is None
