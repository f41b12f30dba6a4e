"""A clock for tests: it tells a time of its own and moves on at each look, so that what is said later is later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(slots=True)
class Clock:
    """Calling it moves ``now`` on by ``step`` and returns it; both may be set while it runs."""

    now: datetime
    step: timedelta = timedelta(milliseconds=1)

    def __call__(self) -> datetime:
        self.now += self.step
        return self.now


__all__ = ["Clock"]
