"""Removed rows leave their bytes in PostgreSQL's files until a table is written anew.

Which users something was erased of is listed in the erasing transaction; their parts of the tables are rewritten, one
table at a time, each locked for as long as it takes.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from psycopg import errors
from psycopg.sql import SQL, Identifier

from ltm_core.store.postgres.faults import translated
from ltm_core.store.postgres.near_schema import USERS, VECTORS
from ltm_core.store.postgres.schema import OWNED_TABLES_1, SPLIT_TABLES_1

if TYPE_CHECKING:
    import psycopg

    from ltm_core.store.postgres.pool import Pool

log = logging.getLogger("ltm")
_PAUSE = 0.05
# Nobody may remove what a snapshot shows, and nothing that was removed since a transaction began to write, for that
# one has the older number. Standbys that say what they read (a walsender, of no database), slots and prepared
# transactions count as well.
_HELD = """SELECT EXISTS (SELECT 1 FROM rewrites r CROSS JOIN (
    SELECT unnest(ARRAY[backend_xmin, backend_xid]) AS oldest FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)
    UNION ALL SELECT xmin FROM pg_replication_slots
    UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()) AS others
WHERE r.id = ANY(%s) AND age(others.oldest) >= age(r.since::xid))"""


def rewrite(pool: Pool, partitions: int, where: str, *, wait: float) -> tuple[bool, int]:
    """Every table with rows of a user on the list is written anew and the list is empty; (whether all could be locked
    within ``wait`` seconds each, tables written)."""
    with pool.connect() as conn, translated(where):
        listed = conn.execute("SELECT id, of_user FROM rewrites").fetchall()
        if not listed:
            return True, 0
        numbers, users = [r[0] for r in listed], sorted({r[1] for r in listed})
        if not _nobody_looks(conn, numbers, time.monotonic() + wait):
            log.warning("transactions from before an erasure are still open: what was erased is still in the files")
            return False, 0
        parts = conn.execute(
            "SELECT DISTINCT i FROM unnest(%s::bigint[]) AS u(no), generate_series(0, %s - 1) AS i "
            "WHERE satisfies_hash_partition('messages'::regclass, %s::integer, i::integer, u.no)",
            (users, partitions, partitions),
        ).fetchall()
        tables = [f"{t.name}_p{i}" for (i,) in sorted(parts) for t in SPLIT_TABLES_1]
        if conn.execute("SELECT to_regclass(%s)", (VECTORS,)).fetchone() != (None,):
            tables += [USERS, *(f"{VECTORS}_p{i}" for (i,) in sorted(parts))]
        # A switch of the vectors gives a table the name of the other, and not to their parts: both are here.
        tables += [t.name for t in OWNED_TABLES_1]
        conn.execute(SQL("SET lock_timeout = {}").format(f"{max(int(wait * 1000), 1)}ms"))
        done = 0
        for table in tables:
            try:
                conn.execute(SQL("VACUUM (FULL) {}").format(Identifier(table)))
            except errors.LockNotAvailable:
                log.warning("the table %s was in use for %g s: what was erased is still in its file", table, wait)
                return False, done
            done += 1
        conn.execute("DELETE FROM rewrites WHERE id = ANY(%s)", (numbers,))
    return True, done


def _nobody_looks(conn: psycopg.Connection[Any], numbers: list[int], deadline: float) -> bool:
    """Whether no transaction is left for which the server keeps what was removed: its rows would be written along."""
    while True:
        row = conn.execute(_HELD, (numbers,)).fetchone()
        if row is not None and not row[0]:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE)


__all__ = ["rewrite"]
