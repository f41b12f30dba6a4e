"""A thread of an open memory that runs the queue. It owns nothing: every job is a row, and survives it."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable

from ltm_core.runtime import log
from ltm_core.types import WorkReport

POLL_SECONDS = 10.0
"""How often the queue is looked at when nothing was said: for retries, and for jobs that a dead process left."""


class Worker:
    """Calls ``step`` when it is woken, and from time to time, until it is stopped.

    ``step`` does a part of the work and returns its report, or None when its owner is gone. After a report that
    says that the model cannot be reached it waits ``pause`` seconds, woken or not. In a forked child the thread
    does not exist; the next `wake` there starts one of its own.
    """

    def __init__(self, step: Callable[[], WorkReport | None], *, pause: float, name: str = "extraction") -> None:
        self._step = step
        self._pause = pause
        self._name = name
        self._start_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._pid = 0
        self._stopped = False
        self._ready, self._halt = threading.Event(), threading.Event()
        self._at_exit = _stopper(weakref.ref(self))
        atexit.register(self._at_exit)

    def wake(self) -> None:
        """The queue is looked at soon. Returns at once."""
        if self._stopped:
            return
        if self._pid != os.getpid():
            self._restart()
        self._ready.set()

    def _restart(self) -> None:
        if self._pid not in (0, os.getpid()):
            # The parent's locks may be held by threads that a forked child does not have.
            self._start_lock = threading.Lock()
            self._ready, self._halt = threading.Event(), threading.Event()
        with self._start_lock:
            if self._pid == os.getpid() or self._stopped:
                return
            self._pid = os.getpid()
            self._thread = threading.Thread(target=self._run, args=(self._ready, self._halt), daemon=True)
            self._thread.name = f"ltm-{self._name}"
            self._thread.start()

    def stop(self, timeout: float) -> bool:
        """No further job is begun; waits up to ``timeout`` seconds for the one that runs. False when it still
        runs: its lease ends, and it is run again."""
        self._stopped = True
        self._halt.set()
        self._ready.set()
        atexit.unregister(self._at_exit)
        thread = self._thread if self._pid == os.getpid() else None
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def _run(self, ready: threading.Event, halt: threading.Event) -> None:
        while not self._stopped:
            ready.wait(POLL_SECONDS)
            ready.clear()
            busy = True
            while busy and not self._stopped:
                try:
                    report = self._step()
                except Exception as e:  # noqa: BLE001  whatever it was, the rows are still there
                    log.warning("the %s thread goes on in %.0f s: %s", self._name, self._pause, type(e).__name__)
                    halt.wait(self._pause)
                    break
                if report is None:
                    return
                busy = report.jobs_done + report.jobs_retried + report.jobs_dead > 0
                if report.stopped:
                    halt.wait(self._pause)


def _stopper(worker: weakref.ref[Worker]) -> Callable[[], None]:
    def stop() -> None:
        alive = worker()
        if alive is not None:
            alive.stop(1.0)

    return stop


__all__ = ["POLL_SECONDS", "Worker"]
