"""What every store's snapshot shows: the rows, cosines and postings of one moment."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ltm_core.errors import InvalidInputError, NotFoundError
from ltm_core.store.base import Store
from ltm_core.testing.builders import DIMENSION, T0, at, chunk, fact, message, say, vector

NEVER = np.iinfo(np.int64).max


class SnapshotContract:
    """Inherited by `StoreContract`."""

    def test_rows_show_every_facet(self, store: Store) -> None:
        with store.write("ana") as w:
            m = w.add_message(message("m1"))
            f = w.add_fact(fact("f1"))
            w.set_chunks(
                "message",
                m.item,
                [chunk({"oboe": 2, "red": 1}, 1, start=3, end=9), chunk({"car": 1})],
                at=at(7),
                session_id="s1",
                agent_id="ag",
                task_id="ta",
                app_id="ap",
                role="assistant",
                act="question",
                importance="high",
                expires_at=at(99),
            )
            w.set_chunks("fact", f, [chunk({"oboe": 1}, 2)], at=T0)
        with store.read("ana") as r:
            rows = r.snapshot().rows
            assert rows.item.tolist() == sorted(rows.item.tolist())
            assert rows.owner.tolist() == [m.item, m.item, f]
            assert rows.kind.tolist() == [0, 0, 1]
            assert rows.at[0] == (at(7) - at(0)).total_seconds() * 1_000_000 + rows.at[2]
            assert rows.session.tolist() == [r.label("s1")] * 2 + [0]
            assert rows.agent[0] == r.label("ag") and rows.task[0] == r.label("ta") and rows.app[0] == r.label("ap")
            assert (rows.role.tolist(), rows.act.tolist(), rows.importance.tolist()) == (
                [1, 1, 0],
                [1, 1, 0],
                [2, 2, 0],
            )
            assert (rows.start.tolist(), rows.end.tolist()) == ([3, 0, 0], [9, 4, 4])
            assert rows.length.tolist() == [3, 1, 1]
            assert rows.expires[2] == NEVER and rows.expires[0] < NEVER
            assert r.snapshot().average_length == pytest.approx(5 / 3)
            assert r.label(None) == 0 and 0 < r.label("s1") < 2**63 and r.label("s1") != r.label("S1")
            with pytest.raises(ValueError, match="read-only"):
                rows.at[0] = 0

    def test_cosine_of_the_same_text_is_one_and_nan_without_a_vector(self, store: Store) -> None:
        with store.write("ana") as w:
            m = w.add_message(message("m1"))
            w.set_chunks("message", m.item, [chunk({"a": 1}, i) for i in range(20)] + [chunk({"b": 1})], at=T0)
        with store.read("ana") as r:
            for i in range(20):
                found = r.snapshot().cosine(vector(i))
                assert found.dtype == np.float32
                assert 0.999 <= found[i] <= 1.0 and np.nanargmax(found) == i
                assert np.isnan(found[20]) and np.isfinite(found[:20]).all()
            exact = [float(vector(0) @ vector(i)) for i in range(20)]
            assert np.allclose(r.snapshot().cosine(vector(0))[:20], exact, atol=2e-3)
            assert np.isnan(r.snapshot().cosine(np.ones(DIMENSION + 1, dtype=np.float32))).all()

    def test_facts_give_their_vectors(self, store: Store) -> None:
        with store.write("ana") as w:
            w.set_chunks("fact", w.add_fact(fact("f1")), [chunk({"a": 1}, 1)], at=T0)
            w.set_chunks("fact", w.add_fact(fact("f2")), [chunk({"a": 1})], at=T0)
            w.set_chunks("message", w.add_message(message("f1")).item, [chunk({"a": 1}, 3)], at=T0)
        with store.write("ben") as w:
            w.set_chunks("fact", w.add_fact(fact("f1")), [chunk({"a": 1}, 2)], at=T0)
        with store.read("ana") as r:
            found = r.fact_vectors(["f1", "f2", "none"])
            assert list(found) == ["f1"] and float(found["f1"] @ vector(1)) > 0.999
            assert r.fact_vectors([]) == {}
        with store.read("nobody") as r:
            assert r.fact_vectors(["f1"]) == {}

    def test_vectors_are_finite_and_of_the_right_size(self, store: Store) -> None:
        from ltm_core.store.base import ChunkWrite

        def write(values: list[float]) -> None:
            with store.write("ana") as w:
                m = w.add_message(message(f"m{len(w.messages())}"))
                given = np.array(values, dtype=np.float32)
                w.set_chunks("message", m.item, [ChunkWrite(start=0, end=1, terms={}, vector=given)], at=T0)

        write([1e30] * DIMENSION)
        write([1e-30] * DIMENSION)
        write([0.0] * DIMENSION)
        for bad in (
            [float("nan")] * DIMENSION,
            [float("inf")] + [0.0] * (DIMENSION - 1),
            [1.0] * (DIMENSION - 1),
        ):
            with pytest.raises(InvalidInputError):
                write(bad)
        with store.read("ana") as r:
            found = r.snapshot().cosine(np.full(DIMENSION, DIMENSION**-0.5, dtype=np.float32))
            assert found[0] == pytest.approx(1, abs=1e-3)
            assert found[1] == pytest.approx(1, abs=1e-3)
            assert found[2] == 0
            assert len(r.messages()) == 3

    def test_postings_count_the_terms_of_each_row(self, store: Store) -> None:
        with store.write("ana") as w:
            for i, text in enumerate(["oboe oboe red", "red car", "oboe"]):
                say(w, f"m{i}", text, seed=i)
        with store.write("ben") as w:
            say(w, "m0", "oboe oboe oboe oboe")
        with store.read("ana") as r:
            snapshot = r.snapshot()
            found = snapshot.postings(["oboe", "nowhere", "red", "oboe"])
            assert [(i.tolist(), c.tolist()) for i, c in found] == [
                ([0, 2], [2, 1]),
                ([], []),
                ([0, 1], [1, 1]),
                ([0, 2], [2, 1]),
            ]
            assert snapshot.postings([]) == []

    def test_added_rows_appear_and_removed_rows_are_gone(self, store: Store, reopen: Callable[[], Store]) -> None:
        other = reopen()

        def texts() -> list[list[str]]:
            seen = []
            for s in (store, other):
                with s.read("ana") as r:
                    snapshot = r.snapshot()
                    names = {m.item: m.id for m in r.messages()}
                    seen.append([names[i] for i in snapshot.rows.owner.tolist()])
                    found = snapshot.postings(["word"])[0][0].tolist()
                    assert found == list(range(len(snapshot.rows.owner)))
                    for i, item in enumerate(snapshot.rows.owner.tolist()):
                        assert snapshot.cosine(vector(int(names[item][1:])))[i] >= 0.999
            assert seen[0] == seen[1]
            return seen

        rows = {}
        for i in range(12):
            with (store if i % 2 else other).write("ana") as w:
                rows[i] = say(w, f"m{i}", "word", seed=i)
            assert texts()[0] == [f"m{k}" for k in range(i + 1)]
        with other.write("ana") as w:
            w.delete_messages([rows[3].item, rows[11].item])
            say(w, "m12", "word", seed=12)
        assert texts()[0] == [f"m{k}" for k in (0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 12)]
        with store.write("ana") as w:
            w.set_chunks("message", rows[5].item, [chunk({"word": 1}, 5), chunk({"word": 3}, 5)], at=T0)
        assert texts()[0] == [f"m{k}" for k in (0, 1, 2, 4, 6, 7, 8, 9, 10, 12, 5, 5)]
        with store.write("ana") as w:
            w.erase_user(now=at(1))
        assert texts() == [[], []]

    def test_a_snapshot_keeps_its_moment(self, store: Store) -> None:
        with store.write("ana") as w:
            first = say(w, "m0", "word", seed=0)
        with store.read("ana") as early:
            before = early.snapshot()
            with store.write("ana") as w:
                say(w, "m1", "word", seed=1)
            with store.read("ana") as late:
                assert len(late.snapshot().rows.item) == 2
                assert late.snapshot().postings(["word"])[0][0].tolist() == [0, 1]
            again = early.snapshot()
            for snapshot in (before, again):
                assert snapshot.rows.owner.tolist() == [first.item]
                assert len(snapshot.cosine(vector(0))) == 1
                assert snapshot.postings(["word"])[0][0].tolist() == [0]
            with store.write("ana") as w:
                w.delete_messages([first.item])
            with store.read("ana") as late:
                assert len(late.snapshot().rows.item) == 1
            assert early.snapshot().rows.owner.tolist() == [first.item]
            assert early.snapshot().cosine(vector(0))[0] >= 0.999
        assert before.postings(["word"])[0][0].tolist() in ([0], [])

    def test_a_writer_sees_its_own_rows_and_nobody_else_does(self, store: Store) -> None:
        with store.write("ana") as w:
            say(w, "m0", "word", seed=0)
        with store.write("ana") as w:
            assert len(w.snapshot().rows.item) == 1
            say(w, "m1", "word", seed=1)
            assert w.snapshot().postings(["word"])[0][0].tolist() == [0, 1]
            assert w.snapshot().cosine(vector(1))[1] >= 0.999
            with store.read("ana") as r:
                assert len(r.snapshot().rows.item) == 1
            w.delete_messages([m.item for m in w.messages(ids=["m0"])])
            assert len(w.snapshot().rows.item) == 1
            with store.read("ana") as r:
                assert len(r.snapshot().rows.item) == 1
                assert r.snapshot().cosine(vector(0))[0] >= 0.999

    def test_vectors_may_come_later(self, store: Store) -> None:
        with store.write("ana") as w:
            m = w.add_message(message("m1"))
            w.set_chunks(
                "message", m.item, [chunk({"a": 1}, start=1, end=5), chunk({"b": 1}, 2), chunk({"c": 1})], at=T0
            )
        with store.read("ana") as r:
            assert np.isnan(r.snapshot().cosine(vector(0))).tolist() == [True, False, True]
        assert store.operations().users_without_vectors(limit=10) == ["ana"]
        with store.write("ana") as w:
            waiting = w.chunks_without_vector(limit=1)
            assert [x[1:] for x in waiting] == [("message", m.item, 1, 5)]
            assert len(w.chunks_without_vector(limit=10)) == 2
            w.set_vectors({x[0]: vector(0) for x in w.chunks_without_vector(limit=10)})
            assert w.chunks_without_vector(limit=10) == []
            w.set_vectors({})
            with pytest.raises(NotFoundError):
                w.set_vectors({12345: vector(0)})
        assert store.operations().users_without_vectors(limit=10) == []
        with store.read("ana") as r:
            assert (r.snapshot().cosine(vector(0))[[0, 2]] >= 0.999).all()
            item = int(r.snapshot().rows.item[1])
        with store.write("ana") as w:
            w.set_vectors({item: vector(0)})
        with store.read("ana") as r:
            assert (r.snapshot().cosine(vector(0)) >= 0.999).all()

    def test_another_embedder_does_not_meet_the_old_vectors(self, store: Store) -> None:
        with store.write("ana") as w:
            say(w, "m0", "word", seed=0)
        with store.read("ana") as r:
            assert r.snapshot().cosine(vector(0))[0] >= 0.999
        ops = store.operations()
        ops.set_embedder_identity("other", dimension=DIMENSION, now=T0)
        assert ops.embedder_identity() == "other"
        with store.read("ana") as r:
            assert np.isnan(r.snapshot().cosine(vector(0))[0])
            assert r.snapshot().postings(["word"])[0][0].tolist() == [0]
        assert ops.users_without_vectors(limit=9) == ["ana"]
        with store.write("ana") as w:
            w.set_vectors({x[0]: vector(4) for x in w.chunks_without_vector(limit=9)})
        with store.read("ana") as r:
            assert r.snapshot().cosine(vector(4))[0] >= 0.999

    def test_the_revision_grows_by_one_per_transaction_that_changed_something(self, store: Store) -> None:
        seen = []
        for i in range(3):
            with store.write("ana") as w:
                say(w, f"a{i}")
                say(w, f"b{i}")
            with store.write("ana") as w:
                w.messages()
            with store.read("ana") as r:
                user = r.user()
                assert user is not None and user.revision == r.snapshot().revision
                seen.append(user.revision)
        assert seen == [seen[0], seen[0] + 1, seen[0] + 2]
        with store.write("ana") as w:
            w.erase_user(now=at(1))
        with store.write("ana") as w:
            say(w, "again")
        with store.read("ana") as r:
            user = r.user()
            assert user is not None and user.revision > seen[-1]
