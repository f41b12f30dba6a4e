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

_QUICK_TRIES = 4
_QUICK_SLEEP = 0.0003
"""A lock that comes free within a millisecond is not worth a thread."""


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
            _closed(fd)

    def after_fork(self) -> None:
        """In a child: nothing is held, and the parent's hold is left as it is."""
        self._threads = threading.Lock()
        self._owner = None
        # Closing our copy does not release the parent's lock; unlocking through it would.
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _acquire_file(self, deadline: float, limit: float) -> None:
        if fcntl is None:
            return
        if self._fd is None:
            self._fd = _opened(self._path)
        for _ in range(_QUICK_TRIES):
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(_QUICK_SLEEP)
            except OSError as e:
                raise UnavailableError(f"{self._path} cannot be locked: {e.strerror}") from e
        line = _Line(_opened(self._path))
        fd = line.wait(deadline - time.monotonic())
        if fd is None:
            raise BusyError(f"{self._path.parent} was busy with other processes for {limit:g} s")
        self.close()
        self._fd = fd


class _Line:
    """Stands in the kernel's queue for a file lock, which has no timeout of its own, in a thread of its own.

    Who polls instead meets the short moment between two writes of a busy process only by luck.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._guard = threading.Lock()
        self._held = threading.Event()
        self._left = False
        self._error: OSError | None = None

    def wait(self, seconds: float) -> int | None:
        """The descriptor that holds the lock, or None when the time is over."""
        threading.Thread(target=self._stand, name="ltm-write-lock", daemon=True).start()
        if not self._held.wait(max(seconds, 0.0)):
            with self._guard:
                self._left = not self._held.is_set()
        if self._left:
            return None
        if self._error is not None:
            os.close(self._fd)
            raise UnavailableError(f"the write lock cannot be taken: {self._error.strerror}") from self._error
        return self._fd

    def _stand(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
        except OSError as e:
            self._error = e
        with self._guard:
            if self._left:
                _closed(self._fd)
            else:
                self._held.set()


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as e:
        raise UnavailableError(f"{path} cannot be opened: {e.strerror}") from e


def _closed(fd: int) -> None:
    # A forked child may have a copy of the descriptor: closing ours alone would leave the lock with it.
    fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)
