"""Files of the archive against what the store says of them: told by doctor, held by backups."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("fsspec")

from ltm_core import Config, ConfigError, LongTermMemory, UnavailableError
from ltm_core.keep.archive import files as cold_files
from ltm_core.keep.archive import move
from ltm_core.keep.archive.carry import Carried
from ltm_core.keep.archive.place import place_of
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder

START = datetime(2024, 1, 8, 9, tzinfo=UTC)
Opening = Callable[..., LongTermMemory]
THINGS = ("quagga", "zeppelin", "theremin")


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def opened(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opening]:
    monkeypatch.setattr(move, "FEWEST", 1)
    memories: list[LongTermMemory] = []

    def open_it(name: str = "store", **options: Any) -> LongTermMemory:
        values = {"timezone": "UTC", "cold_after_days": 365, **options}
        memories.append(LongTermMemory.open(tmp_path / name, embedder=HashEmbedder(), clock=clock, **values))
        return memories[-1]

    yield open_it
    for memory in memories:
        memory.close()


def fill(memory: LongTermMemory, clock: Clock) -> None:
    """Small talk of two users, a year old, in files."""
    for user in ("ana", "ben"):
        for n, thing in enumerate(THINGS):
            text = f"{user.title()} and I talked about the {thing} exhibition."
            memory.observe(user_id=user, session_id=f"s{n}", user=text, message_id=f"m{n}")
    clock.now += timedelta(days=400)
    memory.observe(user_id="ana", session_id="new", user="We saw a heron at the lake.")
    assert memory.maintain().cold == 6
    clock.now += timedelta(seconds=901)
    memory.maintain()


@pytest.fixture
def memory(opened: Opening, clock: Clock) -> LongTermMemory:
    made = opened()
    fill(made, clock)
    return made


def parquet(folder: Path) -> list[Path]:
    return sorted((folder / "archive").rglob("*.parquet"))


def kinds(memory: LongTermMemory, **options: Any) -> list[tuple[str, str | None, int]]:
    return [(p.kind, p.user_id, p.count) for p in memory.doctor(**options).problems]


def test_a_file_that_is_gone_or_damaged_or_holds_others_is_told_and_not_mended(
    memory: LongTermMemory, tmp_path: Path
) -> None:
    assert memory.doctor().healthy
    mine, other = parquet(tmp_path / "store")
    data = mine.read_bytes()
    owner = "ana" if mine.parent.name == memory._runtime.store.mac("ana") else "ben"
    told = [("archive", owner, 3)]
    mine.write_bytes(data[:-1])
    assert kinds(memory) == told and kinds(memory, repair=True) == told
    mine.write_bytes(other.read_bytes())
    assert kinds(memory, user_id=owner) == told
    mine.unlink()
    assert kinds(memory, repair=True) == told
    assert "zeppelin" not in repr(memory.doctor())
    mine.write_bytes(data)
    assert memory.doctor().healthy
    with memory._runtime.store.connection(write=True) as conn:  # type: ignore[attr-defined]
        conn.execute("DELETE FROM cold_turns WHERE id = (SELECT min(id) FROM cold_turns WHERE user_no = 1)")
    (problem,) = memory.doctor().problems
    assert problem.kind == "archive" and "holds 3 turns, the store knows 2" in problem.detail


@pytest.mark.parametrize("url", ["", "memory://stray-test"])
def test_files_that_nothing_names_go_after_a_while(opened: Opening, clock: Clock, tmp_path: Path, url: str) -> None:
    import fsspec

    memory = opened(archive_url=url)
    fill(memory, clock)
    place, folder = place_of(memory._runtime), memory._runtime.store.mac("ana")
    before = place.files()
    assert len(before) == 2 and memory.doctor().healthy
    place.write(folder, "left.parquet", b"x")
    place.write("f" * 32, "left.parquet", b"x")
    # At a place of its own the second may be another store's.
    ours = 1 if url else 2
    assert sum(n for kind, _, n in kinds(memory) if kind == "stray") == ours
    report = memory.doctor(repair=True)
    assert report.healthy and report.repaired == ours and memory.doctor().healthy
    memory.maintain()
    assert len(place.files()) == 4
    clock.now += timedelta(seconds=901)
    memory.maintain()
    assert place.files() == (before | {("f" * 32, "left.parquet")} if url else before)
    if url:
        fsspec.filesystem("memory").rm("/stray-test", recursive=True)


def test_a_file_on_its_way_is_no_stray(
    opened: Opening, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened()
    seen: list[Any] = []
    real = cold_files.staged

    def staged(*arguments: Any) -> Any:
        made = real(*arguments)
        seen.append((len(parquet(tmp_path / "store")), memory.doctor(repair=True).problems))
        return made

    monkeypatch.setattr(move, "staged", staged)
    fill(memory, clock)
    assert seen == [(1, ()), (2, ())]


def told(memory: LongTermMemory, user: str = "ana") -> list[str]:
    """What turns of the user say, in the store and in files."""
    lines = [json.loads(x) for x in memory.export_user(user)]
    return [x["content"] for x in lines if x["type"] == "message"]


def restored(backup: Path, target: Path, clock: Clock, **options: Any) -> Any:
    config = Config(timezone="UTC", cold_after_days=365, **options.pop("settings", {}))
    return LongTermMemory.restore_backup(backup, target, config=config, clock=clock, **options)


def test_a_backup_holds_the_files(memory: LongTermMemory, opened: Opening, clock: Clock, tmp_path: Path) -> None:
    report = memory.backup(tmp_path / "copies" / "one")
    assert (report.cold_files, report.cold_files_left) == (2, 0)
    restored(tmp_path / "copies" / "one", tmp_path / "new", clock)
    again = opened("new")
    assert told(again) == told(memory) and again.doctor().healthy
    parquet(tmp_path / "store")[0].unlink()
    report = memory.backup(tmp_path / "copies" / "two")
    assert (report.cold_files, report.cold_files_left) == (1, 1)


FORGET: dict[str, Callable[[LongTermMemory], Any]] = {
    "a phrase": lambda m: m.forget_matching("zeppelin", user_id="ana", dry_run=False),
    "a turn": lambda m: m.forget("m1", user_id="ana"),
    "a session": lambda m: m.forget_session("s1", user_id="ana"),
    "deleted": lambda m: m.delete_messages(["m1"], user_id="ana", session_id="s1"),
    "the user": lambda m: m.forget_user("ana"),
}


@pytest.mark.parametrize("onto", ["the store", "nothing"])
@pytest.mark.parametrize("how", FORGET)
def test_a_restore_brings_back_nothing_that_was_erased_in_files(
    memory: LongTermMemory, opened: Opening, clock: Clock, tmp_path: Path, how: str, onto: str
) -> None:
    memory.backup(tmp_path / "copies" / "one")
    FORGET[how](memory)
    left = told(memory)
    assert not any("zeppelin" in t for t in left)
    memory.close()
    name = "store" if onto == "the store" else "new"
    restored(tmp_path / "copies" / "one", tmp_path / name, clock)
    again = opened(name)
    again.maintain()
    if onto == "the store":
        assert told(again) == left
    else:  # nobody knows any more which words of the turn were left
        assert [t for t in told(again) if "█" not in t] == [t for t in left if "█" not in t]
    assert len(told(again, "ben")) == 3 and any("zeppelin" in t for t in told(again, "ben"))
    assert again.doctor().healthy and len(parquet(tmp_path / name)) == (1 if how == "the user" else 2)
    assert b"Ana and I talked about the zeppelin" not in b"".join(
        p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()
    )


def test_files_made_after_the_backup_go_and_files_given_up_since_come_back(
    opened: Opening, clock: Clock, tmp_path: Path
) -> None:
    memory = opened()
    memory.observe(user_id="ana", session_id="s", user="Ana and I talked about the lute exhibition.")
    clock.now += timedelta(days=400)
    memory.observe(user_id="ana", session_id="new", user="We saw a heron at the lake.")
    memory.backup(tmp_path / "copies" / "before")
    assert memory.maintain().cold == 1
    memory.backup(tmp_path / "copies" / "after")
    everything = sorted(told(memory))
    assert memory.restore_archive("ana") == 1
    memory.close()
    restored(tmp_path / "copies" / "after", tmp_path / "store", clock)
    with opened() as again:
        assert sorted(told(again)) == everything and len(parquet(tmp_path / "store")) == 1
        assert again.doctor().healthy
    restored(tmp_path / "copies" / "before", tmp_path / "store", clock)
    with opened(cold_after_days=0) as again:
        assert sorted(told(again)) == everything and again.doctor().healthy
        again.maintain()
        assert not parquet(tmp_path / "store")


def test_files_at_a_url_of_their_own_are_named_and_not_copied(opened: Opening, clock: Clock, tmp_path: Path) -> None:
    import fsspec

    url = {"archive_url": "memory://backup-test"}
    memory = opened(**url)
    fill(memory, clock)
    report = memory.backup(tmp_path / "copies" / "one")
    assert (report.cold_files, report.cold_files_left) == (0, 2)
    memory.forget("m1", user_id="ana")
    left = told(memory)
    memory.close()
    restored(tmp_path / "copies" / "one", tmp_path / "store", clock, settings=url)
    again = opened(**url)
    again.maintain()
    assert told(again) == left and len(left) == 3 and again.doctor().healthy
    assert len(fsspec.filesystem("memory").find("/backup-test")) == 2
    fsspec.filesystem("memory").rm("/backup-test", recursive=True)


def test_an_encrypted_store_is_backed_up_with_its_files(opened: Opening, clock: Clock, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    key = {"key_provider": b"k" * 32}
    memory = opened(**key)
    fill(memory, clock)
    memory.backup(tmp_path / "copies" / "one")
    memory.forget_user("ben")
    memory.forget_matching("zeppelin", user_id="ana", dry_run=False)
    left = told(memory)
    memory.close()
    for name in ("store", "new"):
        restored(tmp_path / "copies" / "one", tmp_path / name, clock, **key)
        with opened(name, **key) as again:
            again.maintain()
            assert [t for t in told(again) if "█" not in t] == [t for t in left if "█" not in t]
            assert not told(again, "ben") and again.doctor().healthy
            assert len(parquet(tmp_path / name)) == 1


def test_plain_files_are_not_taken_into_an_encrypted_store(
    memory: LongTermMemory, clock: Clock, tmp_path: Path
) -> None:
    pytest.importorskip("cryptography")
    memory.backup(tmp_path / "copies" / "one")
    with pytest.raises(ConfigError, match="restore_archive"):
        restored(tmp_path / "copies" / "one", tmp_path / "new", clock, key_provider=b"k" * 32)
    assert not (tmp_path / "new").exists()


def test_a_file_that_nobody_can_read_is_given_up_only_where_something_was_erased(
    memory: LongTermMemory, opened: Opening, clock: Clock, tmp_path: Path
) -> None:
    memory.backup(tmp_path / "copies" / "one")
    memory.forget("m1", user_id="ana")
    memory.close()
    for path in parquet(tmp_path / "copies" / "one"):
        path.unlink()
    done = restored(tmp_path / "copies" / "one", tmp_path / "new", clock)
    assert done.counts["messages_lost"] == 3
    again = opened("new")
    assert told(again) == ["We saw a heron at the lake."]
    assert kinds(again) == [("archive", "ben", 3)]


@pytest.mark.parametrize("at", ["settle", "publish"])
def test_a_restore_that_fails_leaves_the_files_of_the_store_as_they_were(
    memory: LongTermMemory, opened: Opening, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    memory.backup(tmp_path / "copies" / "one")
    memory.forget_matching("zeppelin", user_id="ana", dry_run=False)
    before, left = parquet(tmp_path / "store"), told(memory)
    memory.close()
    real = getattr(Carried, at)

    def fail(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        raise UnavailableError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Carried, at, fail)
        with pytest.raises(UnavailableError, match="full"):
            restored(tmp_path / "copies" / "one", tmp_path / "store", clock)
    again = opened()
    assert told(again) == left and set(before) <= set(parquet(tmp_path / "store"))
    assert again.doctor(repair=True).healthy
    clock.now += timedelta(seconds=901)
    again.maintain()
    assert parquet(tmp_path / "store") == before and again.doctor().healthy
