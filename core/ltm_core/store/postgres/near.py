"""pgvector as an index: the vectors of large users once more, as a type the server compares, beside the store's own.

A user's vectors are mirrored in the transaction that writes or removes them, whichever process does it
(`MirrorWriter`). The index names rows; their cosines are computed from the store's own vectors, as for every index.
Every process may ask; what has to be made is made by one at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ltm_core.errors import BusyError, ConfigError
from ltm_core.store.postgres import near_schema
from ltm_core.store.postgres.faults import translated
from ltm_core.store.postgres.halves import Halves
from ltm_core.store.postgres.index_lock import SessionLock
from ltm_core.store.postgres.mirror import MirrorWriter
from ltm_core.store.postgres.near_schema import MOST_DIMENSIONS, USERS, VECTORS
from ltm_core.store.postgres.transactions import lock_number
from ltm_core.store.sql.base import MIRRORED
from ltm_core.store.sql.lookups import name_of
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.sql.vectors import encode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.store.postgres.store import PostgresStore
    from ltm_core.store.sql.base import View
    from ltm_core.store.sql.engine import Connection

_STOP_SECONDS = 5.0
"""How long closing waits for the thread that fills the index."""
_KNOWN = f"SELECT graph FROM {USERS} WHERE user_no = ? AND embedder = ? AND generation = ? AND filled = 1"
_UNFILLED = (
    "SELECT user_no FROM users WHERE chunk_count >= ? AND NOT EXISTS "
    f"(SELECT 1 FROM {USERS} p WHERE p.user_no = users.user_no AND p.filled = 1) LIMIT 1"
)
_OUTSIDE = (
    f"SELECT 1 FROM {USERS} p JOIN users u ON u.user_no = p.user_no "
    "WHERE p.filled = 1 AND p.graph = 0 AND u.chunk_count >= ? LIMIT 1"
)
_DIFFERING = (
    f"SELECT coalesce(v.user_no, n.user_no), count(*) FROM (SELECT user_no, id FROM vectors WHERE user_no IN "
    f"(SELECT user_no FROM {USERS} WHERE filled = 1)) v FULL JOIN {VECTORS} n "
    "ON n.user_no = v.user_no AND n.id = v.id WHERE v.id IS NULL OR n.id IS NULL GROUP BY 1"
)


class PgVectors:
    """`ltm_core.store.external.VectorIndex` inside the store's own database."""

    owned = True

    def __init__(self, store: PostgresStore, *, at_least: int, candidates: int, graph_from: int) -> None:
        """ConfigError when the database has no pgvector, or the embedder too many dimensions for it."""
        self._store = store
        self._at_least = at_least
        self._candidates = candidates
        self._graph_from = max(graph_from, at_least)
        self._closing = False
        self.stop: Callable[[float], bool] = lambda timeout: True
        self.wake: Callable[[], None] = _nobody
        """Called when a user is searched whose vectors should be here and are not."""
        with store.pool.connect() as conn, translated(store.location):
            self._pgvector = near_schema.extension(conn, store.location)
        self._exactly = near_schema.exactly(self._pgvector)
        self._by_graph = near_schema.by_graph(self._pgvector)
        with store.connection() as session:
            dimension = _dimension(session)
        if dimension > MOST_DIMENSIONS:
            raise ConfigError(f"pgvector takes {MOST_DIMENSIONS} dimensions, the store's embedder has {dimension}")
        with self._working() as free:
            if free:
                self._make()

    # asking -------------------------------------------------------------------------------------------
    def covers(self, view: View) -> bool:
        if view.chunk_count < self._at_least:
            return False
        known = self._graph_of(view, view.conn) is not None
        if not known:
            self.wake()
        return known

    def near(self, view: View, conn: Connection, vector: NDArray[np.float32]) -> list[int] | None:
        if view.chunk_count < self._at_least:
            return None
        graph = self._graph_of(view, conn)
        if graph is None or not math.isfinite(vector.sum()):
            return None
        # A graph walks past the rows of others: for a smaller user comparing all is quicker, and misses none.
        sql = self._by_graph if graph and view.chunk_count >= self._graph_from else self._exactly
        target = Halves(encode(vector, view.dimension))
        rows = conn.execute(sql, (view.no, target, self._candidates)).fetchall()
        return [r[0] & ITEM_MASK for r in rows]

    def _graph_of(self, view: View, conn: Connection) -> bool | None:
        """Whether the graph finds the user's rows; None when they are not all here."""
        if not view.mirrored:
            return None
        row = conn.execute(_KNOWN, (view.no, view.embedder, view.generation)).fetchone()
        return None if row is None else bool(row[0])

    # working ------------------------------------------------------------------------------------------
    def step(self) -> int:
        """The tables are those of the present embedder, one user more is here, or the graph is; returns how much was
        done, 0 when nothing is left or another process is at it."""
        if not self.is_behind():
            return 0
        with self._working() as free:
            return (self._make() or self._fill() or self._build()) if free else 0

    def erase(self) -> int:
        """Nothing is left to do: an erasure removes its rows here in its own transaction."""
        return 0

    def differing(self) -> dict[int, int]:
        """User number -> rows in which this and the store differ."""
        with self._store.connection() as conn:
            if not _is_mirrored(conn):
                return {}
            return {int(no): int(count) for no, count in conn.execute(_DIFFERING)}

    def drop(self, no: int) -> None:
        """Nothing of the user is here; `step` copies it again."""
        with self._store.connection(write=True) as conn:
            for table in (USERS, VECTORS):
                conn.execute(f"DELETE FROM {table} WHERE user_no = ?", (no,))

    def close(self) -> None:
        self._closing = True
        self.stop(_STOP_SECONDS)

    @contextmanager
    def _working(self) -> Iterator[bool]:
        """Whether no other process makes anything here meanwhile."""
        store = self._store
        lock = SessionLock(store.pool, lock_number(store.place.schema, near_schema.LOCK), store.location)
        try:
            lock.acquire()
        except BusyError:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def is_behind(self) -> bool:
        with self._store.connection() as conn:
            if not _dimension(conn):
                return False
            return self._is_stale(conn) or any(
                conn.execute(sql, (least,)).fetchone() is not None
                for sql, least in ((_UNFILLED, self._at_least), (_OUTSIDE, self._graph_from))
            )

    def _is_stale(self, conn: Connection) -> bool:
        """Whether there are no tables, or some for another set of vectors."""
        if not _is_mirrored(conn) or near_schema.dimension_of(conn) != _dimension(conn):
            return True
        return (
            conn.execute(
                f"SELECT 1 FROM {USERS} p JOIN state s ON p.embedder <> s.embedder OR p.generation <> s.generation "
                "LIMIT 1"
            ).fetchone()
            is not None
        )

    def _make(self) -> int:
        """The tables are there, empty, for the set of vectors that is searched."""
        layout = self._store.layout
        with self._store.connection(write=True, alone=True) as conn:
            dimension = _dimension(conn)
            if not 0 < dimension <= MOST_DIMENSIONS or not self._is_stale(conn):
                return 0
            # The roles of transactions own nothing.
            conn.execute("SET LOCAL ROLE NONE")
            for sql in near_schema.tables(self._pgvector, dimension, layout.partitions, layout.roles):
                conn.execute(sql)
            conn.execute(f"UPDATE state SET outbox = outbox | {MIRRORED} WHERE id = 1")
        return 1

    def _fill(self) -> int:
        with self._store.connection() as conn:
            row = conn.execute(_UNFILLED, (self._at_least,)).fetchone()
            name = None if row is None else name_of(self._store.core, conn, row[0])
        if name is None:
            return 0
        with self._mirror_of(name) as writer:
            writer.begin_mirror()
        last, count = 0, 0
        while not self._closing:
            with self._mirror_of(name) as writer:
                last, more = writer.mirror_page(last)
                count += more
                if not more:
                    writer.end_mirror()
                    break
        return max(count, 1)

    @contextmanager
    def _mirror_of(self, user_id: str) -> Iterator[MirrorWriter]:
        with self._store.write(user_id) as writer:
            assert isinstance(writer, MirrorWriter)
            yield writer

    def _build(self) -> int:
        with self._store.connection() as conn:
            if conn.execute(_OUTSIDE, (self._graph_from,)).fetchone() is None:
                return 0
        with self._store.pool.connect() as conn, translated(self._store.location):
            near_schema.build_graph(conn, self._pgvector, self._store.layout.partitions)
        with self._store.connection(write=True) as conn:
            return conn.execute(f"UPDATE {USERS} SET graph = 1 WHERE filled = 1 AND graph = 0").rowcount


def _dimension(conn: Connection) -> int:
    """Of the vectors that are searched; 0 while there is no embedder."""
    return int(conn.execute("SELECT dimension FROM state WHERE id = 1").fetchone()[0])


def _is_mirrored(conn: Connection) -> bool:
    return bool(conn.execute("SELECT outbox FROM state WHERE id = 1").fetchone()[0] & MIRRORED)


def _nobody() -> None:
    """No thread fills the index."""


__all__ = ["PgVectors"]
