"""Clocks for tests: one tells a time of its own and moves on at each look, so that what is said later is later; the
other is set back and forth, as by a bad time server."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass
class Clock:
    """Calling it moves ``now`` on by ``step`` and returns it; both may be set while it runs."""

    now: datetime
    step: timedelta = timedelta(milliseconds=1)

    def __call__(self) -> datetime:
        self.now += self.step
        return self.now


class JumpingClock(Clock):
    """At each look it jumps by up to ``most`` in either direction; the same seed jumps the same."""

    def __init__(self, now: datetime, *, most: timedelta, seed: int = 0) -> None:
        super().__init__(now)
        self._most = most
        self._random = random.Random(seed)

    def __call__(self) -> datetime:
        self.now += self._most * self._random.uniform(-1, 1)
        return self.now


__all__ = ["Clock", "JumpingClock"]
