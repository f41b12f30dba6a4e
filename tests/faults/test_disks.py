"""Disks that are full or read-only: an error with a name, nothing by half, and all is well when there is room."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.errors import StoreError, UnavailableError
from ltm_core.store.sqlite.files import DATABASE
from ltm_core.testing.crash import opened
from ltm_core.testing.crash_work import IN_PIECES, USERS, Work, content
from ltm_core.testing.damage import files_limited, pages_limited, small_disk, without_rights
from ltm_core.testing.embedders import HashEmbedder

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="limits and rights as POSIX has them")
STEPS = 40


def sized(place: Path) -> int:
    return (place / DATABASE).stat().st_size


@contextmanager
def few_pages(place: Path) -> Iterator[None]:
    with pages_limited(sized(place) // 4096 + 12):
        yield


@contextmanager
def short_files(place: Path) -> Iterator[None]:
    with files_limited(sized(place) + 60_000):
        yield


FULL = {"no page left": few_pages, "no longer file": short_files}


@pytest.mark.parametrize("full", FULL.values(), ids=FULL)
def test_a_full_disk_refuses_whole_calls(
    tmp_path: Path, full: Callable[[Path], AbstractContextManager[None]]
) -> None:
    exported = tmp_path / "import.jsonl"
    with LongTermMemory.open(":memory:", embedder=HashEmbedder(), timezone="UTC") as source:
        for i in range(30):
            source.observe(user_id="x", session_id="old", user=f"My dog Rex{i} barks.", message_id=f"old{i}")
        exported.write_text("\n".join(source.export_user("x")), "utf-8")
    works = [Work(tmp_path / name, opened, seed=3, exported=exported) for name in ("data", "twin")]
    work, twin = works
    n = 0
    for n in range(STEPS):
        for w in works:
            w.perform(n)
    work.memory.close()
    seen: list[tuple[int, bool, dict[str, object]]] = []
    refused = 0
    with full(tmp_path / "data"):
        work.memory = opened(tmp_path / "data", work._clock, work._ids)
        while refused < 6 and n < 4 * STEPS:
            n += 1
            if work.step(n).kind == "roll_back":  # opens other connections, of which each has its own limit
                continue
            before = held(work.memory)
            try:
                work.perform(n)
                seen.append((n, True, held(work.memory)))
            except StoreError as e:
                assert isinstance(e, UnavailableError), e
                refused += 1
                # Reading goes on.
                seen.append((n, False, held(work.memory)))
                if work.step(n).kind in IN_PIECES and seen[-1][2] != before:
                    break
        work.memory.close()
    assert refused
    for n, done, found in seen:
        if done or found != held(twin.memory):
            twin.perform(n)
            assert found == held(twin.memory) or twin.step(n).kind in IN_PIECES, f"half of {twin.step(n)}"
    with opened(tmp_path / "data", work._clock, work._ids) as memory:
        memory.maintain()
        assert memory.doctor().healthy
        assert memory.observe(user_id="ana", session_id="new", user="I live in Porto.").changes
    twin.memory.close()


def held(memory: LongTermMemory) -> dict[str, object]:
    return {user: content(memory, user) for user in USERS}


def test_a_disk_without_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 3 * 2**20) as mounted:
        if not mounted:
            pytest.skip("no file system may be mounted here")
        place = tmp_path / "disk" / "data"
        said = 0
        with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC") as memory:
            with pytest.raises(UnavailableError, match="full"):
                for said in range(10_000):
                    memory.observe(user_id="ana", session_id="s", user=f"I live in Town{said}. " + "Noted. " * 99)
            assert len(list(memory.messages(user_id="ana"))) == said
            with pytest.raises(UnavailableError):
                memory.observe(user_id="ana", session_id="s", user="I live in Nowhere. " * 99)
            assert [f.object for f in memory.facts(user_id="ana", relation="lives_in")] == [f"Town{said - 1}"]
        (tmp_path / "disk" / "ballast").write_bytes(b"")
        with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC") as memory:
            assert len(list(memory.messages(user_id="ana"))) == said
            assert memory.doctor().healthy


def test_a_place_that_may_only_be_read(tmp_path: Path) -> None:
    place = tmp_path / "data"

    def remembers(*, read_only: bool) -> None:
        with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC", read_only=read_only) as memory:
            assert [f.object for f in memory.facts(user_id="ana")] == ["Porto"]
            assert "Porto" in memory.context("Where do I live?", user_id="ana").text
            assert memory.doctor().healthy

    with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    remembers(read_only=False)
    before = {p.name: p.read_bytes() for p in place.iterdir()}
    with without_rights(place):
        with pytest.raises(UnavailableError, match="not writable; open it with read_only=True"):
            LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC")
        # The key is its owner's alone; here everyone may read it.
        remembers(read_only=True)
    assert {p.name: p.read_bytes() for p in place.iterdir()} == before
    with without_rights(place / DATABASE), pytest.raises(UnavailableError):
        LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC").observe(
            user_id="ana", session_id="s", user="I live in Lagos."
        )
    remembers(read_only=False)
