"""SQLite's errors in the product's words. Messages name the place and the reason, never a value."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from ltm_core.errors import BusyError, ConflictError, CorruptError, StoreError, UnavailableError

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LOST = ("no such column", "no such table", "no such index")
"""The statements are ours and fixed, and the version of the schema was checked: the file lost what they name."""
_NO_TEXT = "Could not decode to UTF-8"
"""A message of the driver that goes on with the bytes themselves."""
_UNAVAILABLE = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_NOLFS,
}


def translate(error: sqlite3.Error, path: str) -> StoreError | ConflictError:
    """The error to raise instead of ``error``."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if str(error).startswith(_NO_TEXT):
        return CorruptError(f"{path}: a stored text is not UTF-8")
    detail = f"{path}: {error}"
    if primary in _BUSY:
        return BusyError(f"{detail}; the call may be repeated")
    if primary in _CORRUPT or (primary == sqlite3.SQLITE_ERROR and str(error).startswith(_LOST)):
        return CorruptError(detail)
    if primary in _UNAVAILABLE:
        return UnavailableError(detail)
    if primary == sqlite3.SQLITE_CONSTRAINT:
        return ConflictError(f"{detail}: a row with this id exists")
    return StoreError(detail)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Errors of SQLite inside the block leave it as errors of the product."""
    try:
        yield
    except sqlite3.Error as e:
        raise translate(e, path) from (None if str(e).startswith(_NO_TEXT) else e)
    except UnicodeDecodeError:
        # The driver reads the engine's message, which quotes a damaged schema.
        raise CorruptError(f"{path}: the schema of the file is damaged") from None
