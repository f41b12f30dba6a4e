"""One writer at a time: first among the threads of a process, then among the processes.

SQLite alone lets writers poll for its lock, and an unlucky one waits a second; a lock taken before ``BEGIN
IMMEDIATE`` keeps the longest wait near the length of the queue. Correctness does not rest on it.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from ltm_core.errors import BusyError, ConflictError, UnavailableError

try:
    import fcntl
except ImportError:  # Windows: threads queue here, processes at SQLite's own lock
    fcntl = None  # type: ignore[assignment]

_FIRST_SLEEP = 0.0002
_LONGEST_SLEEP = 0.002


class WriteLock:
    """Held by one thread of one process. Not reentrant: a nested write raises ConflictError."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._fd: int | None = None
        self._threads = threading.Lock()
        self._owner: int | None = None

    def acquire(self, timeout: float | None = None) -> None:
        """Held afterwards. BusyError when the timeout (seconds) runs out."""
        me = threading.get_ident()
        if self._owner == me:
            raise ConflictError("a write began inside another write of the same thread")
        limit = self._timeout if timeout is None else timeout
        deadline = time.monotonic() + limit
        if not self._threads.acquire(timeout=limit):
            raise BusyError(f"{self._path.parent} was busy with this process's writes for {limit:g} s")
        try:
            self._acquire_file(deadline, limit)
        except BaseException:
            self._threads.release()
            raise
        self._owner = me

    def release(self) -> None:
        """Free for the next one."""
        self._owner = None
        if fcntl is not None and self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        self._threads.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def hold_threads(self, timeout: float) -> bool:
        """Whether no thread of this process writes now, nor will until `free_threads`."""
        return self._owner != threading.get_ident() and self._threads.acquire(timeout=timeout)

    def free_threads(self) -> None:
        """Ends `hold_threads`."""
        self._threads.release()

    def close(self) -> None:
        """The lock file is closed; the next `acquire` opens it again."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def after_fork(self) -> None:
        """In a child: nothing is held, and the parent's hold is left as it is."""
        self._threads = threading.Lock()
        self._owner = None
        # Closing our copy does not release the parent's lock; unlocking through it would.
        self.close()

    def _acquire_file(self, deadline: float, limit: float) -> None:
        if fcntl is None:
            return
        if self._fd is None:
            try:
                self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as e:
                raise UnavailableError(f"{self._path} cannot be opened: {e.strerror}") from e
        pause = _FIRST_SLEEP
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise BusyError(
                        f"{self._path.parent} was busy with other processes for {limit:g} s"
                    ) from None
            except OSError as e:
                raise UnavailableError(f"{self._path} cannot be locked: {e.strerror}") from e
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_SLEEP)
