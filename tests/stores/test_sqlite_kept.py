"""What was decoded is given out again for equal rows only, and for nobody whose words are gone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from ltm_core.config import Config
from ltm_core.store.sql.kept import FEW, Kept
from ltm_core.store.sqlite import SqliteStore, open_store
from ltm_core.testing.builders import DIMENSION, T0, at, fact, message, say


@contextmanager
def opened(path: Path) -> Iterator[SqliteStore]:
    with closing(open_store(path, config=Config.make())) as store:
        store.operations().set_embedder_identity("e", dimension=DIMENSION, now=T0)
        yield store


def test_the_same_rows_are_decoded_once(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as store:
        with store.write("ana") as w:
            say(w, "m1")
            w.add_fact(fact("f1"))
        with store.read("ana") as r:
            first, turn = r.facts(ids=["f1"])[0], r.message("m1")
        with store.read("ana") as r:
            assert r.facts(subject="user", current_at=at(1))[0] is first
            assert r.messages(ids=["m1"])[0] is turn


def test_what_another_connection_changed_is_read_anew(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as store, opened(tmp_path / "data") as other:
        with store.write("ana") as w:
            row = say(w, "m1")
            w.add_fact(fact("f1"))
        with store.read("ana") as r:
            assert r.facts()[0].support_count == 1
            assert r.messages()[0].content == row.content
        with other.write("ana") as w:
            w.update_fact(replace(fact("f1"), support_count=2, source_message_ids=("m1", "m2")))
            w.update_message(replace(row, content="I play the horn."))
        with store.read("ana") as r:
            found = r.facts()[0]
            assert (found.support_count, found.source_message_ids) == (2, ("m1", "m2"))
            assert r.messages()[0].content == "I play the horn."


def test_changes_that_were_rolled_back_are_not_kept(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as store:
        with store.write("ana") as w:
            w.add_fact(fact("f1"))
        try:
            with store.write("ana") as w:
                w.update_fact(replace(fact("f1"), support_count=9))
                assert w.facts()[0].support_count == 9
                raise RuntimeError("undone")
        except RuntimeError:
            pass
        with store.read("ana") as r:
            assert r.facts()[0].support_count == 1


def test_whether_a_fact_holds_is_told_for_each_moment(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as store:
        with store.write("ana") as w:
            w.add_fact(fact("f1", expires_at=at(10)))
        with store.read("ana") as r:
            assert [f.is_current for f in r.facts(current_at=at(5))] == [True]
            assert r.facts(current_at=at(15)) == []
            assert [f.is_current for f in r.facts(past_at=at(15))] == [False]
            assert [f.is_current for f in r.facts(current_at=at(5))] == [True]


def test_what_has_a_dictionary_of_its_own_is_never_shared(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as store:
        with store.write("ana") as w:
            w.add_message(message("m1", metadata={"a": 1}))
            w.add_fact(fact("f1", metadata={"a": 1}))
            w.add_fact(fact("f2", "horn"))
        with store.read("ana") as r:
            assert r.message("m1") is not r.message("m1")
            assert r.fact("f1") is not r.fact("f1")
            mine = r.fact("f2")
            assert mine is not None
            mine.metadata["mine"] = True  # type: ignore[index]
            again = r.fact("f2")
            assert again is not None and not again.metadata


def test_nothing_of_a_user_stays_when_something_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as store, opened(tmp_path / "data") as other:
        for user in ("ana", "bo"):
            with store.write(user) as w:
                first, _ = say(w, "m1"), say(w, "m2")
                w.add_fact(fact("f1"))
            with store.read(user) as r:
                assert len(r.facts()) + len(r.messages()) == 3
        assert len(store.core.kept) == 6
        with store.write("ana") as w:
            w.delete_messages([first.item])
        assert len(store.core.kept) == 3
        with other.write("bo") as w:
            w.erase_user(now=T0)
        with store.read("bo") as r:
            assert r.facts() == [] and r.messages() == []
        assert len(store.core.kept) == 0


def test_no_more_is_kept_than_fits(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as store:
        object.__setattr__(store.core, "kept", Kept(most=3))
        for user in ("ana", "bo"):
            with store.write(user) as w:
                for n in range(5):
                    w.add_fact(fact(f"f{n}", f"thing {n}"))
            for _ in range(2):
                with store.read(user) as r:
                    assert [f.object for f in r.facts()] == [f"thing {n}" for n in range(5)]
                assert len(store.core.kept) == 3


def test_the_few_facts_of_a_subject_are_those_of_this_revision(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as store, opened(tmp_path / "data") as other:

        def named() -> list[str]:
            with store.read("ana") as r:
                return [f.id for f in r.facts(subject="assistant", current_at=at(1), newest_first=True, limit=3)]

        assert named() == []
        with store.write("ana") as w:
            w.add_fact(fact("f1"))
            assert w.facts(subject="assistant") == []
            w.add_fact(fact("a1", subject="assistant"))
            assert [f.id for f in w.facts(subject="assistant")] == ["a1"]
        assert named() == ["a1"]
        with other.write("ana") as w:
            w.update_fact(fact("f1", subject="assistant"))
        assert named() == ["a1", "f1"]
        with store.write("ana") as w:
            for n in range(FEW):
                w.add_fact(fact(f"n{n}", f"thing {n}", subject="assistant"))
        assert named() == [f"n{n}" for n in reversed(range(FEW - 3, FEW))]


def test_facts_that_wait_are_found_at_every_moment(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as store:
        with store.write("ana") as w:
            w.add_fact(fact("f1"))
            w.add_fact(fact("f2", "horn", valid_from=at(10)))
        with store.read("ana") as r:
            waiting = {t: [f.id for f in r.facts(waiting_at=at(t))] for t in (20, 5, 15, 9)}
        assert waiting == {20: [], 5: ["f2"], 15: [], 9: ["f2"]}
