"""A thread that runs the memory's upkeep at intervals, for programs that have no scheduler."""

from __future__ import annotations

import logging
import threading
from typing import Any

from ltm_core.errors import LTMError

log = logging.getLogger("ltm")


class Sweeper:
    """At most one thread per object; it ends with the program, when it is stopped, or when the memory is closed."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def sweep(self) -> int:
        """What is due is done now; returns how many items expired."""
        report = self._memory.maintain()
        return int(report.items_expired)

    def start(self, seconds: float) -> threading.Thread:
        """The thread sweeps every so many seconds; one that runs already goes on as it is."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._stop = threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(seconds, self._stop), name="ltm-sweeper", daemon=True
                )
                self._thread.start()
            return self._thread

    def stop(self, timeout: float | None) -> bool:
        """No thread runs any more, or False after ``timeout`` seconds."""
        with self._lock:
            thread = self._thread
            self._stop.set()
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    def _run(self, seconds: float, stop: threading.Event) -> None:
        while not stop.wait(seconds) and not getattr(self._memory, "closed", False):
            try:
                self.sweep()
            except LTMError as e:
                log.warning("the sweep failed and is tried again in %s s: %s: %s", seconds, type(e).__name__, e)
