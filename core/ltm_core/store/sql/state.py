"""What holds for the store as a whole: its settings, its embedder, its sets of vectors, its external index."""

from __future__ import annotations

import logging
from datetime import datetime

from ltm_core.errors import ConflictError
from ltm_core.store.base import VectorSets
from ltm_core.store.sql.base import LISTED, MIRRORED
from ltm_core.store.sql.lookups import SET_SETTING, name_of, plain_users
from ltm_core.store.sql.queue import Queue
from ltm_core.store.sql.second import begin_second, drop_second, switch, vector_sets
from ltm_core.store.times import to_us

log = logging.getLogger("ltm")


class StoreState(Queue):
    """The side of `SqlOperations` that changes the store as a whole; every method is its own transaction."""

    def erase_external(self) -> None:
        """No vector that was removed is left in the files of an external index, or its owner sees to it."""
        index = self._store.core.attached.index
        directory = self._store.directory
        if index is None and directory is not None and (directory / "chroma").is_dir():
            from ltm_core.store.sql.external_rest import left_behind

            index = left_behind(self._store)
        if index is not None:
            try:
                index.erase()
            except Exception as e:  # noqa: BLE001  the owner does it, or the next one that opens the index
                log.warning("an external index was not told of an erasure yet: %s", type(e).__name__)

    def work_external(self) -> int:
        index = self._store.core.attached.index
        return 0 if index is None else index.step()

    def compact_external(self) -> int:
        index = self._store.core.attached.index
        if index is not None:
            return index.erase()
        from ltm_core.store.sql.external_rest import abandon

        return int(abandon(self._store))

    def external_drift(self, *, repair: bool) -> dict[str, int]:
        index = self._store.core.attached.index
        if index is None:
            return {}
        from ltm_core.store.sql.external_rest import drift

        found = drift(index, repair=repair)
        with self._store.connection() as conn:
            names = {no: name_of(self._store.core, conn, no) for no in found}
        return {name: found[no] for no, name in names.items() if name is not None}

    def plain_users(self) -> int:
        with self._store.connection() as conn:
            return plain_users(conn)

    def serve_vectors(self, serving: bool = True) -> None:
        with self._store.connection() as conn:
            (generation,) = conn.execute("SELECT generation FROM state WHERE id = 1").fetchone()
        self._store.core.serving.generation = generation if serving else None

    def vector_sets(self) -> VectorSets:
        with self._store.connection() as conn:
            return vector_sets(conn)

    def begin_second(self, identity: str, *, dimension: int, now: datetime) -> None:
        with self._store.connection(write=True, alone=True) as conn:
            begin_second(conn, identity, dimension=dimension, now=now)

    def switch_vectors(self) -> int:
        with self._store.connection(write=True, alone=True) as conn:
            return switch(conn, self._store.rename_tables)

    def drop_second(self, *, limit: int) -> int:
        with self._store.connection(write=True, alone=True) as conn:
            return drop_second(conn, limit=limit)

    def setting(self, name: str) -> str | None:
        with self._store.connection() as conn:
            row = conn.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def set_setting(self, name: str, value: str | None) -> None:
        with self._store.connection(write=True) as conn:
            if value is None:
                conn.execute("DELETE FROM meta WHERE name = ?", (name,))
            else:
                conn.execute(SET_SETTING, (name, value))

    def embedder_identity(self) -> str | None:
        with self._store.connection() as conn:
            row = conn.execute(
                "SELECT e.identity FROM state s JOIN embedders e ON e.no = s.embedder WHERE s.id = 1"
            ).fetchone()
        return None if row is None else row[0]

    def set_embedder_identity(self, identity: str, *, dimension: int, now: datetime) -> None:
        """The store's vectors are from now on those of this embedder; the others no longer count, and their
        chunks are again without a vector. ConflictError when the identity is known with another dimension."""
        with self._store.connection(write=True, alone=True) as conn:
            conn.execute(
                "INSERT INTO embedders (identity, dimension, created_at) VALUES (?, ?, ?) "
                "ON CONFLICT (identity) DO NOTHING",
                (identity, dimension, to_us(now)),
            )
            no, known = conn.execute("SELECT no, dimension FROM embedders WHERE identity = ?", (identity,)).fetchone()
            if known != dimension:
                raise ConflictError(f"embedder {identity!r} has dimension {known} in this store, not {dimension}")
            conn.execute("UPDATE state SET embedder = ?, dimension = ? WHERE id = 1", (no, dimension))

    def set_outbox(self, enabled: bool) -> None:
        """Whether changes of vectors are listed for an external index from now on; off empties the list."""
        with self._store.connection(write=True, alone=True) as conn:
            conn.execute(
                f"UPDATE state SET outbox = (outbox & {MIRRORED}) | ? WHERE id = 1", (LISTED if enabled else 0,)
            )
            if not enabled:
                conn.execute("DELETE FROM outbox")
