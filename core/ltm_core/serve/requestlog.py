"""One JSON line per request, in a file that several workers write and turn over. No line holds what was said."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from ltm_core.errors import UnavailableError

try:
    import fcntl
except ImportError:  # Windows: one worker alone may turn the file over
    fcntl = None  # type: ignore[assignment]

Message = MutableMapping[str, Any]
NOTE = "ltm.request"
"""Where a request's scope keeps what its line will say."""
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


class RequestLog:
    """Writes lines: time, operation, status, milliseconds, the key's id, and a keyed hash of the user.

    ``secret``: without it nobody finds a user's id from its hash by trying ids.
    """

    def __init__(self, path: Path, *, most_bytes: int, files: int, secret: bytes) -> None:
        self._secret = secret
        try:
            self._file = SharedRotatingFile(path, most_bytes=most_bytes, files=files)
        except OSError as e:
            raise UnavailableError(f"the log file {path} cannot be opened: {e.strerror}") from e
        self._file.setFormatter(logging.Formatter("%(message)s"))

    def user(self, user_id: str) -> str:
        """What stands for the user in every line of this store."""
        return hmac.new(self._secret, user_id.encode(), hashlib.sha256).hexdigest()[:_USER_DIGITS]

    def write(
        self, *, at: datetime, operation: str, status: int, seconds: float, key: str | None, user_id: str | None
    ) -> None:
        """One line more."""
        line = {
            "time": at.astimezone(UTC).isoformat(timespec="milliseconds"),
            "operation": operation,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "key": key,
            "user": None if user_id is None else self.user(user_id),
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
        note: dict[str, str] = {}
        scope[NOTE] = note
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
                operation=_operation(scope.get("route")),
                status=status,
                seconds=time.perf_counter() - started,
                key=note.get("key"),
                user_id=note.get("user"),
            )


def _operation(route: Any) -> str:
    """The route's own name or pattern; never the path that was asked for."""
    found = getattr(route, "operation_id", None) or getattr(route, "path_format", None)
    return str(found) if found else UNKNOWN


def note(scope: Message, *, key: str | None = None, user_id: str | None = None) -> None:
    """The line of this request, if one is written, will name this key and this user."""
    if NOTE in scope:
        scope[NOTE].update({k: v for k, v in (("key", key), ("user", user_id)) if v is not None})


def secret_of(place: Path) -> bytes:
    """The secret of the hashes, 32 random bytes in a file of the store's directory (0600), made once. Without the
    file, older lines no longer meet newer ones."""
    path = place / SECRET_FILE
    draft = path.with_name(f"{SECRET_FILE}.{os.getpid()}.{threading.get_ident()}")
    try:
        if not path.exists():
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(secrets.token_bytes(32))
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(draft, path)  # unlike a rename, the first of several workers wins
            except FileExistsError:
                draft.unlink()
            else:
                draft.unlink()
        return path.read_bytes()
    except OSError as e:
        raise UnavailableError(f"{path} cannot be made or read: {e.strerror}") from e


__all__ = ["NOTE", "UNKNOWN", "Logged", "RequestLog", "SharedRotatingFile", "note", "secret_of"]
