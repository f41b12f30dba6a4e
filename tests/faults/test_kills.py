"""Writers that are killed: what was acknowledged is there, nothing is there by half, and nothing stays behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.testing.crash import CrashRun
from ltm_core.testing.dying import die_at
from ltm_core.testing.embedders import HashEmbedder

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are killed as POSIX kills")
KILLS = 220


def test_a_few_kills(tmp_path: Path) -> None:
    run = CrashRun(tmp_path, seed=7)
    while run.kills < 5:
        run.round()
    run.finish()
    assert run.kills == 5


@pytest.mark.faults
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(2))
def test_hundreds_of_kills(tmp_path: Path, seed: int) -> None:
    run = CrashRun(tmp_path, seed=seed)
    while run.kills < KILLS:
        run.round()
    run.finish()
    print(f"{run.kills} kills, {run.next} steps, {dict(run.outcomes)}")
    # Whether a death falls between two transactions of one import is chance; `part` counts those.
    assert run.outcomes["before"] and run.outcomes["after"]


SECRET, NOTED = "Zqkestrelport", "zqoleander"


def erase_and_die(place: Path, how: str) -> None:
    """In a process of its own, which dies when the erasure is committed and the bytes are not yet overwritten."""
    with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user=f"I live in {SECRET}.", message_id="m")
        memory.put_document(("notes",), "k", {"text": NOTED}, user_id="ana")
    die_at("PRAGMA wal_checkpoint")
    memory = LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC")
    if how == "user":
        memory.forget_user("ana")
    elif how == "fact":
        memory.forget(memory.facts(user_id="ana").items[0].id, user_id="ana")
    elif how == "asked":
        memory.observe(user_id="ana", session_id="s", user=f"Please forget that I live in {SECRET}.")
    elif how == "messages":
        memory.delete_messages(["m"], user_id="ana", session_id="s")
    elif how == "document":
        memory.delete_document(("notes",), "k", user_id="ana")


@pytest.mark.parametrize("how", ["user", "fact", "asked", "messages", "document"])
def test_an_erasure_whose_process_died_is_finished_by_maintain(tmp_path: Path, how: str) -> None:
    place = tmp_path / "data"
    child = multiprocessing.get_context("forkserver").Process(target=erase_and_die, args=(place, how))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC") as memory:
        # Somebody keeps the store open, so no last one to close it empties the log.
        assert memory.stats().jobs == 1
        assert memory.maintain().jobs_done == 1 and memory.stats().jobs == 0
        data = b"".join(p.read_bytes() for p in place.rglob("*") if p.is_file()).lower()
        gone = {"user": (SECRET, NOTED), "document": (NOTED,)}.get(how, (SECRET,))
        assert not [word for word in gone if word.lower().encode() in data]


def test_what_a_moved_row_left_in_its_page_is_gone(tmp_path: Path) -> None:
    """A fact that grew was moved inside its page, and the engine kept a copy between the rows."""
    work = CrashRun(tmp_path, seed=51)._twin
    with work.memory:
        for n in range(31):
            work.perform(n)  # ErasurePendingError where a copy stays
        assert work.memory.doctor().healthy
