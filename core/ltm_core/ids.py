"""Time-ordered ids (RFC 9562, version 7)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from uuid import UUID


class UUID7:
    """Calling it gives the next id as text; ids of one process grow, also within a millisecond.

    Layout: 48 bits of milliseconds, version, 12 bits of counter, variant, 62 random bits. A full counter
    borrows the next millisecond, and a clock that goes back is ignored until it catches up.
    """

    def __init__(self, now_ms: Callable[[], int] | None = None) -> None:
        self._now_ms = now_ms or (lambda: time.time_ns() // 1_000_000)
        self._lock = threading.Lock()
        self._last = 0

    def __call__(self) -> str:
        with self._lock:
            tick = max(self._now_ms() << 12, self._last + 1)
            self._last = tick
        milliseconds, counter = tick >> 12, tick & 0xFFF
        random = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
        value = (milliseconds & ((1 << 48) - 1)) << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | random
        return str(UUID(int=value))


new_uuid7 = UUID7()
"""Shared by everything in the process that is not given ids of its own."""
