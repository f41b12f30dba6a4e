"""One of several processes does something; when it ends, however it ends, another may."""

from __future__ import annotations

import os
from pathlib import Path

from ltm_core.errors import UnavailableError

try:
    import fcntl
except ImportError:  # Windows: each process takes itself for the only one; what is done twice must be harmless
    fcntl = None  # type: ignore[assignment]


class Alone:
    """A lock on a file, held until `release` or the end of the process; never waited for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def held(self) -> bool:
        """Whether this object holds the lock now; takes it when nobody does. UnavailableError when it cannot be
        made."""
        if self._file is not None:
            return True
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as e:
            raise UnavailableError(f"{self._path} cannot be opened: {e.strerror}") from e
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(file)
                return False
        self._file = file
        return True

    def release(self) -> None:
        """Another may take it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


__all__ = ["Alone"]
