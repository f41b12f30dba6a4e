"""What every store does with facts, their evidence, their history and the change feed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from ltm_core.errors import ConflictError, NotFoundError
from ltm_core.store.base import Store
from ltm_core.testing.builders import T0, at, chunk, fact, message
from ltm_core.types import Anchor, Evidence, FactChange


class FactContract:
    """Inherited by `StoreContract`."""

    def test_every_field_of_a_fact_comes_back(self, store: Store, reopen: Callable[[], Store]) -> None:
        full = fact(
            "f1",
            "双簧管",
            session_id="s1",
            agent_id="ag",
            task_id="ta",
            app_id="ap",
            object_normalized="oboe",
            kind="preference",
            is_positive=False,
            is_about_user=False,
            modality="habitual",
            speaker="speaker:Bo",
            asserted_by="assistant_confirmed",
            confidence=0.625,
            importance="high",
            valid_to=at(90),
            retracted_at=at(5),
            suppressed_at=at(6),
            expires_at=at(100),
            last_seen_at=at(4),
            support_count=3,
            access_count=2,
            superseded_by="f2",
            evidence=(Evidence(message_id="m1", start=0, end=4), Evidence(message_id="m2", start=1, end=2)),
            source_message_ids=("m1", "m2", "m3"),
            doc_type="minutes",
            tags=("music", "乐器"),
            metadata={"k": [1, {"n": None}]},
            rule="plays.en",
            is_current=False,
        )
        with store.write("ana") as w:
            item = w.add_fact(full)
            assert w.fact_item("f1") == item
            with pytest.raises(ConflictError):
                w.add_fact(full)
        with reopen().read("ana") as r:
            assert r.fact("f1") == full
            assert r.facts(items=[item, 999]) == [full]
            assert r.fact("f9") is None and r.fact_item("f9") is None
        bare = fact("f1", evidence=(), source_message_ids=())
        with store.write("ana") as w:
            w.update_fact(bare)
            assert w.fact("f1") == bare
            with pytest.raises(NotFoundError):
                w.update_fact(fact("f9"))

    def test_facts_are_selected_by_each_condition(self, store: Store) -> None:
        with store.write("ana") as w:
            items = [
                w.add_fact(f)
                for f in (
                    fact("a"),
                    fact("b", relation="lives_in", source_message_ids=("m2",), evidence=()),
                    fact(
                        "c",
                        subject="Sister",
                        relation="Lives_In",
                        evidence=(Evidence(message_id="m3", start=0, end=1),),
                    ),
                )
            ]
        with store.read("ana") as r:

            def ids(**conditions: object) -> str:
                return "".join(f.id for f in r.facts(**conditions))  # type: ignore[arg-type]

            assert ids() == "abc"
            assert ids(subject="USER ") == "ab" and ids(relation="lives_in") == "bc"
            assert ids(subject="sister", relation="lives_in") == "c"
            assert ids(slots=[("user", "plays"), ("sister", "lives_in")]) == "ac"
            assert ids(slots=[]) == "" and ids(ids=[]) == "" and ids(items=[]) == "" and ids(evidence_of=[]) == ""
            assert ids(ids=["c", "a", "x"]) == "ac"
            assert ids(evidence_of=["m2"]) == "b" and ids(evidence_of=["m3", "m2"]) == "bc"
            assert ids(evidence_of=["m1", "m3"], subject="sister") == "c"
            assert ids(evidence_of=["m2"], ids=["a", "b"]) == "b"
            assert ids(after_item=items[0]) == "bc" and ids(after_item=items[0], limit=1) == "b"

    def test_current_means_holding_at_that_time(self, store: Store) -> None:
        cases = {
            "plain": fact("plain"),
            "closed": fact("closed", valid_to=at(10)),
            "future": fact("future", valid_from=at(10)),
            "retracted": fact("retracted", retracted_at=at(50)),
            "suppressed": fact("suppressed", suppressed_at=at(50)),
            "expired": fact("expired", expires_at=at(10)),
            "superseded": fact("superseded", superseded_by="plain"),
            "closed-superseded": fact("closed-superseded", superseded_by="plain", valid_to=at(10)),
        }
        with store.write("ana") as w:
            for f in cases.values():
                w.add_fact(f)
        with store.read("ana") as r:

            def current(moment: datetime) -> set[str]:
                listed = {f.id for f in r.facts(current_at=moment)}
                flagged = {f.id for f in r.facts(current_at=moment) if f.is_current}
                assert listed == flagged
                return listed

            assert current(at(-1)) == set()
            assert current(T0) == {"plain", "closed", "expired", "closed-superseded"}
            assert current(at(9)) == current(T0)
            assert current(at(10)) == {"plain", "future"}
            assert [f.id for f in r.facts(current_at=at(10), limit=1)] == ["plain"]

    def test_known_at_sees_what_was_recorded_then(self, store: Store) -> None:
        old, new = fact("old", "Hangzhou"), fact("new", "Berlin", valid_from=at(100), recorded_at=at(120))
        closed = replace(old, valid_to=at(100), superseded_by="new")
        with store.write("ana") as w:
            w.add_fact(old)
        with store.write("ana") as w:
            w.update_fact(closed, now=at(120))
            w.add_fact(new)
        with store.write("ana") as w:
            w.update_fact(replace(closed, retracted_at=at(200)), now=at(200))
        with store.read("ana") as r:

            def known(moment: datetime, current: datetime | None = None) -> dict[str, tuple[object, ...]]:
                found = r.facts(known_at=moment, current_at=current)
                return {f.id: (f.valid_to, f.superseded_by, f.retracted_at) for f in found}

            assert known(at(-1)) == {}
            assert known(at(119)) == {"old": (None, None, None)}
            assert known(at(120)) == {"old": (at(100), "new", None), "new": (None, None, None)}
            assert known(at(200))["old"] == (at(100), "new", at(200))
            # On day 110 as it was known before and after the move was told.
            assert set(known(at(119), at(110))) == {"old"}
            assert set(known(at(150), at(110))) == {"new"}
            assert set(known(at(150), at(50))) == {"old"}
            assert set(known(at(250), at(50))) == set()

    def test_chains_of_supersession_read_backwards(self, store: Store) -> None:
        with store.write("ana") as w:
            w.add_fact(fact("a", superseded_by="c", valid_to=at(1)))
            w.add_fact(fact("b", superseded_by="c", valid_to=at(1)))
            w.add_fact(fact("c", superseded_by="d", valid_to=at(2)))
            w.add_fact(fact("d"))
        with store.read("ana") as r:
            before = r.predecessors(["d", "c", "a", "nowhere", "c"])
            assert {i: [f.id for f in facts] for i, facts in before.items()} == {
                "d": ["c"],
                "c": ["a", "b"],
                "a": [],
                "nowhere": [],
            }
            assert before["c"] == [r.fact("a"), r.fact("b")]
            assert r.predecessors([]) == {}
        with store.read("bo") as r:
            assert r.predecessors(["c"]) == {"c": []}

    def test_a_fact_that_holds_again_is_a_predecessor_still(self, store: Store) -> None:
        with store.write("ana") as w:
            w.add_fact(fact("old", superseded_by="new", valid_to=at(1)))
            w.add_fact(fact("new", valid_from=at(1), expires_at=at(2)))
        with store.read("ana") as r:
            (old,) = r.predecessors(["new"])["new"]
            assert (old.id, old.superseded_by, old.is_current) == ("old", None, True)

    def test_touching_counts_accesses_and_changes_nothing_else(self, store: Store) -> None:
        with store.write("ana") as w:
            w.add_fact(fact("a"))
        with store.read("ana") as r:
            before = r.user()
        with store.write("ana") as w:
            w.touch_facts(["a", "nowhere"], now=at(5))
            w.touch_facts(["a"], now=at(6))
        with store.read("ana") as r:
            assert r.user() == before
            assert r.fact("a") == replace(fact("a"), access_count=2)

    def test_deleted_facts_take_their_index_and_evidence(self, store: Store) -> None:
        with store.write("ana") as w:
            item = w.add_fact(fact("a"))
            w.set_chunks("fact", item, [chunk({"oboe": 1}, 3)], at=T0)
            w.add_fact(fact("b"))
            assert w.delete_facts(["a", "a", "nowhere"]) == 1
            assert [f.id for f in w.facts(evidence_of=["m1"])] == ["b"]
            assert len(w.snapshot().rows.item) == 0
            assert w.counts()["vectors"] == 0

    def test_evidence_goes_with_its_message(self, store: Store) -> None:
        with store.write("ana") as w:
            m = w.add_message(message("m1"))
            n = w.add_message(message("m1", session_id="s2"))
            w.add_fact(fact("a"))
            w.delete_messages([m.item])
            kept = w.fact("a")
            assert kept is not None and kept.source_message_ids == ("m1",)
            w.delete_messages([n.item])
            bare = w.fact("a")
            assert bare is not None and bare.evidence == () and bare.source_message_ids == ()

    def test_anchors_come_back_by_message(self, store: Store) -> None:
        def anchor(message_id: str, text: str) -> Anchor:
            span = Evidence(message_id=message_id, start=2, end=9)
            return Anchor(kind="identifier", text=text, evidence=span, reason="order id", importance="high")

        with store.write("ana") as w:
            m = w.add_message(message("m1"))
            w.add_anchor(anchor("m1", "ORD-1"), session_id="s1", at=T0)
            w.add_anchor(anchor("m2", "ORD-2"), session_id="s1", at=T0)
            w.add_anchor(anchor("m1", "ORD-3"), session_id="s1", at=T0)
            assert w.anchors() == [anchor("m1", "ORD-1"), anchor("m2", "ORD-2"), anchor("m1", "ORD-3")]
            assert [a.text for a in w.anchors(["m1"])] == ["ORD-1", "ORD-3"]
            assert w.anchors([]) == []
            w.delete_messages([m.item])
            assert [a.text for a in w.anchors()] == ["ORD-2"]

    def test_the_change_feed_is_in_order_and_pages(self, store: Store) -> None:
        a, b = fact("a"), fact("b")
        with store.write("ana") as w:
            w.add_fact(a)
            first = w.log_change(FactChange(op="add", fact=a, reason="rule x", at=T0))
        with store.write("ben") as w:
            w.log_change(FactChange(op="add", fact=replace(fact("z"), user_id="ben"), at=T0))
        with store.write("ana") as w:
            w.add_fact(b)
            closed = replace(a, valid_to=at(1), superseded_by="b")
            w.update_fact(closed, now=at(1))
            second = w.log_change(FactChange(op="supersede", fact=b, previous=closed, at=at(1)))
        assert int(second.cursor) > int(first.cursor) > 0
        with store.read("ana") as r:
            feed = r.changes()
            assert [(c.op, c.fact.id, c.cursor, c.reason) for c in feed] == [
                ("add", "a", first.cursor, "rule x"),
                ("supersede", "b", second.cursor, ""),
            ]
            assert feed[1].previous is not None and feed[1].previous.valid_to == at(1)
            assert r.changes(limit=1) == feed[:1]
            assert r.changes(after=int(first.cursor)) == feed[1:]
        with store.write("ana") as w:
            w.delete_facts(["a"])
            gone = w.changes()[0].fact
            assert (gone.id, gone.text, gone.object, gone.is_current) == ("a", "", "", False)
