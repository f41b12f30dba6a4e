"""SQLite's errors in the product's words. Messages name the place and the reason, never a value."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from ltm_core.errors import BusyError, ConflictError, CorruptError, LTMError, StoreError, UnavailableError

P = ParamSpec("P")
T = TypeVar("T")

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


def readable(make: Callable[P, T]) -> Callable[P, T]:
    """What makes something of rows: rows of which nothing can be made are damage, named without what they hold."""

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return make(*args, **kwargs)
        except LTMError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as e:
            # The cause would show the text itself; where it was raised is kept.
            error = CorruptError(f"a stored row cannot be read ({make.__name__}: {type(e).__name__})")
            raise error.with_traceback(e.__traceback__) from None

    return made


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
