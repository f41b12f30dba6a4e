"""One open store in PostgreSQL: its connections, its keys, its cache."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.config import Config
from ltm_core.errors import ConfigError
from ltm_core.store.keyed import Keyed
from ltm_core.store.postgres import migrations
from ltm_core.store.postgres.faults import translated
from ltm_core.store.postgres.index_lock import SessionLock
from ltm_core.store.postgres.keys import KeyPlace, load
from ltm_core.store.postgres.location import place_of
from ltm_core.store.postgres.migrations import Layout
from ltm_core.store.postgres.operations import PostgresOperations
from ltm_core.store.postgres.pool import Pool
from ltm_core.store.postgres.schema import SEQUENCES
from ltm_core.store.postgres.session import Line, Session
from ltm_core.store.postgres.transactions import Beginnings, lock_number
from ltm_core.store.postgres.writer import PostgresWriter
from ltm_core.store.sql.base import checked_user
from ltm_core.store.sql.lookups import require_same
from ltm_core.store.sql.store import SqlStore
from ltm_core.store.times import to_us
from ltm_core.store.vault import StoreKeys

if TYPE_CHECKING:
    from ltm_core.store.external import VectorIndex
    from ltm_core.store.keys import KeyProvider
    from ltm_core.store.sql.engine import Connection, IndexLock


class PostgresStore(SqlStore):
    """`ltm_core.store.base.Store` in one schema of a database."""

    writer = PostgresWriter
    is_split = True

    def __init__(
        self,
        location: str,
        *,
        config: Config,
        read_only: bool = False,
        clock: Callable[[], datetime] | None = None,
        keys: KeyProvider | None = None,
        key: bytes | None = None,
    ) -> None:
        super().__init__(config=config, read_only=read_only, clock=clock, keys=keys, key=key)
        self.place = place_of(location)
        self.pool = Pool(self.place, most=config.postgres_connections, busy_timeout=config.busy_timeout_seconds)
        try:
            self.layout, held = self._open()
        except BaseException:
            self.pool.close()
            raise
        self.begin = Beginnings(self.place.schema, self.layout.roles, lock_ms=self.pool.busy_ms)
        self.core = self._core_of(
            self.place.shown, held, names_are_bytes=True, asks_ahead=True, feed_lock=self.begin.feed
        )
        self._finalizer = weakref.finalize(self, _close, self.pool, os.getpid())

    # opening ------------------------------------------------------------------------------------------
    def _open(self) -> tuple[Layout, StoreKeys]:
        """The database has the present schema and belongs to the keys, or an error says why not."""
        conn = self.pool.connect()
        try:
            with translated(self.place.shown):
                opened = self._brought_up(conn)
        except BaseException:
            conn.close()
            raise
        self.pool.keep(conn)
        return opened

    def _brought_up(self, conn: Line) -> tuple[Layout, StoreKeys]:
        layout = migrations.layout_of(conn, self.place)
        if self._read_only:
            layout = migrations.require_current(layout, self.place)
        elif layout is None or layout.version != migrations.SCHEMA_VERSION:
            with migrations.migrating(conn, self.place, wait_seconds=self.config.busy_timeout_seconds):
                # Read again: another process may have done it meanwhile.
                layout = migrations.layout_of(conn, self.place)
                if layout is None:
                    return self._created(conn)
                self._held(conn, layout)
                layout = migrations.migrate(conn, layout)
        return layout, self._held(conn, layout)

    def _held(self, conn: Line, layout: Layout) -> StoreKeys:
        """The keys that the store was written with."""
        held = load(self._keys(layout), is_new=False, provider=self._provider, where=self.place.shown)
        migrations.check_key(conn, self.place, Keyed(held.hashing))
        if not require_same(Session(conn), self.place.shown, held) and held.encrypted:
            raise ConfigError(
                f"{self.place.shown} is a plain store: copy it to a directory, `ltm encrypt` that, and copy it to "
                "a new place"
            )
        return held

    def _created(self, conn: Line) -> tuple[Layout, StoreKeys]:
        layout = migrations.new_layout(conn, self.place)
        # The key comes first: a database without its key is one that lost it.
        where = self.place.shown
        held = load(self._keys(layout), is_new=True, provider=self._provider, where=where, fresh=self._fresh)
        migrations.create(conn, self.place, layout, held, now_us=to_us(self.clock()))
        return layout, held

    def _keys(self, layout: Layout) -> KeyPlace:
        return KeyPlace(layout.store_id, self.place.key_file)

    # the store ----------------------------------------------------------------------------------------
    @property
    def location(self) -> str:
        return self.place.shown

    @contextmanager
    def reading(self, user_id: str) -> Iterator[Connection]:
        with self.pool.transaction(self.begin.read_user(self._name(user_id)), write=False) as session:
            yield session

    @contextmanager
    def writing(self, user_id: str) -> Iterator[Connection]:
        self._check_writable()
        with self.pool.transaction(self.begin.write_user(self._name(user_id)), write=True) as session:
            yield session

    def _name(self, user_id: str) -> bytes:
        name = self.core.stored_name(checked_user(user_id))
        return name.encode() if isinstance(name, str) else name

    @contextmanager
    def connection(self, *, write: bool = False, alone: bool = False) -> Iterator[Connection]:
        if write:
            self._check_writable()
        begin = self.begin.write_all(alone=alone) if write else self.begin.read_all()
        with self.pool.transaction(begin, write=write) as session:
            yield session

    def settled(self) -> int:
        """The last number of the feed of all users of which nothing is under way any more."""
        with self.pool.transaction(self.begin.settled(), write=True) as session:
            last, called = session.execute("SELECT last_value, is_called FROM changes_number").fetchone() or (0, 0)
        return int(last) if called else 0

    def last_numbers(self, conn: Connection) -> dict[str, int]:
        with self._as_owner(conn):
            rows = [
                (t, *conn.execute(f"SELECT last_value, is_called FROM {s}").fetchone()) for t, s in SEQUENCES.items()
            ]
        return {table: int(last) for table, last, is_called in rows if is_called}

    def raise_numbers(self, conn: Connection, last: Mapping[str, int]) -> None:
        known = self.last_numbers(conn)
        with self._as_owner(conn):
            for table, number in last.items():
                if number > known.get(table, 0):
                    conn.execute("SELECT setval(?::regclass, ?)", (SEQUENCES[table], number))

    @contextmanager
    def _as_owner(self, conn: Connection) -> Iterator[None]:
        """Whoever logged in, inside a transaction across users."""
        conn.execute("SET LOCAL ROLE NONE")
        yield
        conn.execute(f"SET LOCAL ROLE {self.layout.roles.across}")

    def rename_tables(self, conn: Connection, names: Sequence[tuple[str, str]]) -> None:
        with self._as_owner(conn):
            super().rename_tables(conn, names)

    def operations(self) -> PostgresOperations:
        return PostgresOperations(self)

    def index_lock(self) -> IndexLock:
        return SessionLock(self.pool, lock_number(self.place.schema, "external vectors"), self.place.shown)

    def check_pgvector(self) -> None:
        """There is one, if the database has the extension: who attaches it finds out."""

    def attach_pgvector(self, *, at_least: int, candidates: int, graph_from: int) -> VectorIndex:
        from ltm_core.store.postgres.near import PgVectors

        self._check_writable()
        index = PgVectors(self, at_least=at_least, candidates=candidates, graph_from=graph_from)
        self.core.attached.index = index
        return index

    @property
    def key_shown(self) -> str:
        """Where the key is; not the key."""
        return self._keys(self.layout).shown

    def sealed_key(self) -> bytes:
        return self._keys(self.layout).read() or b""

    def close(self) -> None:
        """All connections are closed. Harmless when repeated."""
        index = self._drop_caches()
        if index is not None and self._finalizer.alive:
            index.close()
        self._finalizer()


def holds_store(location: str) -> bool:
    """Whether there is a store to open."""
    place = place_of(location)
    with Pool(place, most=1, busy_timeout=0.0).connect() as conn, translated(place.shown):
        return migrations.layout_of(conn, place) is not None


def _close(pool: Pool, pid: int) -> None:
    if os.getpid() == pid:
        pool.close()


__all__ = ["PostgresStore", "holds_store"]
