"""Upkeep at intervals, by a thread of an open memory. What is to be done is in rows; the thread only begins it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime

LAST_RUN = "maintain.began"
"""Setting of the store: when one of the processes last began, so that they take turns."""


class Ticker:
    """Calls ``step`` every ``seconds`` until it is stopped, or until ``step`` says that its owner is gone.

    The first call comes after the first interval. In a forked child a thread of its own goes on.
    """

    def __init__(self, step: Callable[[], bool], *, seconds: float) -> None:
        self._step = step
        self._seconds = seconds
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None
        self._start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_restarter(weakref.ref(self)))

    def _start(self) -> None:
        self._thread = threading.Thread(target=_run, args=(weakref.ref(self), self._halt, self._seconds), daemon=True)
        self._thread.name = "ltm-maintain"
        self._thread.start()

    def restart(self) -> None:
        """In a forked child: the parent's thread is not here, and its locks may be held."""
        if not self._halt.is_set():
            self._halt = threading.Event()
            self._start()

    def stop(self, timeout: float) -> bool:
        """No further call is begun; waits up to ``timeout`` seconds for the one that runs. False when it still
        runs: what it did not do is done by the next run."""
        self._halt.set()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def step(self) -> bool:
        """One call; False when there is nothing to call for any more."""
        return self._step()


def _run(ticker: weakref.ref[Ticker], halt: threading.Event, seconds: float) -> None:
    while not halt.wait(seconds):
        alive = ticker()
        if alive is None or not alive.step():
            return
        del alive


def _restarter(ticker: weakref.ref[Ticker]) -> Callable[[], None]:
    def restart() -> None:
        alive = ticker()
        if alive is not None:
            alive.restart()

    return restart


def is_due(last: str | None, *, now: datetime, seconds: float) -> bool:
    """Whether nobody began within the interval; a clock that was set back does not stop upkeep for long."""
    if last is None:
        return True
    began = datetime.fromisoformat(last)
    return not began <= now < began + timedelta(seconds=seconds)


def run_every(runtime: Runtime, seconds: float) -> Ticker:
    """`maintain` runs every ``seconds`` for as long as the runtime is there; of the processes that have the store
    open one does it at a time. An error is logged, and the next interval tries again."""
    from ltm_core.keep.maintain import maintain
    from ltm_core.runtime import log
    from ltm_core.spans import operation

    owner = weakref.ref(runtime)

    def step() -> bool:
        alive = owner()
        if alive is None:
            return False
        try:
            now, operations = alive.now(), alive.store.operations()
            # The threads of several processes wake within moments of each other: half an interval tells them apart.
            if is_due(operations.setting(LAST_RUN), now=now, seconds=seconds / 2):
                operations.set_setting(LAST_RUN, now.isoformat())
                with operation(alive.spans, "maintain") as tell:
                    tell(maintain(alive, now=now, dry_run=False))
        except Exception as e:  # noqa: BLE001  whatever it was, the rows are still there
            log.warning("upkeep goes on in %.0f s: %s", seconds, type(e).__name__)
        return True

    return Ticker(step, seconds=seconds)


__all__ = ["LAST_RUN", "Ticker", "is_due", "run_every"]
