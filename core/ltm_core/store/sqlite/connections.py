"""Connections to one database: a few idle readers, one writer.

A connection serves one thread at a time and goes back to the pool, so the number of open ones follows the
readers at work and not the threads that ever lived.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from ltm_core.errors import UnavailableError
from ltm_core.store.sqlite import forks
from ltm_core.store.sqlite.locks import WriteLock

MAX_IDLE = 8
"""Readers kept open while nobody reads."""
READER_CACHE_KIB = 8_192
WRITER_CACHE_KIB = 32_768
CHECKPOINT_PAGES = 4000
"""Pages of the log (16 MB) after which it is copied into the database. A page that many transactions change, as those
of indexes, is copied once for all of them: a sweep takes 5 % less than with the usual 1000."""
LOG_LIMIT_BYTES = 64 * 1024 * 1024
"""Length to which the log is cut back after a burst."""
STATEMENTS = 256

_crossed: list[sqlite3.Connection] = []
"""Connections of the parent, in a child: neither used nor closed, for both would touch the parent's files."""


class Pool:
    """All connections of one store object. ``check`` refuses a file before anything in it is changed."""

    def __init__(
        self,
        database: Path,
        *,
        durability: Literal["process", "power"],
        busy_timeout: float,
        read_only: bool,
        lock: WriteLock,
        check: Callable[[sqlite3.Connection], object],
    ) -> None:
        self.database = database
        self.lock = lock
        self.busy_ms = int(busy_timeout * 1000)
        self._durability = durability
        self._read_only = read_only
        self._check_file = check
        self._state = threading.Condition(threading.Lock())
        self._idle: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._working: dict[int, int] = {}
        """Thread -> connections it uses now."""
        self._forking = False
        self._closed = False
        self._generation = 0
        forks.register(self)

    # opening ------------------------------------------------------------------------------------------
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
            timeout=self.busy_ms / 1000,
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
            self._check_file(conn)
            if self._read_only:
                conn.execute("PRAGMA query_only = ON")
            else:
                conn.execute("PRAGMA journal_mode = WAL").fetchone()
                conn.execute(f"PRAGMA journal_size_limit = {LOG_LIMIT_BYTES}")
                conn.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        except BaseException:
            conn.close()
            raise
        return conn

    # use ----------------------------------------------------------------------------------------------
    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a read transaction; the moment is fixed by the first statement."""
        with self._at_work() as generation:
            with self._state:
                conn = self._idle.pop() if self._idle else None
            if conn is None:
                conn = self.connect()
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
                self._give_back(conn, generation, healthy)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The writer inside BEGIN IMMEDIATE: committed at the end of the block, rolled back when it raises."""
        with self.exclusive() as conn:
            generation = self._generation
            conn.execute("BEGIN IMMEDIATE")
            try:
                yield conn
                if generation != self._generation:
                    raise UnavailableError(f"{self.database.parent}: the process was forked inside this write")
                conn.execute("COMMIT")
            except BaseException:
                # A full disk rolls back by itself, and a child must not touch its parent's transaction.
                if generation == self._generation and conn.in_transaction:
                    conn.execute("ROLLBACK")
                raise

    @contextmanager
    def exclusive(self, timeout: float | None = None) -> Iterator[sqlite3.Connection]:
        """The writer outside any transaction while other writers wait; BusyError after the timeout (seconds)."""
        self.check_open()
        generation = self._generation
        self.lock.acquire(timeout)
        try:
            with self._at_work():
                if self._writer is None:
                    self._writer = self.connect(writer=True)
                yield self._writer
        finally:
            if generation == self._generation:
                if self._closed:
                    self._close_writer()
                self.lock.release()

    @contextmanager
    def _at_work(self) -> Iterator[int]:
        me = threading.get_ident()
        with self._state:
            # A thread that works already goes on: a fork does not wait for it to end what it began.
            while self._forking and me not in self._working:
                self._state.wait()
            self.check_open()
            self._working[me] = self._working.get(me, 0) + 1
            generation = self._generation
        try:
            yield generation
        finally:
            if generation == self._generation:
                with self._state:
                    left = self._working[me] - 1
                    if left:
                        self._working[me] = left
                    else:
                        del self._working[me]
                        if self._forking:
                            self._state.notify_all()

    def _give_back(self, conn: sqlite3.Connection, generation: int, healthy: bool) -> None:
        if generation != self._generation:
            _crossed.append(conn)
            return
        with self._state:
            if healthy and not self._closed and len(self._idle) < MAX_IDLE:
                self._idle.append(conn)
                return
        conn.close()

    # the end, and forks -------------------------------------------------------------------------------
    def close(self) -> None:
        """Idle connections are closed now, those at work when they come back. Harmless when repeated."""
        with self._state:
            self._closed = True
            idle, self._idle = self._idle, []
        for conn in idle:
            conn.close()
        # A write that is running closes its connection itself when it sees that the pool is closed.
        if self.lock.hold_threads(self.busy_ms / 1000):
            try:
                self._close_writer()
            finally:
                self.lock.free_threads()

    def before_fork(self, wait: float) -> bool:
        """No connection is open, or False when one was still at work after ``wait`` seconds."""
        deadline = time.monotonic() + wait
        with self._state:
            self._forking = True
            if threading.get_ident() in self._working:
                return False
            while self._working:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._state.wait(left)
            for conn in self._idle:
                conn.close()
            self._idle.clear()
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            return True

    def after_fork(self, *, child: bool) -> None:
        """The pool works again; in a child it begins empty."""
        if not child:
            with self._state:
                self._forking = False
                self._state.notify_all()
            return
        _crossed.extend(self._idle)
        if self._writer is not None:
            _crossed.append(self._writer)
        self._idle, self._writer, self._working = [], None, {}
        self._forking = False
        self._generation += 1
        self._state = threading.Condition(threading.Lock())
        self.lock.after_fork()

    def check_open(self) -> None:
        """Raises UnavailableError when the store is closed or must not be used in this process."""
        if self._closed:
            raise UnavailableError(f"{self.database.parent}: the store is closed")
        if forks.crossed(self.database):
            raise UnavailableError(
                f"{self.database.parent}: this process was forked while its parent was inside a read or write of "
                "the store; fork outside of them, or start processes with spawn"
            )

    def _close_writer(self) -> None:
        conn, self._writer = self._writer, None
        if conn is not None:
            conn.close()
        self.lock.close()


def _has_log(database: Path) -> bool:
    log = database.with_name(database.name + "-wal")
    return log.exists() and log.stat().st_size > 0
