"""One JSON line per request, in a file that several workers write and turn over. No line holds what was said."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from ltm_core.errors import UnavailableError
from ltm_core.store.sqlite.files import create_key

try:
    import fcntl
except ImportError:  # Windows: one worker alone may turn the file over
    fcntl = None  # type: ignore[assignment]

Message = MutableMapping[str, Any]
NOTE = "ltm.request"
"""Where a request's scope keeps what its line will say."""
TRACE = "ltm.trace"
"""Where it keeps the id of its trace, as 32 hex digits, when it is traced."""
SECRET_FILE = ".log_secret"
_USER_DIGITS = 16
"""64 bits: two of a million users share a name in one case of 37 million."""
UNKNOWN = "unknown"
"""Operation of a path that is none of the service's: the path itself may hold anything."""


class SharedRotatingFile(RotatingFileHandler):
    """Turns the file over at a size, under a lock of all processes; one that finds it turned over opens the new one.

    The files are readable by their owner alone.
    """

    def __init__(self, path: Path, *, most_bytes: int, files: int) -> None:
        self._guard = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        super().__init__(path, maxBytes=most_bytes, backupCount=files, encoding="utf-8")

    def _open(self) -> TextIOWrapper:
        file = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(file, "a", encoding="utf-8")

    def emit(self, record: logging.LogRecord) -> None:
        if fcntl is not None:
            fcntl.flock(self._guard, fcntl.LOCK_EX)
        try:
            self._follow()
            super().emit(record)
        except OSError:
            self.handleError(record)
        finally:
            if fcntl is not None:
                fcntl.flock(self._guard, fcntl.LOCK_UN)

    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk is told once on the service's own log; no request fails of it, no traceback is printed."""
        if not getattr(self, "_told", False):
            self._told = True
            logging.getLogger("ltm").error("the request log %s cannot be written", Path(self.baseFilename).name)

    def close(self) -> None:
        super().close()
        if self._guard >= 0:
            os.close(self._guard)
            self._guard = -1

    def _follow(self) -> None:
        if self.stream is None:
            return
        mine = os.fstat(self.stream.fileno())
        try:
            there = os.stat(self.baseFilename)  # noqa: PTH116
        except FileNotFoundError:
            there = None
        if there is None or (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino):
            self.stream.close()
            self.stream = self._open()


class Pseudonyms:
    """What stands for a user in logs and traces. ``secret``: without it nobody finds a user's id by trying ids."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def of(self, user_id: str) -> str:
        """The same for all requests about this user of this store."""
        return hmac.new(self._secret, user_id.encode(), hashlib.sha256).hexdigest()[:_USER_DIGITS]


class RequestLog:
    """Writes lines: time, operation, status, milliseconds, the key's id, what stands for the user, and the trace."""

    def __init__(self, path: Path, *, most_bytes: int, files: int, users: Pseudonyms) -> None:
        self._users = users
        try:
            self._file = SharedRotatingFile(path, most_bytes=most_bytes, files=files)
        except OSError as e:
            raise UnavailableError(f"the log file {path} cannot be opened: {e.strerror}") from e
        self._file.setFormatter(logging.Formatter("%(message)s"))

    def write(
        self,
        *,
        at: datetime,
        operation: str,
        status: int,
        seconds: float,
        key: str | None,
        user_id: str | None,
        trace: str | None = None,
    ) -> None:
        """One line more."""
        line = {
            "time": at.astimezone(UTC).isoformat(timespec="milliseconds"),
            "operation": operation,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "key": key,
            "user": None if user_id is None else self._users.of(user_id),
            **({} if trace is None else {"trace": trace}),
        }
        record = logging.LogRecord("ltm.requests", logging.INFO, "", 0, json.dumps(line), None, None)
        self._file.handle(record)

    def close(self) -> None:
        """The file is closed."""
        self._file.close()


class Logged:
    """ASGI, around everything else: notes who asks as it is found out, and writes the line when the answer ends."""

    def __init__(self, app: Any, *, log: RequestLog, wall: Callable[[], float] = time.time) -> None:
        self._app = app
        self._log = log
        self._wall = wall

    async def __call__(self, scope: Message, receive: Any, send: Callable[[Message], Awaitable[None]]) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        note: dict[str, str] = scope.setdefault(NOTE, {})
        started = time.perf_counter()
        status = 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            self._log.write(
                at=datetime.fromtimestamp(self._wall(), UTC),
                operation=_operation(scope),
                status=status,
                seconds=time.perf_counter() - started,
                key=note.get("key"),
                user_id=note.get("user"),
                trace=scope.get(TRACE),
            )


def _operation(scope: Message) -> str:
    """The route's own name or pattern; never the path that was asked for."""
    return getattr(scope.get("route"), "operation_id", None) or route_of(scope) or UNKNOWN


def route_of(scope: Message) -> str | None:
    """The pattern of the route that answers, without what was asked; None when none does."""
    return getattr(scope.get("route"), "path_format", None)


def note(scope: Message, *, key: str | None = None, user_id: str | None = None) -> None:
    """The line of this request, if one is written, will name this key and this user."""
    if NOTE in scope:
        scope[NOTE].update({k: v for k, v in (("key", key), ("user", user_id)) if v is not None})


def secret_of(place: Path) -> bytes:
    """The secret of the hashes, 32 random bytes in a file of the store's directory (0600), made once. Without the
    file, older lines no longer meet newer ones."""
    path = place / SECRET_FILE
    try:
        if not path.exists():
            create_key(path, secrets.token_bytes(32))
        return path.read_bytes()
    except OSError as e:
        raise UnavailableError(f"{path} cannot be read: {e.strerror}") from e


__all__ = [
    "NOTE",
    "TRACE",
    "UNKNOWN",
    "Logged",
    "Pseudonyms",
    "RequestLog",
    "SharedRotatingFile",
    "note",
    "route_of",
    "secret_of",
]
