"""What looks across users in PostgreSQL: the feed, the files that are a server's, checks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.errors import UnavailableError
from ltm_core.store.postgres import near_schema
from ltm_core.store.postgres.migrations import SCHEMA_VERSION
from ltm_core.store.postgres.rewriting import rewrite
from ltm_core.store.postgres.transactions import lock_number
from ltm_core.store.rows import Copied
from ltm_core.store.sql.operations import SqlOperations

if TYPE_CHECKING:
    from ltm_core.store.postgres.store import PostgresStore

_OURS = "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ?"


class PostgresOperations(SqlOperations):
    """Across users, in one schema of a database."""

    _store: PostgresStore

    def change_marks(self, *, after: int, limit: int) -> list[tuple[int, str]]:
        settled = self._store.settled()
        return [mark for mark in super().change_marks(after=after, limit=limit) if mark[0] <= settled]

    # bytes --------------------------------------------------------------------------------------------
    @property
    def erases_at_once(self) -> bool:
        return False

    def scrub(self, *, needles: Sequence[bytes] = (), wait_seconds: float) -> tuple[bool, int]:
        """The tables of users of whom something was erased are written anew, so that no removed row is left in them,
        in their indexes or beside them (TOAST); (whether none had to be left, tables written). The server's log and
        its backups are the server's: docs/postgresql.md."""
        return rewrite(self._store.pool, self._store.layout.partitions, self._store.location, wait=wait_seconds)

    def bytes_on_disk(self) -> int:
        with self._store.connection() as conn:
            row = conn.execute(
                f"SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c {_OURS} "
                "AND c.relkind IN ('r', 'S')",
                (self._store.place.schema,),
            ).fetchone()
        return int(row[0])

    @property
    def schema_version(self) -> int:
        return SCHEMA_VERSION

    def check_file(self) -> list[str]:
        schema = self._store.place.schema
        with self._store.connection() as conn:
            open_tables = conn.execute(
                f"SELECT c.relname FROM pg_class c {_OURS} AND c.relkind IN ('r', 'p') AND EXISTS (SELECT 1 FROM "
                "pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'user_no') AND NOT (c.relrowsecurity AND "
                "c.relforcerowsecurity) ORDER BY 1",
                (schema,),
            ).fetchall()
            # Whoever holds this lock may be building the graph, whose indexes are not valid until all are there.
            (is_still,) = conn.execute(
                "SELECT pg_try_advisory_xact_lock_shared(?)", (lock_number(schema, near_schema.LOCK),)
            ).fetchone()
            broken = conn.execute(
                f"SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid {_OURS} "
                "AND NOT (i.indisvalid AND i.indisready) ORDER BY 1",
                (schema,),
            ).fetchall()
            (damaged,) = conn.execute(
                "SELECT coalesce(checksum_failures, 0) FROM pg_stat_database WHERE datname = current_database()"
            ).fetchone()
        found = [f"row-level security is off for {name}" for (name,) in open_tables]
        judged = [name for (name,) in broken if is_still or not name.startswith(near_schema.GRAPH)]
        found += [f"the index {name} is not valid" for name in judged]
        return found + ([f"{damaged} pages failed their checksum"] if damaged else [])

    # backups ------------------------------------------------------------------------------------------
    def back_up(self, directory: Path, *, archive: bool = True) -> Copied:
        raise UnavailableError(
            f"{self._store.location} is backed up by its server (pg_dump, or a base backup), together with the key "
            f"at {self._store.key_shown}; docs/postgresql.md says how, and how erasures are applied again afterwards"
        )

    def list_erasures(self, *, now: datetime, limit: int = 1000) -> int:
        return 0


__all__ = ["PostgresOperations"]
