"""Remove every row of one user, table by table, each by its integer range."""

from __future__ import annotations

from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.layout import key_range, row_range
from ltm_core.store.sql.tables import (
    FACT_RANGE_TABLES,
    ID_RANGE_TABLES,
    KEY_RANGE_TABLES,
    SUMMARY_RANGE_TABLES,
    USER_NO_TABLES,
)


def erase_rows(conn: Connection, user_no: int) -> dict[str, int]:
    """No table of `schema.USER_TABLES` has a row of the user; returns the rows removed from each."""
    low, high = row_range(user_no)
    first, end = key_range(user_no)
    counts: dict[str, int] = {}
    for table in ID_RANGE_TABLES:
        counts[table] = conn.execute(f"DELETE FROM {table} WHERE id > ? AND id < ?", (low, high)).rowcount
    for table in FACT_RANGE_TABLES:
        counts[table] = conn.execute(f"DELETE FROM {table} WHERE fact > ? AND fact < ?", (low, high)).rowcount
    for table in SUMMARY_RANGE_TABLES:
        counts[table] = conn.execute(f"DELETE FROM {table} WHERE summary > ? AND summary < ?", (low, high)).rowcount
    for table in KEY_RANGE_TABLES:
        counts[table] = conn.execute(f"DELETE FROM {table} WHERE key >= ? AND key < ?", (first, end)).rowcount
    for table in USER_NO_TABLES:
        counts[table] = conn.execute(f"DELETE FROM {table} WHERE user_no = ?", (user_no,)).rowcount
    # External indexes still hold these ids; they are told once, by the number of the user.
    conn.execute("DELETE FROM outbox WHERE op < 2 AND target > ? AND target < ?", (low, high))
    return counts
