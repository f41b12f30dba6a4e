"""Connections to one database: a bounded number per process, each for one thread at a time.

Every transaction begins with one message to the server, which also says who is seen: row-level security shows
nothing to a transaction that did not. When that message fails nothing was done yet, so it is sent again on another
connection; what fails later is told to the caller.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Composed, Identifier
from psycopg_pool import ConnectionPool, PoolTimeout

from ltm_core.errors import BusyError, ConflictError, UnavailableError
from ltm_core.store.postgres.faults import Lost, translate, translated
from ltm_core.store.postgres.location import Place
from ltm_core.store.postgres.session import Session, adapt

CONNECT_SECONDS = 10.0
"""Longest wait for the server to accept one connection."""
IDLE_SECONDS = 300.0
PREPARED = 400
"""Statements that one connection keeps planned: all that there are, in the sizes of their lists."""


class Pool:
    """All connections of one store object."""

    def __init__(self, place: Place, *, most: int, busy_timeout: float) -> None:
        self._place = place
        self._most = most
        self._busy = busy_timeout
        self._pools: dict[int, ConnectionPool[psycopg.Connection[Any]]] = {}
        self._guard = threading.Lock()
        self._closed = False
        self._writing = threading.local()

    @property
    def busy_ms(self) -> int:
        """Milliseconds a statement waits for a lock."""
        return int(self._busy * 1000)

    # single connections -------------------------------------------------------------------------------
    def connect(self) -> psycopg.Connection[Any]:
        """A connection of its own, which the caller closes."""
        with translated(self._place.shown):
            try:
                conn = psycopg.connect(self._place.conninfo, **self._options())
            except (UnicodeError, ValueError):
                raise UnavailableError(f"{self._place.shown} cannot be connected to") from None
            self._configure(conn)
            return conn

    def _options(self) -> dict[str, Any]:
        return {
            "autocommit": True,
            # Planning a statement over all parts of a table costs ten times what running it does: once is enough.
            "prepare_threshold": 0,
            "connect_timeout": int(CONNECT_SECONDS),
            "application_name": "ltm-core",
        }

    def _configure(self, conn: psycopg.Connection[Any]) -> None:
        adapt(conn)
        conn.prepared_max = PREPARED
        # One schema and no other: a table that a user made elsewhere is never taken for one of ours.
        schema = SQL("SET search_path = {}, pg_temp").format(Identifier(self._place.schema))
        conn.execute(schema + SQL("; SET plan_cache_mode = force_generic_plan"), prepare=False)

    # transactions -------------------------------------------------------------------------------------
    @contextmanager
    def transaction(self, begin: Composed, *, write: bool) -> Iterator[Session]:
        """A connection on which ``begin`` opened a transaction: committed at the end of a block that writes, rolled
        back otherwise."""
        with self._one_write(write), self._begun(begin) as conn, translated(self._place.shown):
            try:
                yield Session(conn)
                if write:
                    self._commit(conn)
                else:
                    # After a rollback the driver forgets every statement that it prepared.
                    conn.execute("COMMIT", prepare=False)
            finally:
                if not conn.closed and conn.info.transaction_status != TransactionStatus.IDLE:
                    _roll_back(conn)

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
    def _begun(self, begin: Composed) -> Iterator[psycopg.Connection[Any]]:
        pool = self._pool()
        deadline = time.monotonic() + self._busy
        conn = self._first(pool, begin, deadline)
        try:
            yield conn
        finally:
            pool.putconn(conn)

    def _first(
        self, pool: ConnectionPool[psycopg.Connection[Any]], begin: Composed, deadline: float
    ) -> psycopg.Connection[Any]:
        """A connection inside its transaction. Those that died while they were idle are passed over."""
        for attempt in range(self._most + 2):
            try:
                conn = pool.getconn(timeout=max(deadline - time.monotonic(), 0.05))
            except PoolTimeout as e:
                raise self._why(e) from None
            except psycopg.Error as e:
                raise translate(e, self._place.shown) from None
            try:
                conn.execute(begin, prepare=False)
                return conn
            except psycopg.Error as e:
                error = translate(e, self._place.shown)
                if not conn.closed and conn.info.transaction_status != TransactionStatus.IDLE:
                    _roll_back(conn)
                pool.putconn(conn)
                if not isinstance(error, Lost) or time.monotonic() > deadline:
                    raise error from None
                if attempt == 0:
                    # After a restart of the server all of them are dead.
                    pool.check()
        raise Lost(f"{self._place.shown}: the connection was lost again and again")

    def _why(self, error: PoolTimeout) -> Exception:
        """Whether the pool is used up or the server is away: the pool itself does not tell."""
        try:
            self.connect().close()
        except (UnavailableError, BusyError) as e:
            return e
        return translate(error, self._place.shown)

    def _commit(self, conn: psycopg.Connection[Any]) -> None:
        try:
            conn.execute("COMMIT", prepare=False)
        except psycopg.Error as e:
            error = translate(e, self._place.shown)
            if isinstance(error, Lost):
                raise UnavailableError(
                    f"{self._place.shown}: the connection was lost while a write was committed, so it is not known "
                    "whether it was stored; repeating the call with the same message id stores it once"
                ) from None
            raise error from None

    # the pool, and its end ----------------------------------------------------------------------------
    def _pool(self) -> ConnectionPool[psycopg.Connection[Any]]:
        # By process: no connection crosses a fork. The parent's object is left alone in a child, not closed.
        pid = os.getpid()
        pool = self._pools.get(pid)
        if pool is not None and not self._closed:
            return pool
        with self._guard:
            if self._closed:
                raise UnavailableError(f"{self._place.shown}: the store is closed")
            if pid not in self._pools:
                self._pools[pid] = ConnectionPool(
                    self._place.conninfo,
                    min_size=0,
                    max_size=self._most,
                    max_idle=IDLE_SECONDS,
                    timeout=self._busy,
                    reconnect_timeout=CONNECT_SECONDS,
                    kwargs=self._options(),
                    configure=self._configure,
                    name="ltm-core",
                    open=True,
                )
            return self._pools[pid]

    def after_fork(self) -> None:
        """In a child: the guard of the parent may be held by a thread that is not here."""
        self._guard = threading.Lock()
        self._writing = threading.local()

    def close(self) -> None:
        """All connections are closed, those at work when they come back. Harmless when repeated."""
        self._closed = True
        pool = self._pools.pop(os.getpid(), None)
        if pool is not None:
            pool.close()


def _roll_back(conn: psycopg.Connection[Any]) -> None:
    try:
        conn.rollback()
    except psycopg.Error:
        # The connection is gone, and the transaction with it.
        conn.close()


__all__ = ["Pool"]
