"""A copy of a store is the store: content, ids, cursors, vectors, what was erased; whatever interrupts it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from ltm_core import (
    BusyError,
    ConflictError,
    CopyReport,
    ErasurePendingError,
    InvalidInputError,
    LongTermMemory,
    UnavailableError,
)
from ltm_core.cli import app
from ltm_core.keep.copying import Copying, plan
from ltm_core.store.sql.carrying import OF_A_USER, OF_THE_STORE, Carrier
from ltm_core.store.sql.tables import STORE_TABLES, USER_TABLES
from ltm_core.testing.clock import Clock
from ltm_core.testing.crash_work import USERS, Work
from ltm_core.testing.embedders import HashEmbedder

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


class NoEmbedder(HashEmbedder):
    """Nothing may be embedded any more."""

    def embed_documents(self, texts: Any) -> Any:
        raise AssertionError(f"{len(texts)} texts were embedded again")


def opened(place: Path, clock: Any = None, new_id: Callable[[], str] | None = None, **options: Any) -> LongTermMemory:
    given: dict[str, Any] = {"embedder": HashEmbedder(), "timezone": "UTC", "clock": clock or Clock(NOW), **options}
    if new_id is not None:
        given["new_id"] = new_id
    return LongTermMemory.open(place, **given)


def filled(place: Path) -> Path:
    """Three users, one of them erased, with words forgotten, a document, a slot, a setting and waiting work."""
    with opened(place) as memory:
        for user, town in (("ana", "Porto"), ("小林", "杭州"), ("a/b", "Oslo")):
            memory.observe(user_id=user, session_id="s", user=f"I live in {town}.", message_id="m1")
            memory.observe(user_id=user, session_id="s", user="I love oolong tea. My phone is 555-0100.")
            memory.put_document(("notes",), "k", {"text": f"about {town}"}, user_id=user)
            memory.set_slot("booking", {"n": 1}, user_id=user, session_id="s")
        memory.forget_matching("oolong", user_id="ana", dry_run=False)
        memory.forget_user("a/b")
        memory.pause("小林")
        memory.search("Where do I live?", user_id="ana")
        memory._runtime.store.operations().set_setting("floor:x", "1")
    return place


def export_of(place: Path, user: str, **options: Any) -> list[Any]:
    """Every line but the moment of the export."""
    with opened(place, read_only=True, **options) as memory:
        lines = [json.loads(line) for line in memory.export_user(user)]
    return [{k: v for k, v in line.items() if k != "exported_at"} for line in lines]


def feed_of(place: Path) -> list[Any]:
    with opened(place, read_only=True) as memory:
        return [(c.cursor, c.op, c.fact.id) for c in memory.changes()]


def copied(source: Path, target: Path, **options: Any) -> CopyReport:
    return LongTermMemory.copy(source, target, clock=Clock(NOW), **options)


# what a copy is ---------------------------------------------------------------------------------------
def test_every_table_goes_over_or_is_made_again() -> None:
    carried = {r.table for r in (*OF_A_USER, *OF_THE_STORE)}
    assert {*USER_TABLES, *STORE_TABLES} - carried == {"external_vectors", "outbox", "state"}


def test_a_copy_answers_like_the_store_and_remembers_what_was_erased(tmp_path: Path) -> None:
    source = filled(tmp_path / "a")
    done = copied(source, tmp_path / "b", reason="a larger disk")
    assert (done.users, done.carried, done.dropped, done.differences) == (2, 2, 0, ()) and done.rows > 50
    for user in ("ana", "小林", "a/b"):
        assert export_of(source, user) == export_of(tmp_path / "b", user)
    assert feed_of(source) == feed_of(tmp_path / "b") != []
    with opened(source, Clock(LATER)) as one, opened(tmp_path / "b", Clock(LATER)) as two:
        assert two.context("Where do I live?", user_id="ana").text.count("Porto")
        hits = [[(h.text, h.similarity) for h in m.search("my home", user_id="ana")] for m in (one, two)]
        assert hits[0] == hits[1] != []
        assert two.doctor().healthy and two.stats().users == 2
        (last,) = [e for e in two.audit() if e.action == "copy"]
        assert last.reason == "a larger disk" and last.counts["users"] == 2
        assert [e.action for e in one.audit()] == [e.action for e in two.audit()][:-1]
        # The erased user comes back neither by a replay nor by an import; a new statement is remembered.
        state = two.observe(user_id="a/b", session_id="s", user="I live in Oslo.", message_id="m1", at=NOW)
        assert [m.status for m in state.messages] == ["erased"]
        again = two.observe(user_id="ana", session_id="s", user="I love oolong tea. My phone is 555-0100.", at=NOW)
        assert "oolong" not in str([m.content for m in two.messages(user_id="ana")]), again
        assert two._runtime.store.operations().setting("floor:x") == "1"


def test_rows_go_over_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = copied(filled(tmp_path / "a"), tmp_path / "b")
    for size in (1, 2, 3):
        monkeypatch.setattr("ltm_core.store.sql.carrying._PAGE", size)
        done = copied(tmp_path / "a", tmp_path / f"c{size}")
        assert (done.rows, done.differences) == (whole.rows, ())
    assert export_of(tmp_path / "b", "ana") == export_of(tmp_path / "c1", "ana")


def test_nothing_is_embedded_again(tmp_path: Path) -> None:
    copied(filled(tmp_path / "a"), tmp_path / "b")
    with opened(tmp_path / "b", embedder=NoEmbedder()) as memory:
        memory.maintain()
        assert memory.search("Where do I live?", user_id="ana")


def test_numbers_are_not_given_again(tmp_path: Path) -> None:
    source = filled(tmp_path / "a")
    with opened(source) as memory:
        last = int(list(memory.changes())[-1].cursor)
        memory.forget_user("ana")
    copied(source, tmp_path / "b")
    with opened(tmp_path / "b") as memory:
        memory.observe(user_id="cy", session_id="s", user="I live in Bergen.")
        assert min(int(c.cursor) for c in memory.changes(user_id="cy")) > last


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_copy_of_a_copy_exports_the_same(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder = tmp_path_factory.mktemp("copies")
    (folder / "import.jsonl").write_text('{"type":"header","format":"ltm-core export","version":1,"exported_at":'
                                         '"2026-03-01T09:00:00+00:00"}\n{"type":"end","counts":{}}\n')  # fmt: skip
    work = Work(folder / "a", lambda p, c, i: opened(p, c, i), seed=seed, exported=folder / "import.jsonl")
    for n in range(60):
        work.perform(n)
    now = Clock(work._clock.now)
    work.memory.close()
    for source, target in (("a", "b"), ("b", "c")):
        assert LongTermMemory.copy(folder / source, folder / target, clock=now).differences == ()
    for user in USERS:
        assert export_of(folder / "a", user, clock=now) == export_of(folder / "c", user, clock=now)
    with opened(folder / "c", now, embedder=NoEmbedder()) as memory:
        assert memory.doctor().healthy


# again, and in between --------------------------------------------------------------------------------
def test_the_same_call_brings_what_changed_since(tmp_path: Path) -> None:
    source, target = filled(tmp_path / "a"), tmp_path / "b"
    copied(source, target)
    assert (copied(source, target).carried, copied(source, target).dropped) == (0, 0)
    with opened(source) as memory:
        memory.observe(user_id="ana", session_id="s", user="I moved to Braga.")
        memory.observe(user_id="dan", session_id="s", user="I live in Turku.")
        memory.forget_user("小林")
    done = copied(source, target)
    assert (done.users, done.carried, done.dropped, done.differences) == (2, 2, 2, ())
    for user in ("ana", "dan", "小林"):
        assert export_of(source, user) == export_of(target, user)
    assert feed_of(source) == feed_of(target)


def test_plan() -> None:
    made = plan({1: 5, 2: 7, 4: 1}, {1: 5, 2: 6, 3: 9})
    assert (made.drop, made.carry) == ((2, 3), (2, 4))
    assert plan({}, {}) == plan({1: 1}, {1: 1})


def test_who_writes_to_the_source_meanwhile_is_taken_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = filled(tmp_path / "a"), tmp_path / "b"
    real = Carrier.carry_user
    seen: list[int] = []

    def slow(self: Carrier, there: Any, here: Any, user_no: int) -> Any:
        digest = real(self, there, here, user_no)
        if not seen:
            seen.append(user_no)
            with opened(source, erase_wait_seconds=0.1) as memory:
                memory.observe(user_id="ana", session_id="s", user="I moved to Braga.")
                memory.observe(user_id="eve", session_id="s", user="I live in Vigo.")
                # The copy reads an older moment now: the bytes are gone a little later.
                with suppress(ErasurePendingError):
                    memory.forget_user("小林")
        return digest

    monkeypatch.setattr(Carrier, "carry_user", slow)
    assert copied(source, target).differences == ()
    for user in ("ana", "eve", "小林"):
        assert export_of(source, user) == export_of(target, user)


def test_a_killed_copy_goes_on_and_cannot_be_opened_before(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as memory:
        for i in range(12):
            memory.observe(user_id=f"u{i}", session_id="s", user=f"I live in Port{'abcdefghijkl'[i]}burg.")
        memory.forget_user("u3")
    source, target = tmp_path / "a", tmp_path / "b"
    code = (
        "import os, signal, sys; from ltm_core import LongTermMemory\n"
        "def progress(done, total):\n"
        "    if done >= int(sys.argv[3]): os.kill(os.getpid(), signal.SIGKILL)\n"
        "LongTermMemory.copy(sys.argv[1], sys.argv[2], progress=progress)"
    )
    for steps in (1, 4, 9):
        done = subprocess.run([sys.executable, "-c", code, str(source), str(target), str(steps)])
        assert done.returncode == -signal.SIGKILL
        with pytest.raises(UnavailableError, match="half a copy"):
            opened(target)
    report = copied(source, target)
    assert (report.users, report.carried, report.differences) == (11, 2, ())
    for i in range(12):
        assert export_of(source, f"u{i}") == export_of(target, f"u{i}")


def test_what_differs_is_named_and_carried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = filled(tmp_path / "a"), tmp_path / "b"
    real = Copying._differences

    def spoilt(self: Copying, store: str) -> tuple[str, ...]:
        with self._target.connection(write=True) as conn:
            conn.execute("UPDATE vectors SET vector = zeroblob(length(vector)) WHERE id >> 32 = 1")
            conn.execute("DELETE FROM tombstones")
        return real(self, store)

    with monkeypatch.context() as patch:
        patch.setattr(Copying, "_differences", spoilt)
        assert copied(source, target).differences == ("", "ana")
    with pytest.raises(UnavailableError, match="half a copy"):
        opened(target)
    done = copied(source, target)
    assert (done.carried, done.differences) == (1, ())
    assert export_of(source, "ana") == export_of(target, "ana")


# where it may go --------------------------------------------------------------------------------------
def test_a_store_of_its_own_is_left_alone(tmp_path: Path) -> None:
    source, target = filled(tmp_path / "a"), tmp_path / "b"
    with opened(tmp_path / "own") as memory:
        memory.observe(user_id="zoe", session_id="s", user="I live in Graz.")
    with pytest.raises(ConflictError, match="another key"):
        copied(source, tmp_path / "own")
    with opened(source) as memory:
        memory.backup(tmp_path / "backup")
    for place in (tmp_path / "backup", source):
        with pytest.raises(ConflictError, match="no copy brought there"):
            copied(source, place)
    copied(source, target)
    with opened(target) as memory:
        memory.observe(user_id="ana", session_id="s", user="I moved to Braga.")
    before = export_of(target, "ana")
    with pytest.raises(ConflictError, match="was used"):
        copied(source, target)
    assert export_of(target, "ana") == before
    with pytest.raises(UnavailableError):
        copied(tmp_path / "nothing", tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_two_copies_at_once_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = filled(tmp_path / "a"), tmp_path / "b"
    real = Copying._run

    def nested(self: Copying, now: Any) -> Any:
        monkeypatch.setattr(Copying, "_run", real)
        with pytest.raises(BusyError):
            copied(source, target)
        return real(self, now)

    monkeypatch.setattr(Copying, "_run", nested)
    assert copied(source, target).differences == ()


def test_an_encrypted_store_stays_encrypted(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    key = b"k" * 32
    with opened(tmp_path / "a", key_provider=key) as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
        memory.observe(user_id="ben", session_id="s", user="I live in Oslo.")
        memory.forget_user("ben")
    assert copied(tmp_path / "a", tmp_path / "b", key_provider=key).differences == ()
    assert b"Porto" not in b"".join(p.read_bytes() for p in (tmp_path / "b").rglob("*") if p.is_file())
    assert export_of(tmp_path / "a", "ana", key_provider=key) == export_of(tmp_path / "b", "ana", key_provider=key)
    with opened(tmp_path / "b", key_provider=key) as memory:
        assert memory.forget_user("ana").bytes_clean
    with opened(tmp_path / "a", Clock(LATER), key_provider=key) as memory:
        assert [f.object for f in memory.facts(user_id="ana")] == ["Porto"], "each has its own copy of the key"


def test_files_of_old_turns_come_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("fsspec")
    monkeypatch.setattr("ltm_core.keep.archive.move.FEWEST", 1)
    clock = Clock(NOW - timedelta(days=800))
    old: dict[str, Any] = {"cold_after_days": 365}
    with opened(tmp_path / "a", clock, **old) as memory:
        for n, thing in enumerate(("quagga", "zeppelin", "theremin")):
            memory.observe(user_id="ana", session_id=f"s{n}", user=f"Ben and I talked about the {thing} exhibition.")
        clock.now = NOW
        assert memory.maintain().cold == 3
    done = copied(tmp_path / "a", tmp_path / "b")
    assert (done.cold_files, done.cold_files_left, done.differences) == (1, 0, ())
    with opened(tmp_path / "b", **old) as memory:
        assert memory.doctor().healthy
        assert "zeppelin" in memory.search("zeppelin exhibition", user_id="ana", include_cold=True)[0].text
        memory.forget_user("ana")
    assert not list((tmp_path / "b").rglob("*.parquet")) and list((tmp_path / "a").rglob("*.parquet"))
    far = copied(tmp_path / "a", tmp_path / "c", target_archive=str(tmp_path / "elsewhere"))
    assert far.cold_files == 1 and list((tmp_path / "elsewhere").rglob("*.parquet"))
    with opened(tmp_path / "c", archive_url=str(tmp_path / "elsewhere"), **old) as memory:
        assert memory.doctor().healthy and memory.restore_archive("ana") == 3
    monkeypatch.setattr("ltm_core.keep.copy_files.CopiedFiles.carry", lambda self, user_id: None)
    assert copied(tmp_path / "a", tmp_path / "d").differences == ("ana",)


# from the command line --------------------------------------------------------------------------------
def test_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = str(filled(tmp_path / "a")), str(tmp_path / "b")
    done = CliRunner().invoke(app, ["copy", source, target, "--actor", "desk"])
    assert done.exit_code == 0, done.output
    assert "2 users" in done.output and "is the same" in done.output
    told = json.loads(CliRunner().invoke(app, ["copy", source, target, "--json"]).output)
    assert (told["users"], told["carried"], told["differences"]) == (2, 0, [])
    with opened(tmp_path / "b") as memory:
        memory.observe(user_id="ana", session_id="s", user="I moved to Braga.")
    refused = CliRunner().invoke(app, ["copy", source, target])
    assert refused.exit_code == 2 and "was used" in refused.output
    monkeypatch.setattr(Copying, "_differences", lambda self, store: ("ana",))
    assert CliRunner().invoke(app, ["copy", source, str(tmp_path / "c")]).exit_code == 1


async def _twin(source: Path, target: Path) -> CopyReport:
    return await LongTermMemory.acopy(source, target)


def test_the_twin_does_the_same(tmp_path: Path) -> None:
    import asyncio

    assert asyncio.run(_twin(filled(tmp_path / "a"), tmp_path / "b")).differences == ()
    with pytest.raises(InvalidInputError):
        LongTermMemory.copy(tmp_path / "a", tmp_path / "b", reason="x" * 10_000)
