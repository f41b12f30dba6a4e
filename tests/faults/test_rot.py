"""Files that rot: the damage is named or found, never an error of somebody else, never words that nobody said."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory
from ltm_core.errors import CorruptError, LTMError
from ltm_core.store.sqlite.files import DATABASE
from ltm_core.testing.crash import opened
from ltm_core.testing.crash_work import USERS, Work, content
from ltm_core.testing.damage import flip_byte, spoil_page
from ltm_core.testing.embedders import HashEmbedder

PAGE = 4096


def open_at(place: Path) -> LongTermMemory:
    return LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store after some mixed work."""
    folder = tmp_path_factory.mktemp("rot")
    (folder / "import.jsonl").write_text("", "utf-8")
    work = Work(folder / "whole", opened, seed=5, exported=folder / "import.jsonl")
    for n in range(60):
        if work.step(n).kind not in ("import", "roll_back", "forget_user"):
            work.perform(n)
    work.memory.close()
    return folder / "whole"


def told(place: Path) -> tuple[bool, Any]:
    """(whether the store says that it is healthy, what it holds). Of an open one doctor reports and never raises."""
    with open_at(place) as memory:
        try:
            healthy = memory.doctor().healthy
        except CorruptError as e:
            raise AssertionError(f"doctor raised {e!r}") from e
        for user in USERS:
            memory.context("Where do I live? 我住在哪里？", user_id=user)
            memory.search("tea", user_id=user)
        return healthy, {user: content(memory, user) for user in USERS}


def rotten_pages(whole: Path, tmp_path: Path, pages: list[int]) -> int:
    """Each page alone is spoilt: how many of the damages were found."""
    expected = told(shutil.copytree(whole, tmp_path / "expected"))
    assert expected[0]
    found = 0
    for page in pages:
        place = shutil.copytree(whole, tmp_path / f"page{page}")
        spoil_page(place / DATABASE, page)
        try:
            seen = told(place)
        except LTMError as e:
            assert isinstance(e, CorruptError), f"page {page}: {e!r}"
            found += 1
        else:
            # A page that nothing uses may hold anything.
            assert not seen[0] or seen == expected, f"page {page} is spoilt and nobody noticed"
            found += not seen[0]
        shutil.rmtree(place)
    return found


def test_a_spoilt_page_is_found(whole: Path, tmp_path: Path) -> None:
    pages = (whole / DATABASE).stat().st_size // PAGE
    assert rotten_pages(whole, tmp_path, [0, *random.Random(1).sample(range(1, pages), 15)]) > 10


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_every_spoilt_page_is_found(whole: Path, tmp_path: Path) -> None:
    pages = (whole / DATABASE).stat().st_size // PAGE
    print(f"{rotten_pages(whole, tmp_path, list(range(pages)))} of {pages} spoilt pages were found")


def flips(whole: Path, tmp_path: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    size = (whole / DATABASE).stat().st_size
    for i in range(count):
        place = shutil.copytree(whole, tmp_path / f"flip{i}")
        at, mask = chance.randrange(size), 1 << chance.randrange(8)
        flip_byte(place / DATABASE, at, mask)
        try:
            told(place)
        except CorruptError as e:
            assert "Rex" not in str(e) and "kestrel" not in str(e)
        except Exception as e:
            raise AssertionError(f"byte {at}, mask {mask}: {e!r}") from e
        shutil.rmtree(place)


def test_a_flipped_bit_raises_nothing_of_somebody_else(whole: Path, tmp_path: Path) -> None:
    flips(whole, tmp_path, 15, 1)


@pytest.mark.faults
@pytest.mark.timeout(900)
def test_hundreds_of_flipped_bits(whole: Path, tmp_path: Path) -> None:
    flips(whole, tmp_path, 600, 2)


def test_a_log_that_was_cut_anywhere_gives_a_state_that_was(tmp_path: Path) -> None:
    """What a power cut may leave of the log: its beginning, and noise after it."""
    place = tmp_path / "data"
    (tmp_path / "import.jsonl").write_text("", "utf-8")
    work = Work(place, opened, seed=9, exported=tmp_path / "import.jsonl")
    work.perform(0)
    log = place / f"{DATABASE}-wal"
    states = [{u: content(work.memory, u) for u in USERS}]
    for n in range(1, 14):
        if work.step(n).kind in ("say", "move", "remember", "status", "correct", "slot", "edit"):
            work.perform(n)
            states.append({u: content(work.memory, u) for u in USERS})
    taken = shutil.copytree(place, tmp_path / "taken")
    work.memory.close()
    length = (taken / log.name).stat().st_size
    assert length > 20 * PAGE
    chance = random.Random(4)
    seen = []
    for i in range(16):
        cut = shutil.copytree(taken, tmp_path / f"cut{i}")
        (cut / f"{DATABASE}-shm").unlink(missing_ok=True)
        with (cut / log.name).open("r+b") as file:
            file.truncate(length * i // 15 if i else 0)
            if i % 2:
                file.seek(0, 2)
                file.write(chance.randbytes(9000))
        healthy, held = told(cut) if (cut / log.name).stat().st_size else (True, None)
        if held is not None:
            assert healthy and held in [*states, {u: content_of_nothing() for u in USERS}]
            seen.append(states.index(held) if held in states else -1)
    assert seen == sorted(seen) and seen[-1] == len(states) - 1


def content_of_nothing() -> dict[str, list[object]]:
    return {"messages": [], "facts": [], "window": [], "documents": []}
