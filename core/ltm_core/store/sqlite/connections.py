"""Connections to one database: a few idle readers, one writer, all of the process that opened them.

A connection serves one thread at a time and goes back to the pool, so the number of open ones follows the
readers at work and not the threads that ever lived. After a fork the child opens its own; the inherited ones are
neither used nor closed there, because closing the last one would move the parent's log.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from ltm_core.errors import UnavailableError
from ltm_core.store.sqlite.locks import WriteLock

MAX_IDLE = 8
"""Readers kept open while nobody reads."""
READER_CACHE_KIB = 8_192
WRITER_CACHE_KIB = 32_768
LOG_LIMIT_BYTES = 64 * 1024 * 1024
"""Length to which the log is cut back after a burst."""
STATEMENTS = 256

_pools: weakref.WeakSet[Pool] = weakref.WeakSet()
_inherited: list[sqlite3.Connection] = []


class Pool:
    """All connections of one store object."""

    def __init__(
        self,
        database: Path,
        *,
        durability: Literal["process", "power"],
        busy_timeout: float,
        read_only: bool,
        lock: WriteLock,
    ) -> None:
        self.database = database
        self.lock = lock
        self._durability = durability
        self._busy_ms = int(busy_timeout * 1000)
        self._read_only = read_only
        self._guard = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._closed = False
        self._generation = 0
        _pools.add(self)

    def connect(self, *, writer: bool = False) -> sqlite3.Connection:
        """A new connection with the pragmas set; the caller closes it."""
        mode = "ro" if self._read_only else "rw" if self.database.exists() else "rwc"
        uri = f"file:{quote(str(self.database))}?mode={mode}"
        try:
            return self._configured(uri, writer)
        except sqlite3.OperationalError as e:
            # Without write permission no log can be opened, but where there is none nothing changes either.
            alone = self._read_only and not _has_log(self.database)
            if not alone or e.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            return self._configured(uri + "&immutable=1", writer)

    def _configured(self, uri: str, writer: bool) -> sqlite3.Connection:
        conn = sqlite3.connect(
            uri,
            uri=True,
            timeout=self._busy_ms / 1000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=STATEMENTS,
        )
        try:
            conn.execute("PRAGMA temp_store = MEMORY")
            conn.execute("PRAGMA foreign_keys = ON")
            conn.execute("PRAGMA secure_delete = ON")
            conn.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB if writer else READER_CACHE_KIB}")
            conn.execute(f"PRAGMA synchronous = {'FULL' if self._durability == 'power' else 'NORMAL'}")
            if self._read_only:
                conn.execute("PRAGMA query_only = ON")
                conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
            else:
                conn.execute("PRAGMA journal_mode = WAL").fetchone()
                conn.execute(f"PRAGMA journal_size_limit = {LOG_LIMIT_BYTES}")
        except BaseException:
            conn.close()
            raise
        return conn

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a read transaction; the moment is fixed by the first statement."""
        generation = self._generation
        conn = self._take()
        healthy = False
        try:
            conn.execute("BEGIN")
            try:
                yield conn
            finally:
                if generation == self._generation:
                    conn.execute("ROLLBACK")
                    healthy = True
        finally:
            if generation == self._generation:
                self._give_back(conn, healthy)
            else:
                _inherited.append(conn)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The writer inside BEGIN IMMEDIATE: committed at the end of the block, rolled back when it raises."""
        with self.exclusive() as conn:
            generation = self._generation
            conn.execute("BEGIN IMMEDIATE")
            try:
                yield conn
                if generation != self._generation:
                    raise UnavailableError(f"{self.database.parent}: the process forked inside a write")
                conn.execute("COMMIT")
            except BaseException:
                # A full disk rolls back by itself, and a child must not touch its parent's transaction.
                if generation == self._generation and conn.in_transaction:
                    conn.execute("ROLLBACK")
                raise

    @contextmanager
    def exclusive(self, timeout: float | None = None) -> Iterator[sqlite3.Connection]:
        """The writer outside any transaction while other writers wait; BusyError after the timeout (seconds)."""
        self._check()
        self.lock.acquire(timeout)
        generation = self._generation
        try:
            self._check()
            if self._writer is None:
                self._writer = self.connect(writer=True)
            yield self._writer
        finally:
            if generation == self._generation:
                if self._closed:
                    self._close_writer()
                self.lock.release()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """No other writer that keeps to the lock works meanwhile."""
        self.lock.acquire()
        try:
            yield
        finally:
            self.lock.release()

    @contextmanager
    def prepared(self) -> Iterator[sqlite3.Connection]:
        """The writer's connection, for a caller that holds the lock."""
        if self._writer is None:
            self._writer = self.connect(writer=True)
        yield self._writer

    def busy_ms(self) -> int:
        """The configured busy timeout in milliseconds."""
        return self._busy_ms

    def close(self) -> None:
        """Idle connections are closed now, those at work when they come back. Harmless when repeated."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for conn in idle:
            conn.close()
        # A write that is running closes its connection itself when it sees that the pool is closed.
        if self.lock.hold_threads(self._busy_ms / 1000):
            try:
                self._close_writer()
            finally:
                self.lock.free_threads()

    def after_fork(self) -> None:
        """In a child: the inherited connections are out of reach, and the pool starts empty."""
        _inherited.extend(self._idle)
        if self._writer is not None:
            _inherited.append(self._writer)
        self._idle = []
        self._writer = None
        self._generation += 1
        self._guard = threading.Lock()
        self.lock.after_fork()

    def _check(self) -> None:
        if self._closed:
            raise UnavailableError(f"{self.database.parent}: the store is closed")

    def _take(self) -> sqlite3.Connection:
        with self._guard:
            self._check()
            if self._idle:
                return self._idle.pop()
        return self.connect()

    def _give_back(self, conn: sqlite3.Connection, healthy: bool) -> None:
        with self._guard:
            if healthy and not self._closed and len(self._idle) < MAX_IDLE:
                self._idle.append(conn)
                return
        conn.close()

    def _close_writer(self) -> None:
        conn, self._writer = self._writer, None
        if conn is not None:
            conn.close()
        self.lock.close()


def _has_log(database: Path) -> bool:
    log = database.with_name(database.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _after_fork_in_child() -> None:
    for pool in list(_pools):
        pool.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
