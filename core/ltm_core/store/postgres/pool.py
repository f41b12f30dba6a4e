"""Connections to one database: a bounded number per process, each for one thread at a time.

Every transaction begins with one message to the server, which also says who is seen: row-level security shows
nothing to a transaction that did not. When an idle connection turns out to be dead by that message, nothing was done
yet, so it is sent again on another one; what fails later is told to the caller.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Identifier

from ltm_core.errors import BusyError, ConflictError, UnavailableError
from ltm_core.store.postgres.faults import Lost, ReadOnly, translate, translated
from ltm_core.store.postgres.location import Place
from ltm_core.store.postgres.session import Ahead, Line, Session, adapt
from ltm_core.store.postgres.transactions import Beginning

_USUAL = {
    "application_name": "ltm-core",
    "connect_timeout": 10,
    # A server that went away without a word is noticed after a minute.
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    # Nor is it asked for a sign of life while it owes one for what was sent.
    "tcp_user_timeout": 60_000,
}
"""What libpq is told unless the URL says otherwise; seconds, the last one milliseconds."""
IDLE_SECONDS = 300.0
"""How long a connection is kept that nobody uses."""
PREPARED = 400
"""Statements that one connection keeps planned: all that there are, in the sizes of their lists."""

_crossed: list[Line] = []
"""Connections of the parent, in a child: neither used nor closed, for both would speak on the parent's sockets."""
_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


