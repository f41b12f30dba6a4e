"""How often a key may ask: a bucket of tokens that fills at a steady rate."""

from __future__ import annotations

import threading
from collections.abc import Callable

_MOST_BUCKETS = 10_000
"""Keys remembered per process; beyond them the fullest are forgotten, which costs them nothing."""


class Rate:
    """``allow`` takes a token of the key's bucket: ``burst`` at once, ``per_minute`` in the long run."""

    def __init__(self, *, per_minute: int, burst: int, clock: Callable[[], float]) -> None:
        self._per_second = per_minute / 60
        self._burst = float(burst)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def allow(self, key: str) -> float:
        """0.0 when the request may go on, else the seconds until one may."""
        if not self._per_second:
            return 0.0
        now = self._clock()
        with self._lock:
            tokens, then = self._buckets.get(key, (self._burst, now))
            tokens = min(self._burst, tokens + (now - then) * self._per_second)
            allowed = tokens >= 1
            self._buckets[key] = (tokens - 1 if allowed else tokens, now)
            if len(self._buckets) > _MOST_BUCKETS:
                fullest = sorted(self._buckets, key=lambda k: self._buckets[k][0], reverse=True)
                for name in fullest[: _MOST_BUCKETS // 10]:
                    del self._buckets[name]
        return 0.0 if allowed else (1 - tokens) / self._per_second


__all__ = ["Rate"]
