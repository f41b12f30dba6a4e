"""What a store is on every engine: readers and writers of one user, caches, listeners."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ltm_core.errors import ConfigError, UnavailableError
from ltm_core.spans import stage
from ltm_core.store.keyed import Keyed
from ltm_core.store.sql.base import Core
from ltm_core.store.sql.reader import SqlReader
from ltm_core.store.sql.writer import SqlWriter
from ltm_core.store.vault import StoreKeys, Vault
from ltm_core.types import FactChange

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.store.external import VectorHost, VectorIndex
    from ltm_core.store.keys import KeyProvider
    from ltm_core.store.sql.engine import Connection, IndexLock
    from ltm_core.store.sql.external import ExternalVectors
    from ltm_core.store.sql.operations import SqlOperations
    from ltm_core.store.sql.snapshot import SnapshotCache

Listener = Callable[[Sequence[FactChange]], None]


class SqlStore(ABC):
    """`ltm_core.store.base.Store`, as far as no engine is needed."""

    core: Core
    config: Config
    directory: Path | None = None
    """Where files of the store are that no table holds; None when there are none."""
    writer: ClassVar[type[SqlWriter]] = SqlWriter

    is_split: ClassVar[bool] = False
    """Whether each row of a user has ``user_no`` beside it, and tables are split by it."""

    def __init__(
        self,
        *,
        config: Config,
        read_only: bool,
        clock: Callable[[], datetime] | None,
        keys: KeyProvider | None,
        key: bytes | None,
    ) -> None:
        """``key``: the store key that a store made now gets."""
        self.config = config
        self.clock = clock or _now
        self._read_only = read_only
        self._provider = keys
        self._fresh = key
        self._caches: dict[int, SnapshotCache] = {}
        self._listeners: tuple[Listener, ...] = ()
        self.on_index_change: Callable[[], None] = _nothing
        """Called after a commit that changed what an external index holds."""

    def _core_of(self, path: str, held: StoreKeys, **engine: Any) -> Core:
        """What readers and writers share, under these keys; ``engine``: what `Core` asks of an engine."""
        return Core(
            path=path,
            keyed=Keyed(held.hashing),
            vault=Vault(held) if held.encrypted else None,
            name=held.name,
            clock=self.clock,
            reading=self.reading,
            snapshots=self._snapshots,
            **engine,
        )

    # the engine ---------------------------------------------------------------------------------------
    @property
    @abstractmethod
    def location(self) -> str: ...

    @property
    def read_only(self) -> bool:
        return self._read_only

    @abstractmethod
    def connection(self, *, write: bool = False, alone: bool = False) -> AbstractContextManager[Connection]:
        """A transaction that is not one user's; for `SqlOperations`. ``alone``: no write of a user is under way."""

    @abstractmethod
    def reading(self, user_id: str) -> AbstractContextManager[Connection]:
        """A read transaction in which this user is seen."""

    @abstractmethod
    def writing(self, user_id: str) -> AbstractContextManager[Connection]:
        """The one write transaction in which this user is changed."""

    def rename_tables(self, conn: Connection, names: Sequence[tuple[str, str]]) -> None:
        """Each table of the first name has the second one, in order, inside the connection's transaction."""
        for old, new in names:
            conn.execute(f"ALTER TABLE {old} RENAME TO {new}")

    @abstractmethod
    def last_numbers(self, conn: Connection) -> dict[str, int]:
        """Per table whose numbers are never given twice, the last one that was given."""

    @abstractmethod
    def raise_numbers(self, conn: Connection, last: Mapping[str, int]) -> None:
        """No number up to these is given from now on."""

    @abstractmethod
    def operations(self) -> SqlOperations: ...

    @abstractmethod
    def index_lock(self) -> IndexLock:
        """Free; held by whoever keeps an external index of this store."""

    @abstractmethod
    def sealed_key(self) -> bytes:
        """The key file of an encrypted store as it is now."""

    @abstractmethod
    def close(self) -> None: ...

    # users --------------------------------------------------------------------------------------------
    @contextmanager
    def read(self, user_id: str) -> Iterator[SqlReader]:
        with self.reading(user_id) as conn:
            reader = SqlReader(self.core, conn, user_id)
            try:
                yield reader
            finally:
                reader.end()

    @contextmanager
    def write(self, user_id: str) -> Iterator[SqlWriter]:
        # Waiting for other writers is part of it.
        with stage("transaction"), self.writing(user_id) as conn:
            writer = self.writer(self.core, conn, user_id)
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

    def listen(self, callback: Listener) -> Callable[[], None]:
        def end() -> None:
            self._listeners = tuple(known for known in self._listeners if known is not listener)

        def listener(changes: Sequence[FactChange]) -> None:
            callback(changes)

        # Replaced, never changed: a write that is under way goes on with those it saw.
        self._listeners = (*self._listeners, listener)
        return end

    # the store ----------------------------------------------------------------------------------------
    def attach(self, host: VectorHost, *, at_least: int, candidates: int) -> ExternalVectors:
        """Users with at least so many chunks are searched in the external index, when this process is its owner."""
        from ltm_core.store.sql.external import ExternalVectors

        self._check_writable()
        index = ExternalVectors(self, host, at_least=at_least, candidates=candidates)
        index.start()
        self.core.attached.index = index
        return index

    def attach_pgvector(self, *, at_least: int, candidates: int, graph_from: int) -> VectorIndex:
        """Users with at least so many chunks are searched by pgvector, those with ``graph_from`` by its graph.
        ConfigError where there is none."""
        self.check_pgvector()
        raise NotImplementedError

    def check_pgvector(self) -> None:
        """ConfigError where the engine has no such index."""
        raise ConfigError(f'{self.location}: vectors="pgvector" needs a store in PostgreSQL')

    @property
    def name(self) -> str:
        """The same in every copy of the store, and in no other one; tells nothing of the key."""
        return self.core.name

    def mac(self, value: str) -> str:
        return self.core.keyed.mac(value).hex()

    def _check_writable(self) -> None:
        if self.read_only:
            raise UnavailableError(f"{self.location} is open for reading only")

    def _drop_caches(self) -> VectorIndex | None:
        """Nothing of any user is cached; returns the external index that was attached, to be closed."""
        self._caches.clear()
        self.core.kept.clear()
        index, self.core.attached.index = self.core.attached.index, None
        return index

    def _snapshots(self) -> SnapshotCache:
        # By process: the cache of a parent may be locked by a thread that the child does not have.
        pid = os.getpid()
        cache = self._caches.get(pid)
        if cache is None:
            from ltm_core.store.sql.snapshot import SnapshotCache

            self._caches.clear()
            cache = self._caches.setdefault(pid, SnapshotCache(self.config.vector_cache_mb * 1024 * 1024))
        return cache


def _now() -> datetime:
    return datetime.now(UTC)


def _nothing() -> None:
    """Nobody waits for it."""


__all__ = ["SqlStore"]
