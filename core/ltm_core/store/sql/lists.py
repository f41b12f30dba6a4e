"""What erasures tell the lists and the key files that lie beside copies of a store."""

from __future__ import annotations

from pathlib import Path

from ltm_core.store.sql.codec import PLAIN_CODEC
from ltm_core.store.sql.engine import Connection

LIST_JOB = "erasure_list"
KEY_JOB = "destroy_key"
PREFIX = "erasure list "
"""Rows of ``meta`` that name the lists to keep."""
_INSERT = "INSERT INTO jobs (user_no, kind, status, run_after, attempts, body) VALUES (NULL, ?, 0, ?, 0, ?)"


def announce(conn: Connection, user_mac: bytes, moment: int) -> bool:
    """When there are lists, a job in the erasure's own transaction says that this one is missing there."""
    if not lists(conn):
        return False
    conn.execute(_INSERT, (LIST_JOB, moment, PLAIN_CODEC.encode({"user": user_mac.hex(), "since": moment})))
    return True


def announce_key(conn: Connection, key: bytes, moment: int) -> None:
    """When there are lists, a job in the erasure's own transaction says that this data key is to be destroyed in the
    key files beside them."""
    if lists(conn):
        conn.execute(_INSERT, (KEY_JOB, moment, PLAIN_CODEC.encode({"key": key.hex()})))


def lists(conn: Connection) -> list[Path]:
    """The lists of erasures beside copies."""
    rows = conn.execute("SELECT name FROM meta WHERE name >= ? AND name < ?", (PREFIX, PREFIX + "\U0010ffff"))
    return [Path(name[len(PREFIX) :]) for (name,) in rows.fetchall()]


__all__ = ["KEY_JOB", "LIST_JOB", "PREFIX", "announce", "announce_key", "lists"]
