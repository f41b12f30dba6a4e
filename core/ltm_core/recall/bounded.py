"""A call into someone else's code that may hang: it gets so many seconds, then recall goes on without it."""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

log = logging.getLogger("ltm")
T = TypeVar("T")

MOST_RUNNING = 8
"""Calls of one helper at once. Calls that hang are not ended, so without a bound each turn would leave a thread."""


class _Call(Generic[T]):
    """One call in a thread of its own."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._done = threading.Event()
        self._result: list[T] = []
        self.error: BaseException | None = None
        context = contextvars.copy_context()
        # A daemon: a model that hangs must not keep the program from ending.
        self.thread = threading.Thread(target=context.run, args=(self._run,), daemon=True, name="ltm-helper")

    def _run(self) -> None:
        try:
            self._result.append(self._work())
        except BaseException as error:  # noqa: BLE001 handed to the thread that waits
            self.error = error
        finally:
            self._done.set()

    def result(self, seconds: float) -> T:
        self.thread.start()
        if not self._done.wait(seconds):
            raise TimeoutError
        if self.error is not None:
            raise self.error
        return self._result[0]


class Named(Protocol):
    @property
    def name(self) -> str: ...


H = TypeVar("H", bound=Named)


class Bounded(Generic[H]):
    """A helper, called with a bound on time; thread-safe, and usable in a forked child."""

    def __init__(self, helper: H, seconds: float) -> None:
        self.helper = helper
        self.name = helper.name
        self.seconds = seconds
        self._running: list[threading.Thread] = []
        self._guard = threading.Lock()

    def __call__(self, work: Callable[[H], T]) -> tuple[T | None, str]:
        """(result, "") or (None, why there is none). Failures are logged, without any text of the call."""
        call = _Call(lambda: work(self.helper))
        # Threads of the parent are not alive in a forked child, so none of them counts there.
        with self._guard:
            self._running = [t for t in self._running if t.is_alive()]
            full = len(self._running) >= MOST_RUNNING
            if not full:
                self._running.append(call.thread)
        if full:
            return None, self._told(f"{MOST_RUNNING} earlier calls have not ended")
        try:
            return call.result(self.seconds), ""
        except TimeoutError:
            return None, self._told(f"no answer within {self.seconds:g} s")
        except Exception as error:  # noqa: BLE001 whatever it raises, recall goes on
            # Its message is not repeated: it may hold the text or a key.
            return None, self._told(f"failed: {type(error).__name__}")

    def _told(self, why: str) -> str:
        log.warning("%s %s; recall goes on without it", self.name, why)
        return f"{self.name} {why}"


__all__ = ["MOST_RUNNING", "Bounded"]
