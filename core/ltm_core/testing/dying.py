"""A process that dies at a chosen point of its own work, as by the power switch: no handler, no clean-up.

A kill from outside falls where the process spends its time, so it rarely falls between two quick steps. This one
counts steps: every SQL statement of every `sqlite3` connection, and every file that is opened, renamed, linked,
cut or removed.
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

    def step(text: str) -> None:
        if text.startswith(statement):
            os.kill(os.getpid(), signal.SIGKILL)

    _trace(step)


def die_after(steps: int) -> None:
    """SIGKILL to this process at the beginning of the ``steps``-th step from now. Cannot be taken back."""
    left = steps

    def step(*_: object) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(event: str, _: tuple[Any, ...]) -> None:
        if event in _FILE_EVENTS:
            step()

    _trace(step)
    sys.addaudithook(heard)


def _trace(step: Callable[[str], None]) -> None:
    connect = sqlite3.connect

    def counted(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(step)
        return connection

    sqlite3.connect = counted


__all__ = ["die_after", "die_at"]
