"""What every store keeps to: summaries, and the turns they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from ltm_core.errors import ConflictError
from ltm_core.store.base import CONSOLIDATE_JOB, OWNER_CODES, RESTORE_JOB, Job, MessageRow, Store, Writer
from ltm_core.store.rows import SummaryRow
from ltm_core.store.times import to_us
from ltm_core.testing.builders import T0, at, chunk, say, summary, vector


def told(w: Writer) -> list[MessageRow]:
    """Three turns."""
    return [say(w, f"m{i}", f"turn number{i}", at=at(i)) for i in range(3)]


def kept(w: Writer, id: str, rows: list[MessageRow], **fields: object) -> SummaryRow:
    """A summary of the turns that is indexed and was found."""
    row = w.add_summary(summary(id, f"what {id} says", rows, **fields))
    w.set_chunks("summary", row.item, [chunk({id: 1, "says": 1}, 3)], at=T0, role="system")
    assert w.set_recallable(row.item, now=at(9))
    return row


class SummaryContract:
    """Inherited by `StoreContract`."""

    def test_the_vector_of_a_turn_is_that_of_its_chunks(self, store: Store) -> None:
        import numpy as np

        with store.write("ana") as w:
            row = say(w, "m1", seed=7)
        with store.read("ana") as r:
            found = r.turn_vectors([row.item, 999])
        assert list(found) == [row.item] and np.allclose(found[row.item], vector(7), atol=2e-3)

    def test_a_summary_comes_back_as_it_was(self, store: Store, reopen: Callable[[], Store]) -> None:
        with store.write("ana") as w:
            rows = told(w)
            row = w.add_summary(summary("y1", "We spoke of oboes. 双簧管", rows, agent_id="a", expires_at=at(99)))
            assert row.item > rows[-1].item
            with pytest.raises(ConflictError):
                w.add_summary(summary("y1", "again", rows))
        with reopen().write("ana") as w:
            assert w.summaries() == [row] and row.recallable_at is None
            assert w.summaries(ids=["y1", "none"]) == w.summaries(items=[row.item, 999]) == [row]
            assert w.summaries(sources=[rows[1].item]) == [row] and w.summaries(sources=[999]) == []
            assert w.summaries(level="week") == [] and w.summaries(level="day", since=row.begins) == [row]
            assert w.summaries(until=row.begins) == [] and w.summaries(after_item=row.item) == []
            assert w.set_recallable(row.item, now=at(5)) and w.set_recallable(row.item, now=at(6))
            assert w.summaries()[0].recallable_at == at(5) and not w.set_recallable(999, now=at(5))
            assert w.counts()["summaries"] == 1
        with store.read("ben") as r:
            assert r.summaries() == []

    def test_turns_without_a_summary(self, store: Store) -> None:
        with store.write("ana") as w:
            rows = told(w)
            assert [m.id for m in w.unsummarised(before=at(2), limit=9)] == ["m0", "m1"]
            w.add_summary(summary("y1", "s", rows[:1]))
            assert [m.id for m in w.unsummarised(before=at(9), limit=9)] == ["m1", "m2"]
            first = w.unsummarised(before=at(9), limit=1)[0]
            assert first.id == "m1"
            place = (to_us(first.at), first.sequence)
            assert [m.id for m in w.unsummarised(before=at(9), after=place, limit=9)] == ["m2"]

    def test_a_retired_turn_is_read_and_not_found(self, store: Store) -> None:
        with store.write("ana") as w:
            rows = told(w)
            row = kept(w, "y1", rows)
            assert w.retire_messages([rows[0].item, rows[0].item, 999], now=at(5)) == 1
            assert w.retire_messages([rows[0].item], now=at(6)) == 0
        with store.read("ana") as r:
            back = r.messages(ids=["m0"])[0]
            assert back.retired_at == at(5) and back.content == rows[0].content
            assert len(r.snapshot().postings(["number0"])[0][0]) == 0
            assert len(r.snapshot().postings(["number1"])[0][0]) == 1
            (where,) = r.snapshot().postings(["y1"])[0][0].tolist()
            assert r.snapshot().rows.kind[where] == OWNER_CODES["summary"]
            assert r.snapshot().rows.owner[where] == row.item
            assert [s.retired for s in r.summaries()] == [1]
            assert r.retired_alone(limit=9) == [] and not r.index_faults()

    @pytest.mark.parametrize("change", ["delete", "edit", "name", "ends"])
    def test_no_summary_outlives_its_turns(self, store: Store, change: str) -> None:
        with store.write("ana") as w:
            rows = told(w)
            kept(w, "y1", rows)
            other = kept(w, "y2", rows[2:])
            w.retire_messages([rows[0].item, rows[2].item], now=at(5))
            w.set_consolidated(at(5))
        assert store.operations().users_to_consolidate(looked_before=at(5), said_before=at(9), limit=9) == []
        with store.write("ana") as w:
            if change == "delete":
                assert w.delete_messages([rows[1].item]) == 1
            else:
                changed = {"edit": {"content": "█"}, "name": {"name": "Bo"}, "ends": {"expires_at": at(99)}}[change]
                w.update_message(replace(rows[1], **changed))  # type: ignore[arg-type]
            assert [s.id for s in w.summaries()] == ["y2"]
            assert [m.id for m in w.retired_alone(limit=9)] == ["m0"]
            assert len(w.snapshot().postings(["y1"])[0][0]) == 0
            assert not w.index_faults()
        operations = store.operations()
        assert operations.users_to_consolidate(looked_before=at(5), said_before=at(9), limit=9) == ["ana"]
        assert [j.user_id for j in operations.due_jobs(now=at(999), kinds=[RESTORE_JOB])] == ["ana"]
        with store.write("ana") as w:
            w.update_message(replace(rows[2], in_window=False, retired_at=at(5)))
            assert [s.id for s in w.summaries()] == ["y2"], "what it says is the same"
            assert w.delete_messages([rows[2].item], keep_summaries=True) == 1
            assert [s.id for s in w.summaries()] == ["y2"] and not w.index_faults()
            assert w.delete_summaries([other.item, 999]) == 1 and w.summaries() == []
            assert w.drop_orphans() == 0

    def test_users_wait_for_their_turn(self, store: Store) -> None:
        for user in ("ana", "ben", "cy"):
            with store.write(user) as w:
                told(w)
                if user == "cy":
                    w.set_user(paused_at=T0)
        ask = store.operations().users_to_consolidate
        both = ask(looked_before=at(5), said_before=at(5), limit=9)
        assert sorted(both) == ["ana", "ben"]
        assert ask(looked_before=at(5), said_before=at(5), limit=1) == both[:1]
        assert ask(looked_before=at(5), said_before=at(5), after=both[0], limit=9) == both[1:]
        assert ask(looked_before=at(5), said_before=T0, limit=9) == []
        with store.write("ana") as w:
            w.set_consolidated(at(5))
        assert ask(looked_before=at(5), said_before=at(5), limit=9) == ["ben"]
        assert sorted(ask(looked_before=at(6), said_before=at(5), limit=9)) == ["ana", "ben"]
        with store.write("ben") as w:
            w.add_job(Job(kind=CONSOLIDATE_JOB, user_id="ben", run_after=at(7)))
        assert ask(looked_before=at(9), said_before=at(5), limit=9) == ["ana"], "ben's turns are queued"
        (job,) = store.operations().due_jobs(now=at(9), kinds=[CONSOLIDATE_JOB])
        store.operations().fail_job(job.id, error="tried often enough", retry_at=None)
        assert ask(looked_before=at(7), said_before=at(5), limit=9) == ["ana"]
        assert sorted(ask(looked_before=at(8), said_before=at(5), limit=9)) == ["ana", "ben"], "a day later again"

    def test_a_turn_tells_whether_its_summary_can_be_recalled(self, store: Store) -> None:
        with store.write("ana") as w:
            rows = told(w)
            w.add_summary(summary("y1", "not looked for yet", rows[:2]))
            kept(w, "y2", rows[1:2])
        with store.read("ana") as r:
            found = r.turn_worths(now=T0, idle_before=T0, limit=9)
        assert [t.summarised for t in found] == [False, True, None]

    def test_a_summary_ends_with_the_first_of_its_turns(self, store: Store) -> None:
        with store.write("ana") as w:
            rows = told(w)
            kept(w, "y1", rows, expires_at=at(60))
        assert store.operations().expire(now=at(60) - timedelta(seconds=1), limit=9)["messages"] == 0
        with store.read("ana") as r:
            assert len(r.summaries()) == 1
        store.operations().expire(now=at(60), limit=9)
        with store.read("ana") as r:
            assert r.summaries() == [] and len(r.messages()) == 3


__all__ = ["SummaryContract"]
