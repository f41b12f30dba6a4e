"""The server's and the driver's errors in the product's words. Messages name the place and the reason; a message of
the server is repeated only where it cannot quote a value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from ltm_core.errors import BusyError, ConflictError, CorruptError, LTMError, StoreError, UnavailableError

_BUSY = {
    "55P03": "a lock was not free in time",
    "40P01": "two writes waited for each other",
    "40001": "two writes met",
    "57014": "the server ended a statement that took too long",
    "53300": "the server has no connection left",
}
_LOST = {
    "3F000": "the schema is gone",
    "42P01": "a table is missing",
    "42703": "a column is missing",
}
_REFUSED = {
    "28P01": "the server refused the password",
    "28000": "the server refused the user",
    "3D000": "there is no such database",
    "42501": "the role lacks a privilege, or row-level security refused a row",
    "53100": "the server's disk is full",
    "53200": "the server is out of memory",
    "57P01": "the server ended the connection",
    "57P02": "the server crashed and recovers",
    "57P03": "the server is starting or stopping",
}


_SAID = {
    "password authentication failed": "the server refused the password",
    "no password supplied": "the server wants a password",
    "no pg_hba.conf entry": "the server refused the user",
    "does not exist": "there is no such database or role",
    "could not translate host name": "the name of the host is unknown",
    "certificate": "the certificate of the server, or of this client, was refused",
    "does not support SSL": "the server speaks no TLS, which sslmode= asks for",
}
_FULL = ("remaining connection slots", "too many clients", "too many connections")
_READ_ONLY = "25006"
_UNSUPPORTED = "0A000"


class Lost(UnavailableError):
    """The connection is gone."""


class ReadOnly(UnavailableError):
    """The server at the other end takes no writes."""


def translate(error: psycopg.Error, where: str, *, beginning: bool = False) -> LTMError:
    """The error to raise instead of ``error``; ``beginning``: of what a transaction begins with."""
    state = error.sqlstate or ""
    # A standby does not say that it is one, but that it cannot do what a transaction that writes begins with.
    if state == _READ_ONLY or (beginning and state == _UNSUPPORTED):
        return ReadOnly(
            f"{where}: the server takes no writes (a standby, or read-only); with several hosts in the URL, "
            "target_session_attrs=read-write connects to the one that does"
        )
    if state in _BUSY:
        return BusyError(f"{where}: {_BUSY[state]}; the call may be repeated")
    if state in _LOST:
        return CorruptError(f"{where}: {_LOST[state]}")
    if state in ("57P01", "57P02", "57P03") or state.startswith("08"):
        return Lost(f"{where}: {_REFUSED.get(state, 'the connection was lost')}")
    if state in _REFUSED:
        return UnavailableError(f"{where}: {_REFUSED[state]}")
    if state.startswith("23"):
        return ConflictError(f"{where}: a row with this id exists, or lacks its user (SQLSTATE {state})")
    if state.startswith("XX"):
        return CorruptError(f"{where}: the server reports damage (SQLSTATE {state})")
    if isinstance(error, psycopg.OperationalError) and not state:
        # A refused connection has no code, only the words of the server or the system.
        said = str(error)
        if any(words in said for words in _FULL):
            return BusyError(f"{where}: {_BUSY['53300']}; the call may be repeated")
        for words, reason in _SAID.items():
            if words in said:
                return UnavailableError(f"{where}: {reason}")
        return Lost(f"{where}: the server cannot be reached, or the connection was lost")
    return StoreError(f"{where}: {type(error).__name__} (SQLSTATE {state or 'none'})")


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Errors of the driver inside the block leave it as errors of the product. Their text is not repeated: it may
    quote values, or the URL."""
    try:
        yield
    except psycopg.Error as e:
        raise translate(e, where) from None


__all__ = ["Lost", "ReadOnly", "translate", "translated"]
