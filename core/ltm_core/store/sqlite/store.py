"""One open SQLite store: a directory, its connections, its cache."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.config import Config
from ltm_core.errors import UnavailableError
from ltm_core.store.keyed import Keyed
from ltm_core.store.sqlite.base import Core
from ltm_core.store.sqlite.connections import Pool
from ltm_core.store.sqlite.encrypting import begin, require_same
from ltm_core.store.sqlite.faults import translated
from ltm_core.store.sqlite.files import DATABASE, LOCK, load_key, load_keys, prepare
from ltm_core.store.sqlite.locks import WriteLock
from ltm_core.store.sqlite.migrations import migrate, require_current, version
from ltm_core.store.sqlite.operations import SqliteOperations
from ltm_core.store.sqlite.reader import SqliteReader
from ltm_core.store.sqlite.writer import SqliteWriter
from ltm_core.store.times import to_us
from ltm_core.store.vault import StoreKeys, Vault
from ltm_core.types import FactChange

if TYPE_CHECKING:
    from ltm_core.store.external import VectorHost
    from ltm_core.store.keys import KeyProvider
    from ltm_core.store.sqlite.external import ExternalVectors
    from ltm_core.store.sqlite.snapshot import SnapshotCache

Listener = Callable[[Sequence[FactChange]], None]
MEMORY = ":memory:"


def _now() -> datetime:
    return datetime.now(UTC)


class SqliteStore:
    """`ltm_core.store.base.Store` on one SQLite file."""

    def __init__(
        self,
        location: str | os.PathLike[str],
        *,
        config: Config,
        read_only: bool = False,
        clock: Callable[[], datetime] | None = None,
        keys: KeyProvider | None = None,
    ) -> None:
        self.config = config
        self._provider = keys
        self._location = os.fspath(location)
        self._read_only = read_only
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
            held = self._open(clock or _now)
            self.core = Core(
                path=str(self.directory / DATABASE),
                keyed=Keyed(held.hashing),
                vault=Vault(held) if held.encrypted else None,
                name=held.name,
                clock=clock or _now,
                reading=self._pool.reading,
                snapshots=self._snapshots,
            )
        except BaseException:
            if temporary:
                shutil.rmtree(self.directory, ignore_errors=True)
            raise
        self._caches: dict[int, SnapshotCache] = {}
        self._listeners: tuple[Listener, ...] = ()
        self.on_index_change: Callable[[], None] = _nothing
        """Called after a commit that changed what an external index holds."""
        self._finalizer = weakref.finalize(
            self, _close, self._pool, self.directory if temporary else None, os.getpid()
        )

    def _open(self, clock: Callable[[], datetime]) -> StoreKeys:
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
                    held = load_keys(self.directory, read_only=False, provider=self._provider)
                with self._pool.exclusive() as conn:
                    migrate(conn, path, Keyed(held.hashing), now_us=to_us(clock()))
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
    def read_only(self) -> bool:
        return self._read_only

    @property
    def busy_ms(self) -> int:
        """Milliseconds a statement waits for a lock."""
        return self._pool.busy_ms

    @contextmanager
    def read(self, user_id: str) -> Iterator[SqliteReader]:
        with translated(self.core.path), self._pool.reading() as conn:
            reader = SqliteReader(self.core, conn, user_id)
            try:
                yield reader
            finally:
                reader.end()

    @contextmanager
    def write(self, user_id: str) -> Iterator[SqliteWriter]:
        self._check_writable()
        with translated(self.core.path), self._pool.writing() as conn:
            writer = SqliteWriter(self.core, conn, user_id)
            try:
                yield writer
                writer.finish()
            finally:
                writer.end()
        if writer.erased or writer.has_removed:
            self.core.kept.drop(user_id)
        if writer.erased and os.getpid() in self._caches:
            self._snapshots().drop(user_id)
        if writer.index_changed:
            self.on_index_change()
        if writer.logged:
            for listener in self._listeners:
                listener(tuple(writer.logged))

    def attach(self, host: VectorHost, *, at_least: int, candidates: int) -> ExternalVectors:
        """Users with at least so many chunks are searched in the external index, when this process is its owner."""
        from ltm_core.store.sqlite.external import ExternalVectors

        self._check_writable()
        index = ExternalVectors(self, host, at_least=at_least, candidates=candidates)
        index.start()
        self.core.attached.index = index
        return index

    def listen(self, callback: Listener) -> Callable[[], None]:
        def end() -> None:
            self._listeners = tuple(known for known in self._listeners if known is not listener)

        def listener(changes: Sequence[FactChange]) -> None:
            callback(changes)

        # Replaced, never changed: a write that is under way goes on with those it saw.
        self._listeners = (*self._listeners, listener)
        return end

    def operations(self) -> SqliteOperations:
        return SqliteOperations(self)

    @property
    def name(self) -> str:
        """The same in every copy of the store, and in no other one; tells nothing of the key."""
        return self.core.name

    def sealed_key(self) -> bytes:
        """The key file of an encrypted store as it is now."""
        return load_key(self.directory, read_only=True)

    def mac(self, value: str) -> str:
        return self.core.keyed.mac(value).hex()

    def close(self) -> None:
        """All connections are closed; a temporary store is gone. Harmless when repeated."""
        self._caches.clear()
        self.core.kept.clear()
        index, self.core.attached.index = self.core.attached.index, None
        if index is not None and self._finalizer.alive:
            index.close()
        self._finalizer()

    @contextmanager
    def connection(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction that is not one user's; for `SqliteOperations`."""
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

    def _check_writable(self) -> None:
        if self._read_only:
            raise UnavailableError(f"{self._location} is open for reading only")

    def _snapshots(self) -> SnapshotCache:
        # By process: the cache of a parent may be locked by a thread that the child does not have.
        pid = os.getpid()
        cache = self._caches.get(pid)
        if cache is None:
            from ltm_core.store.sqlite.snapshot import SnapshotCache

            self._caches.clear()
            cache = self._caches.setdefault(pid, SnapshotCache(self.config.vector_cache_mb * 1024 * 1024))
        return cache


def _nothing() -> None:
    """Nobody waits for it."""


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
) -> SqliteStore:
    """The store in the directory ``location``, created when absent; ":memory:" is a temporary one.

    Raises UnavailableError (a file, not writable, a network file system), CorruptError (not ours, damaged, no
    key), SchemaTooNewError, MasterKeyError (encrypted, and no or another master key) or ConfigError (``keys`` given,
    and the store is plain). ``clock`` says what "now" is where no time is given.
    """
    return SqliteStore(location, config=config, read_only=read_only, clock=clock, keys=keys)
