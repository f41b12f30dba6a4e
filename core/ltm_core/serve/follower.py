"""Changes of a remote memory, told to a callback."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ltm_core.errors import LTMError

if TYPE_CHECKING:
    from ltm_core.types import FactChange

log = logging.getLogger("ltm")


def follow(
    memory: Any, callback: Callable[[FactChange], object], *, user_id: str | int | None, every: float
) -> Callable[[], None]:
    """A thread asks for changes every so many seconds and tells those that come from now on; returns its end."""
    done = threading.Event()
    last = None
    for change in memory.changes(user_id=user_id, limit=1000):
        last = change.cursor

    def run(since: str | None) -> None:
        while not done.wait(every):
            try:
                for change in memory.changes(user_id=user_id, since=since):
                    since = change.cursor
                    _tell(callback, change)
            except LTMError as e:
                log.warning("changes are not known now, asked again in %g s: %s", every, type(e).__name__)

    thread = threading.Thread(target=run, args=(last,), name="ltm-changes", daemon=True)
    thread.start()

    def stop() -> None:
        done.set()
        if thread is not threading.current_thread():
            thread.join(every + 5)

    return stop


def _tell(callback: Callable[[FactChange], object], change: FactChange) -> None:
    try:
        callback(change)
    except Exception as e:  # noqa: BLE001  the callback is the caller's own, the next change is told all the same
        log.error("a callback of on_change failed: %s", type(e).__name__)


__all__ = ["follow"]
