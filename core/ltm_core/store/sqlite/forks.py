"""Forking with an open store: connections are closed before, and each side opens its own after.

SQLite keeps one table of locks per process and believes a child that it holds what the parent held. So no
connection may cross a fork: the fork waits until those at work have come back and closes them all. Where one is
still at work (the forking thread is inside a block, or the wait ran out), the parent goes on undisturbed and the
child refuses this database.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Protocol

WAIT_SECONDS = 5.0
"""How long a fork waits for the reads and writes of other threads."""


class Forkable(Protocol):
    """A pool of connections."""

    database: Path

    def before_fork(self, wait: float) -> bool: ...
    def after_fork(self, *, child: bool) -> None: ...


_pools: weakref.WeakSet[Forkable] = weakref.WeakSet()
_waiting: list[tuple[Forkable, bool]] = []
_refused: set[str] = set()


def register(pool: Forkable) -> None:
    """The pool hears of every fork of this process as long as it lives."""
    _pools.add(pool)


def crossed(database: Path) -> bool:
    """Whether a connection to this database crossed the fork that made this process."""
    return str(database) in _refused


def _before() -> None:
    _waiting[:] = [(pool, pool.before_fork(WAIT_SECONDS)) for pool in list(_pools)]


def _after_in_parent() -> None:
    for pool, _ in _waiting:
        pool.after_fork(child=False)
    _waiting.clear()


def _after_in_child() -> None:
    for pool, clean in _waiting:
        if not clean:
            _refused.add(str(pool.database))
        pool.after_fork(child=True)
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
