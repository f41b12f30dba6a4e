"""A process that dies at a chosen point of its own work, as by the power switch: no handler, no clean-up.

A kill from outside falls where the process spends its time, so it rarely falls between two quick steps. This one
counts steps: the beginning and the end of every SQL statement of every `sqlite3` connection (so also the moment when
a commit is done and nobody knows yet), and every file that is opened, renamed, linked, cut or removed.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from typing import Any

_FILE_EVENTS = frozenset(
    {"open", "os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "os.truncate", "fcntl.flock"}
)


def die_at(statement: str) -> None:
    """SIGKILL to this process where the next SQL statement that begins so would begin. Cannot be taken back."""

    def step(sql: str) -> None:
        if sql.startswith(statement):
            os.kill(os.getpid(), signal.SIGKILL)

    _watch(step, lambda sql: None)


def die_after(steps: int) -> None:
    """SIGKILL to this process at the ``steps``-th step from now. Cannot be taken back."""
    left = steps

    def step(_: object) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(event: str, _: tuple[Any, ...]) -> None:
        if event in _FILE_EVENTS:
            step(event)

    _watch(step, step)
    sys.addaudithook(heard)


def _watch(before: Callable[[str], None], after: Callable[[str], None]) -> None:
    """Every statement of connections that are opened from now on is told before it runs and when it is done."""

    class Watched(sqlite3.Connection):
        def execute(self, sql: str, /, *values: Any) -> sqlite3.Cursor:
            before(sql)
            done = super().execute(sql, *values)
            after(sql)
            return done

        def executemany(self, sql: str, /, *values: Any) -> sqlite3.Cursor:
            before(sql)
            done = super().executemany(sql, *values)
            after(sql)
            return done

    connect = sqlite3.connect

    def watched(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, factory=Watched, **options)
        return connection

    sqlite3.connect = watched  # type: ignore[assignment]


__all__ = ["die_after", "die_at"]
