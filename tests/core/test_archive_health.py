"""Files of the archive against what the store says of them: told by doctor, held by backups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("fsspec")

from ltm_core import LongTermMemory
from ltm_core.keep.archive import move
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
    place, folder = memory._runtime.archive, memory._runtime.store.mac("ana")
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
    real = move.staged

    def staged(*arguments: Any) -> Any:
        made = real(*arguments)
        seen.append((len(parquet(tmp_path / "store")), memory.doctor(repair=True).problems))
        return made

    monkeypatch.setattr(move, "staged", staged)
    fill(memory, clock)
    assert seen == [(1, ()), (2, ())]
