"""A small file of JSON that several processes read at every request and write now and then."""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from ltm_core.errors import ConfigError, UnavailableError

T = TypeVar("T")


class SharedFile(Generic[T]):
    """What the file holds, readable by its owner alone. A change of another process is seen at the next look.

    ``load`` makes the value from JSON and ``dump`` the JSON from it; ``empty`` stands for a file that is not there;
    ``what`` names the content in errors.
    """

    def __init__(
        self, path: Path, *, load: Callable[[Any], T], dump: Callable[[T], Any], empty: T, what: str
    ) -> None:
        self.path = path
        self._load = load
        self._dump = dump
        self._empty = empty
        self._what = what
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._value = empty

    def value(self) -> T:
        """What it holds now; ConfigError when that is something else."""
        with self._lock:
            return self._read()

    def change(self, how: Callable[[T], T]) -> None:
        """``how`` is done to the value, by one process at a time, whole or not at all. UnavailableError when the file
        cannot be written."""
        with self._lock, _exclusive(self.path):
            self._write(how(self._read()))

    def _read(self) -> T:
        try:
            info = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._value = None, self._empty
            return self._value
        stamp = info.st_mtime_ns, info.st_ino
        if stamp != self._stamp:
            try:
                self._value = self._load(json.loads(self.path.read_text(encoding="utf-8")))
            except (OSError, ValueError, TypeError, KeyError, AttributeError) as e:
                raise ConfigError(f"{self.path} cannot be read as {self._what} ({type(e).__name__})") from None
            self._stamp = stamp
        return self._value

    def _write(self, value: T) -> None:
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        text = json.dumps(self._dump(value), indent=1, ensure_ascii=False)
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as f:
                f.write(text)
                f.flush()
                os.fsync(f.fileno())
            draft.replace(self.path)
        except OSError as e:
            draft.unlink(missing_ok=True)
            raise UnavailableError(f"{self.path} cannot be written: {e.strerror}") from e
        self._stamp = None


class _exclusive:
    """One writer of the file at a time, over all processes."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f".{path.name}.lock")
        self._file = -1

    def __enter__(self) -> None:
        try:
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        except OSError as e:
            raise UnavailableError(f"{self._path} cannot be opened: {e.strerror}") from e
        try:
            import fcntl
        except ImportError:  # Windows: two that write at the same moment are not guarded there
            return
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


__all__ = ["SharedFile"]
