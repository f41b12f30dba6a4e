"""The process that is killed: it does the steps of a `Work` and says of each one that it is done.

Importing it loads what a first write loads, so that a server of forks that preloads it starts writers at once.
"""

from __future__ import annotations

import traceback
from multiprocessing.connection import Connection
from pathlib import Path

from ltm_core.memory import LongTermMemory
from ltm_core.testing.crash_work import Opener, Work
from ltm_core.testing.dying import die_after
from ltm_core.testing.embedders import HashEmbedder


def write(
    place: Path, opened: Opener, seed: int, exported: Path, first: int, last: int, pipe: Connection, steps: int
) -> None:
    """Steps ``first`` to ``last`` of the work; each number is sent when its call has returned. With ``steps`` the
    process dies at that step of the store (see `die_after`)."""
    try:
        if steps:
            die_after(steps)
        work = Work(place, opened, seed=seed, exported=exported)
        pipe.send(("open", first))
        for n in range(first, last):
            work.perform(n)
            pipe.send(("done", n))
        work.memory.close()
    except BaseException:
        pipe.send(("error", traceback.format_exc()))
        raise


def _warm() -> None:
    with LongTermMemory.open(":memory:", embedder=HashEmbedder(), timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="s", user="I live in Porto. 我住在上海。")
        memory.context("Where do I live?", user_id="u")
        memory.forget_user("u")


_warm()

__all__ = ["write"]
