"""One open SQLite store: a directory, its connections, its cache."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.config import Config
from ltm_core.store.keyed import Keyed
from ltm_core.store.sql.lookups import require_same
from ltm_core.store.sql.store import SqlStore
from ltm_core.store.sqlite.connections import Pool
from ltm_core.store.sqlite.encrypting import begin
from ltm_core.store.sqlite.faults import translated
from ltm_core.store.sqlite.files import DATABASE, LOCK, load_key, load_keys, prepare
from ltm_core.store.sqlite.locks import WriteLock
from ltm_core.store.sqlite.migrations import migrate, require_current, version
from ltm_core.store.sqlite.operations import SqliteOperations
from ltm_core.store.times import to_us
from ltm_core.store.vault import StoreKeys

if TYPE_CHECKING:
    from ltm_core.store.keys import KeyProvider
    from ltm_core.store.sql.engine import Connection, IndexLock

_INDEX_LOCK = "vectors.lock"
MEMORY = ":memory:"


class SqliteStore(SqlStore):
    """`ltm_core.store.base.Store` on one SQLite file."""

    directory: Path

    def __init__(
        self,
        location: str | os.PathLike[str],
        *,
        config: Config,
        read_only: bool = False,
        clock: Callable[[], datetime] | None = None,
        keys: KeyProvider | None = None,
        key: bytes | None = None,
    ) -> None:
        super().__init__(config=config, read_only=read_only, clock=clock, keys=keys, key=key)
        self._location = os.fspath(location)
        temporary = self._location == MEMORY
        self.directory = Path(tempfile.mkdtemp(prefix="ltm-") if temporary else self._location).absolute()
        try:
            prepare(self.directory, read_only=read_only, allow_network=config.allow_network_filesystem)
            lock = WriteLock(self.directory / LOCK, config.busy_timeout_seconds)
            self._pool = Pool(
                self.directory / DATABASE,
                durability=config.durability,
                busy_timeout=config.busy_timeout_seconds,
                read_only=read_only,
                lock=lock,
                check=self._check_file,
            )
            held = self._open()
            self.core = self._core_of(str(self.directory / DATABASE), held)
        except BaseException:
            if temporary:
                shutil.rmtree(self.directory, ignore_errors=True)
            raise
        self._finalizer = weakref.finalize(
            self, _close, self._pool, self.directory if temporary else None, os.getpid()
        )

    def _open(self) -> StoreKeys:
        """The file has the present schema and belongs to the keys, or an error says why not."""
        path = str(self._pool.database)
        try:
            self._pool.check_open()
            with translated(path):
                if self._read_only:
                    held = load_keys(self.directory, read_only=True, provider=self._provider)
                    with self._pool.reading() as conn:
                        require_current(conn, path, Keyed(held.hashing))
                        require_same(conn, path, held)
                    return held
                # The key comes first: a database without its key is one that lost it.
                with self._pool.lock:
                    held = load_keys(self.directory, read_only=False, provider=self._provider, fresh=self._fresh)
                with self._pool.exclusive() as conn:
                    migrate(conn, path, Keyed(held.hashing), now_us=to_us(self.clock()))
                    begin(conn, path, held)
                return held
        except BaseException:
            self._pool.close()
            raise

    def _check_file(self, conn: sqlite3.Connection) -> None:
        version(conn, str(self.directory / DATABASE))

    @property
    def location(self) -> str:
        return self._location

    @property
    def busy_ms(self) -> int:
        """Milliseconds a statement waits for a lock."""
        return self._pool.busy_ms

    @contextmanager
    def reading(self, user_id: str) -> Iterator[sqlite3.Connection]:
        with translated(self.core.path), self._pool.reading() as conn:
            yield conn

    @contextmanager
    def writing(self, user_id: str) -> Iterator[sqlite3.Connection]:
        with self.connection(write=True) as conn:
            yield conn

    def index_lock(self) -> IndexLock:
        return WriteLock(self.directory / _INDEX_LOCK, 0.0)

    def last_numbers(self, conn: Connection) -> dict[str, int]:
        return dict(conn.execute("SELECT name, seq FROM sqlite_sequence").fetchall())

    def raise_numbers(self, conn: Connection, last: Mapping[str, int]) -> None:
        # The table has no unique column: a row is there only after the first number was given.
        known = self.last_numbers(conn)
        for table, number in last.items():
            if table not in known:
                conn.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))
            elif number > known[table]:
                conn.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (number, table))

    def operations(self) -> SqliteOperations:
        return SqliteOperations(self)

    def sealed_key(self) -> bytes:
        """The key file of an encrypted store as it is now."""
        return load_key(self.directory, read_only=True)

    def close(self) -> None:
        """All connections are closed; a temporary store is gone. Harmless when repeated."""
        index = self._drop_caches()
        if index is not None and self._finalizer.alive:
            index.close()
        self._finalizer()

    @contextmanager
    def connection(self, *, write: bool = False, alone: bool = False) -> Iterator[sqlite3.Connection]:
        if write:
            self._check_writable()
        with translated(self.core.path), self._pool.writing() if write else self._pool.reading() as conn:
            yield conn

    @contextmanager
    def exclusive(self, timeout: float) -> Iterator[sqlite3.Connection]:
        """The writer's connection outside a transaction while other writers wait; for `SqliteOperations`."""
        self._check_writable()
        with translated(self.core.path), self._pool.exclusive(timeout) as conn:
            yield conn


def _close(pool: Pool, temporary: Path | None, pid: int) -> None:
    pool.close()
    if temporary is not None and os.getpid() == pid:
        shutil.rmtree(temporary, ignore_errors=True)


def open_store(
    location: str | os.PathLike[str],
    *,
    config: Config,
    read_only: bool = False,
    clock: Callable[[], datetime] | None = None,
    keys: KeyProvider | None = None,
    key: bytes | None = None,
) -> SqliteStore:
    """The store in the directory ``location``, created when absent; ":memory:" is a temporary one.

    Raises UnavailableError (a file, not writable, a network file system), CorruptError (not ours, damaged, no
    key), SchemaTooNewError, MasterKeyError (encrypted, and no or another master key) or ConfigError (``keys`` given,
    and the store is plain). ``clock`` says what "now" is where no time is given. ``key``: what the key file of a
    store that is made now holds, when it is to be the copy of another one.
    """
    return SqliteStore(location, config=config, read_only=read_only, clock=clock, keys=keys, key=key)
