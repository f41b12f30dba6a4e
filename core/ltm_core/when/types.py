"""The public value of the grammar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Precision = Literal["instant", "hour", "day", "week", "month", "season", "year", "decade", "range"]
Direction = Literal["past", "present", "future"]
Prefer = Literal["past", "future"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMention:
    """One time expression of a text, resolved to ``[since, until)`` in the user's zone.

    ``text`` is ``input[start:end]``. ``relative`` says that the words mean nothing without ``now``;
    ``direction`` places the range before, around or after ``now``.
    """

    text: str
    start: int
    end: int
    since: datetime
    until: datetime
    precision: Precision
    relative: bool
    direction: Direction
