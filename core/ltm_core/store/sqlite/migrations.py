"""Bring a database file to the present schema, or say why that cannot be done."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from ltm_core.errors import CorruptError, SchemaTooNewError, UnavailableError
from ltm_core.store.keyed import Keyed
from ltm_core.store.sqlite.schema import APPLICATION_ID, VERSIONS

Migration = Callable[[sqlite3.Connection], None]


def _by(statements: Sequence[str]) -> Migration:
    def step(conn: sqlite3.Connection) -> None:
        for statement in statements:
            conn.execute(statement)

    return step


MIGRATIONS: tuple[Migration, ...] = tuple(map(_by, VERSIONS))
"""Number i brings version i to i + 1. A published one is never edited."""
SCHEMA_VERSION = len(MIGRATIONS)
_KEY_CHECK = "ltm-core store key"


def version(conn: sqlite3.Connection, path: str) -> int:
    """The schema version of the file; 0 for a new one. Raises when the file is not ours or newer."""
    application = conn.execute("PRAGMA application_id").fetchone()[0]
    number: int = conn.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        tables = conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application or number or tables:
            raise CorruptError(f"{path} is a database of another program (application id {application})")
        return 0
    if number > SCHEMA_VERSION:
        raise SchemaTooNewError(
            f"{path} has schema {number}, this version of ltm-core reads up to {SCHEMA_VERSION}: upgrade ltm-core"
        )
    return number


def migrate(conn: sqlite3.Connection, path: str, keyed: Keyed, *, now_us: int) -> None:
    """The file has the present schema; every step of one call is one transaction."""
    if version(conn, path) == SCHEMA_VERSION:
        check_key(conn, path, keyed)
        return
    conn.execute("BEGIN IMMEDIATE")
    try:
        # Read again inside the transaction: another process may have migrated meanwhile.
        for step in MIGRATIONS[version(conn, path) :]:
            step(conn)
        conn.execute(
            "INSERT INTO state (id, key_check, created_at) VALUES (1, ?, ?) ON CONFLICT (id) DO NOTHING",
            (keyed.mac(_KEY_CHECK), now_us),
        )
        check_key(conn, path, keyed)
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    except BaseException:
        conn.execute("ROLLBACK")
        raise
    conn.execute("COMMIT")


def require_current(conn: sqlite3.Connection, path: str, keyed: Keyed) -> None:
    """Raises unless the file can be read as it is."""
    number = version(conn, path)
    if number != SCHEMA_VERSION:
        raise UnavailableError(
            f"{path} has schema {number} and must first be brought to {SCHEMA_VERSION}: open it once for writing"
        )
    check_key(conn, path, keyed)


def check_key(conn: sqlite3.Connection, path: str, keyed: Keyed) -> None:
    """Raises CorruptError when the key file is not the one the database was written with."""
    row = conn.execute("SELECT key_check FROM state WHERE id = 1").fetchone()
    if row is None or row[0] != keyed.mac(_KEY_CHECK):
        raise CorruptError(f"store.key does not belong to {path}: restore the key file that was beside it")
