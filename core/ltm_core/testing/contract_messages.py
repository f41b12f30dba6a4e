"""What every store does with turns, sessions and slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ltm_core.errors import ConflictError, InvalidInputError, InvalidScopeError, NotFoundError
from ltm_core.store.base import SlotRow, Store
from ltm_core.testing.builders import T0, at, message, say


class MessageContract:
    """Inherited by `StoreContract`."""

    def test_every_field_of_a_message_comes_back(self, store: Store, reopen: Callable[[], Store]) -> None:
        row = message(
            "caller-7",
            "预算是 300 \U0001f600 'quoted' \\ \n end",
            has_caller_id=True,
            session_id="s/1",
            role="assistant",
            name="Ada",
            at=at(5),
            timezone="Asia/Shanghai",
            recorded_at=at(6),
            act="question",
            language="zh",
            importance="high",
            reply_to="m0",
            agent_id="ag",
            task_id="ta",
            app_id="ap",
            doc_type="minutes",
            expires_at=at(70),
            archived_at=at(8),
            in_window=False,
            redacted_at=at(9),
            metadata={"a": [1, 2.5, None, True], "ü": {"b": "c"}},
        )
        with store.write("ana") as w:
            stored = w.add_message(row)
        assert stored == replace(row, item=stored.item, sequence=stored.sequence)
        assert stored.item > 0
        with reopen().read("ana") as r:
            assert r.message("caller-7") == stored
            assert r.messages() == [stored]
        changed = replace(
            stored, content="", metadata={}, reply_to=None, expires_at=None, in_window=True, act="other"
        )
        with store.write("ana") as w:
            w.update_message(changed)
            assert w.message("caller-7", session_id="s/1") == changed

    def test_order_is_by_time_then_by_sequence(self, store: Store) -> None:
        with store.write("ana") as w:
            for i, minutes in enumerate([5, 1, 1, 1, 3]):
                w.add_message(message(f"m{i}", at=at(minutes)))
        with store.read("ana") as r:
            ids = [m.id for m in r.messages(session_id="s1")]
            assert ids == ["m1", "m2", "m3", "m4", "m0"]
            assert [m.id for m in r.messages(newest_first=True, limit=2)] == ["m0", "m4"]
            assert [m.id for m in r.messages(since=at(1), until=at(3))] == ["m1", "m2", "m3"]
            here = r.messages(ids=["m2"])[0]
            assert [m.id for m in r.neighbours(here.item, before=2, after=2)] == ["m1", "m3", "m4"]
            assert r.neighbours(10**6) == []

    def test_ids_are_unique_per_session(self, store: Store) -> None:
        with store.write("ana") as w:
            w.add_message(message("m1", "one"))
            w.add_message(message("m1", "two", session_id="s2", at=at(1)))
            with pytest.raises(ConflictError):
                w.add_message(message("m1", "three"))
        with store.read("ana") as r:
            newest, first = r.message("m1"), r.message("m1", session_id="s1")
            assert newest is not None and newest.content == "two"
            assert first is not None and first.content == "one"
            assert r.message("m1", session_id="s3") is None
            assert [m.content for m in r.messages(ids=["m1", "m9"])] == ["one", "two"]

    def test_messages_are_selected_by_each_condition(self, store: Store) -> None:
        with store.write("ana") as w:
            a = w.add_message(message("a", doc_type="minutes", expires_at=at(10)))
            b = w.add_message(message("b", role="assistant", at=at(1), archived_at=at(2), doc_type="contract"))
            c = w.add_message(message("c", role="tool", at=at(2), session_id="s2", in_window=False))
        with store.read("ana") as r:

            def ids(**conditions: object) -> str:
                return "".join(m.id for m in r.messages(**conditions))  # type: ignore[arg-type]

            assert ids() == "abc"
            assert ids(session_id="s2") == "c"
            assert ids(items=[c.item, a.item, 9999]) == "ac"
            assert ids(items=[]) == "" and ids(ids=[]) == ""
            assert ids(roles=["assistant", "tool"]) == "bc"
            assert ids(roles=[]) == ""
            assert ids(in_window=False) == "c" and ids(in_window=True, session_id="s1") == "ab"
            assert ids(doc_types=["minutes", "other"]) == "a"
            assert ids(archived=True) == "b" and ids(archived=False) == "ac"
            assert ids(expired_by=at(9)) == "" and ids(expired_by=at(10)) == "a"
            assert ids(after_item=a.item) == "bc" and ids(after_item=b.item, limit=1) == "c"

    def test_paging_by_item_sees_each_message_once(self, store: Store) -> None:
        with store.write("ana") as w:
            for i in range(25):
                w.add_message(message(f"m{i}", at=at(-i)))
        seen: list[str] = []
        with store.read("ana") as r:
            last = 0
            while page := r.messages(after_item=last, limit=10):
                seen += [m.id for m in page]
                last = page[-1].item
        assert seen == [f"m{i}" for i in range(25)]

    def test_many_items_and_ids_at_once(self, store: Store) -> None:
        with store.write("ana") as w:
            rows = [w.add_message(message(f"m{i}", at=at(i % 7))) for i in range(1100)]
        with store.read("ana") as r:
            assert len(r.messages(items=[m.item for m in rows])) == 1100
            found = r.messages(ids=[m.id for m in rows], limit=600)
            assert len(found) == 600
            assert found == sorted(found, key=lambda m: (m.at, m.sequence))

    def test_deleting_messages_takes_everything_that_hangs_on_them(self, store: Store) -> None:
        with store.write("ana") as w:
            a, b = say(w, "a", "oboe lessons"), say(w, "b", "red car", at=at(1))
            assert w.delete_messages([a.item, a.item, 999]) == 1
            assert w.delete_messages([]) == 0
        with store.read("ana") as r:
            assert [m.id for m in r.messages()] == ["b"]
            snapshot = r.snapshot()
            assert snapshot.rows.owner.tolist() == [b.item]
            assert [len(i) for i, _ in snapshot.postings(["oboe", "car"])] == [0, 1]
            session = r.session("s1")
            assert session is not None and session.message_count == 1
        with store.write("ana") as w:
            again = w.add_message(message("a", "new words"))
            assert again.item > b.item
            with pytest.raises(NotFoundError):
                w.update_message(a)

    def test_sessions_follow_their_turns(self, store: Store) -> None:
        with store.write("ana") as w:
            w.ensure_user(now=T0)
            first = w.touch_session("s1", at=at(3), now=at(3))
            assert (first.id, first.started_at, first.last_at, first.message_count) == ("s1", at(3), at(3), 0)
            say(w, "a", at=at(1))
            say(w, "b", at=at(9))
            w.touch_session("s2", at=at(5), now=at(5))
            w.touch_session("s3", at=at(20), now=at(20))
        with store.read("ana") as r:
            one = r.session("s1")
            assert one is not None
            assert (one.started_at, one.last_at, one.ended_at, one.message_count) == (at(1), at(9), None, 2)
            assert [s.id for s in r.sessions()] == ["s3", "s1", "s2"]
            assert [s.id for s in r.sessions(limit=1, after="s3")] == ["s1"]
            assert r.sessions(after="s2") == []
            assert r.session("S1") is None
        with store.write("ana") as w:
            w.set_slot("s1", SlotRow(name="order", value="ORD-1", set_at=T0, expires_at=None))
            assert w.end_session("s1", now=at(30))
            assert not w.end_session("s1", now=at(31))
            assert not w.end_session("nowhere", now=at(31))
            assert w.messages(session_id="s1", in_window=True) == []
            assert len(w.messages(session_id="s1")) == 2
            assert w.slots("s1", now=at(30)) == []
            ended = w.session("s1")
            assert ended is not None and ended.ended_at == at(30)
            assert w.touch_session("s1", at=at(40), now=at(40)).ended_at is None

    def test_clearing_a_window_keeps_the_turns(self, store: Store) -> None:
        with store.write("ana") as w:
            for i in range(3):
                say(w, f"m{i}")
            say(w, "other", session_id="s2")
            assert w.clear_window("s1") == 3
            assert w.clear_window("s1") == 0
            assert [m.id for m in w.messages(in_window=True)] == ["other"]
            assert len(w.messages()) == 4

    def test_slots_live_until_their_time(self, store: Store) -> None:
        with store.write("ana") as w:
            w.set_slot("s1", SlotRow(name="order", value={"id": "ORD-1"}, set_at=T0, expires_at=at(30)))
            w.set_slot("s1", SlotRow(name="city", value="杭州", set_at=at(1), expires_at=None))
            w.set_slot("s1", SlotRow(name="order", value={"id": "ORD-2"}, set_at=at(2), expires_at=at(30)))
        with store.read("ana") as r:
            assert {s.name: s.value for s in r.slots("s1", now=at(29))} == {
                "order": {"id": "ORD-2"},
                "city": "杭州",
            }
            assert [s.name for s in r.slots("s1", now=at(30))] == ["city"]
            assert r.slots("s2", now=at(1)) == []
        with store.write("ana") as w:
            assert w.delete_slot("s1", "city")
            assert not w.delete_slot("s1", "city")

    def test_hostile_content_neither_fails_nor_leaks_into_the_query(self, store: Store) -> None:
        texts = [
            "a\0b",
            "half \ud83d pair",
            "'; DROP TABLE messages; --",
            "％_%",
            "",
            "\u202e\u0000",
            "x" * 100_000,
        ]
        with store.write("ana") as w:
            for i, text in enumerate(texts):
                say(w, f"m{i}\0'{text[:3]}", text, session_id=f"s'{i}\0")
        with store.read("ana") as r:
            back = [r.messages(session_id=f"s'{i}\0") for i in range(len(texts))]
            assert [len(b) for b in back] == [1] * len(texts)
            for text, found in zip(texts, back, strict=True):
                assert found[0].content == text
            assert len(r.snapshot().rows.item) == len(texts)

    def test_a_user_id_must_be_text_that_says_something(self, store: Store) -> None:
        for bad in ("", "  ", "\n", None, 7, "half \ud83d"):
            for door in (store.read, store.write):
                with pytest.raises(InvalidScopeError), door(bad):  # type: ignore[arg-type]
                    pass
        assert store.operations().users() == []
        assert issubclass(InvalidScopeError, InvalidInputError)