class Pool:
    """All connections of one store object."""

    def __init__(self, place: Place, *, most: int, busy_timeout: float) -> None:
        self._place = place
        self._most = most
        self._busy = busy_timeout
        self._closed = False
        self._begin()
        _pools.add(self)

    def _begin(self) -> None:
        self._free = threading.Semaphore(self._most)
        self._guard = threading.Lock()
        self._idle: list[tuple[Line, float]] = []
        self._writing = threading.local()
        self._pid = os.getpid()

    @property
    def busy_ms(self) -> int:
        """Milliseconds a statement waits for a lock."""
        return int(self._busy * 1000)

    def connect(self) -> Line:
        """A new connection, which the caller closes."""
        with translated(self._place.shown):
            # Planning a statement over all parts of a table costs ten times what running it does: once is enough.
            given = conninfo_to_dict(self._place.conninfo)
            options: dict[str, Any] = {k: v for k, v in _USUAL.items() if k not in given}
            conn = Line.connect(self._place.conninfo, autocommit=True, prepare_threshold=0, **options)
            adapt(conn)
            conn.prepared_max = PREPARED
            # One schema and no other: a table that a user made elsewhere is never taken for one of ours.
            schema = SQL("SET search_path = {}, pg_temp").format(Identifier(self._place.schema))
            conn.execute(schema + SQL("; SET plan_cache_mode = force_generic_plan"), prepare=False)
            return conn

    def keep(self, conn: Line) -> None:
        """One that `connect` made, in no transaction: the next call is served by it."""
        conn.begin_pipeline()
        conn.is_done = True
        self._give_back(conn)

    # transactions -------------------------------------------------------------------------------------
    @contextmanager
    def transaction(self, begin: Beginning, *, write: bool) -> Iterator[Session]:
        """A connection on which ``begin`` opened a transaction: committed at the end of a block that writes."""
        with self._one_write(write), self._begun(begin) as (conn, ahead), translated(self._place.shown):
            yield Session(conn, ahead)
            if os.getpid() != self._pid:
                raise UnavailableError(f"{self._place.shown}: the process was forked inside this read or write")
            if write:
                self._commit(conn)
            else:
                _leave(conn)

    @contextmanager
    def _one_write(self, write: bool) -> Iterator[None]:
        if not write:
            yield
            return
        if getattr(self._writing, "now", False):
            raise ConflictError("a write began inside another write of the same thread")
        self._writing.now = True
        try:
            yield
        finally:
            self._writing.now = False

    @contextmanager
    def _begun(self, begin: Beginning) -> Iterator[tuple[Line, Ahead | None]]:
        pid = os.getpid()
        self._check_open()
        free = self._free
        if not free.acquire(timeout=self._busy):
            raise BusyError(
                f"{self._place.shown}: every connection of this process was in use for {self._busy:g} s; the call "
                "may be repeated"
            )
        try:
            conn, ahead = self._first(begin)
            try:
                yield conn, ahead
            finally:
                if os.getpid() == pid:
                    self._give_back(conn)
                else:
                    _crossed.append(conn)
        finally:
            free.release()

    def _first(self, begin: Beginning) -> tuple[Line, Ahead | None]:
        """A connection inside its transaction. Idle ones that died, or lead to a server that no longer takes
        writes, are passed over."""
        while True:
            conn = self._waiting()
            was_idle = conn is not None
            if conn is None:
                conn = self.connect()
                conn.begin_pipeline()
            try:
                return conn, _begin(conn, begin)
            except psycopg.Error as e:
                error = translate(e, self._place.shown, beginning=True)
                # A connection to what is a standby now may be one to the primary when it is made anew.
                if isinstance(error, Lost | ReadOnly):
                    conn.close()
                    if was_idle:
                        continue
                else:
                    self._give_back(conn)
                raise error from None
            except BaseException:
                conn.close()
                raise

    def _waiting(self) -> Line | None:
        """The idle connection that was used last; those that nobody used for long are closed."""
        old: list[Line] = []
        with self._guard:
            found = self._idle.pop()[0] if self._idle else None
            limit = time.monotonic() - IDLE_SECONDS
            while self._idle and self._idle[0][1] < limit:
                old.append(self._idle.pop(0)[0])
        for conn in old:
            conn.close()
        return found

    def _give_back(self, conn: Line) -> None:
        if not conn.closed and not conn.is_done:
            try:
                with suppress(psycopg.Error):
                    # Answers that nobody looks at any more; whatever failed is taken back anyhow.
                    conn.sync()
                if conn.info.transaction_status != TransactionStatus.IDLE:
                    conn.rollback()
            except psycopg.Error:
                # The connection is gone, and the transaction with it.
                conn.close()
        with self._guard:
            if not conn.closed and not self._closed:
                self._idle.append((conn, time.monotonic()))
                return
        conn.close()

    def _commit(self, conn: Line) -> None:
        try:
            conn.execute("COMMIT", prepare=False)
            conn.sync()
            conn.is_done = True
        except psycopg.Error as e:
            error = translate(e, self._place.shown)
            if isinstance(error, Lost):
                raise UnavailableError(
                    f"{self._place.shown}: the connection was lost while a write was committed, so it is not known "
                    "whether it was stored; repeating the call with the same message id stores it once"
                ) from None
            raise error from None

    # the end, and forks -------------------------------------------------------------------------------
    def close(self) -> None:
        """Idle connections are closed now, those at work when they come back. Harmless when repeated."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for conn, _ in idle:
            conn.close()

    def after_fork(self) -> None:
        """In a child: the pool begins empty, and the parent's connections are left alone."""
        _crossed.extend(conn for conn, _ in self._idle)
        self._begin()

    def _check_open(self) -> None:
        if self._closed:
            raise UnavailableError(f"{self._place.shown}: the store is closed")


def _begin(conn: Line, begin: Beginning) -> Ahead | None:
    """The transaction is open; the answer to what was asked along with it."""
    conn.is_done = False
    conn.execute(begin.mode.encode(), prepare=False)
    for sql, values in begin.statements:
        conn.send(sql, values)
    ahead = None if begin.ahead is None else (begin.ahead, conn.send(*begin.ahead))
    conn.sync()
    return ahead


def _leave(conn: Line) -> None:
    """The end of a transaction that only read: nobody waits for it."""
    if conn.owes:
        conn.sync()
    # After a rollback the driver forgets every statement that it prepared.
    conn.execute("COMMIT", prepare=False)
    conn.hurry()
    conn.is_done = True


def _after_fork() -> None:
    for pool in list(_pools):
        pool.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

__all__ = ["Pool"]
