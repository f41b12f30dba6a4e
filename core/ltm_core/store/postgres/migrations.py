"""Bring a database to the present schema, or say why that cannot be done.

Versions are counted like those of the SQLite file: a store that was copied from one engine to the other has the same
tables on both sides. Version 1 to 5 of SQLite are one step here, because no store in PostgreSQL is older.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from ltm_core.errors import BusyError, ConfigError, CorruptError, SchemaTooNewError, UnavailableError
from ltm_core.store.keyed import Keyed
from ltm_core.store.postgres.location import Place
from ltm_core.store.postgres.schema import Roles, version_1
from ltm_core.store.postgres.transactions import lock_number
from ltm_core.store.vault import StoreKeys

SCHEMA_VERSION = 6
_OLDEST_SERVER = 160000
"""The first one in which a login can act as a role without having its rights all the time."""
_KEY_CHECK = "ltm-core store key"
_LAYOUT = """CREATE TABLE layout (
    one smallint PRIMARY KEY CHECK (one = 1),
    version integer NOT NULL,
    store_id text NOT NULL,
    partitions integer NOT NULL,
    user_role text NOT NULL,
    across_role text NOT NULL)"""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a store lies in its database."""

    version: int
    store_id: str
    """Names the store where keys are kept; random, and tells nothing."""
    partitions: int
    roles: Roles


@contextmanager
def migrating(conn: psycopg.Connection[Any], place: Place, *, wait_seconds: float) -> Iterator[None]:
    """Nobody else migrates this store meanwhile. BusyError when somebody does for longer than the wait."""
    number = lock_number(place.schema, "migration")
    conn.execute(SQL("SET lock_timeout = {}").format(f"{max(int(wait_seconds * 1000), 1)}ms"))
    try:
        conn.execute("SELECT pg_advisory_lock(%s)", (number,))
    except psycopg.errors.LockNotAvailable:
        raise BusyError(f"{place.shown} is being brought to another schema by another process") from None
    try:
        yield
    finally:
        if not conn.closed:
            conn.execute("SELECT pg_advisory_unlock(%s)", (number,))
            conn.execute("RESET lock_timeout")


def layout_of(conn: psycopg.Connection[Any], place: Place) -> Layout | None:
    """The layout of the store; None when there is none yet. Raises when the schema is not ours or newer."""
    if conn.info.server_version < _OLDEST_SERVER:
        raise ConfigError(f"{place.shown}: PostgreSQL {_OLDEST_SERVER // 10000} or newer is needed")
    tables = conn.execute(
        "SELECT count(*), count(*) FILTER (WHERE c.relname = 'layout') FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind IN ('r', 'p')",
        (place.schema,),
    ).fetchone()
    assert tables is not None
    if not tables[1]:
        if tables[0]:
            raise CorruptError(f"{place.shown}: the schema {place.schema} holds tables of another program")
        return None
    row = conn.execute("SELECT version, store_id, partitions, user_role, across_role FROM layout").fetchone()
    if row is None:
        raise CorruptError(f"{place.shown}: the layout of the store is missing")
    if row[0] > SCHEMA_VERSION:
        raise SchemaTooNewError(
            f"{place.shown} has schema {row[0]}, this version of ltm-core reads up to {SCHEMA_VERSION}: "
            "upgrade ltm-core"
        )
    return Layout(row[0], row[1], row[2], Roles(row[3], row[4]))


def new_layout(conn: psycopg.Connection[Any], place: Place) -> Layout:
    """Of a store that is to be made; its roles exist and this login may act as them."""
    return Layout(SCHEMA_VERSION, secrets.token_hex(8), place.partitions, _roles(conn, place))


def create(conn: psycopg.Connection[Any], place: Place, layout: Layout, held: StoreKeys, *, now_us: int) -> None:
    """The store is there, in one transaction."""
    with conn.transaction():
        conn.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(place.schema)))
        conn.execute(_LAYOUT)
        conn.execute(
            "INSERT INTO layout VALUES (1, %s, %s, %s, %s, %s)",
            (layout.version, layout.store_id, layout.partitions, layout.roles.user, layout.roles.across),
        )
        roles = SQL(", ").join(map(Identifier, (layout.roles.user, layout.roles.across)))
        conn.execute(SQL("GRANT USAGE ON SCHEMA {} TO {}").format(Identifier(place.schema), roles))
        # Several statements in one message: a new store has a few hundred of them.
        conn.execute("; ".join(version_1(layout.partitions, layout.roles)).encode(), prepare=False)
        conn.execute(
            "INSERT INTO state (id, key_check, created_at, encryption) VALUES (1, %s, %s, %s)",
            (Keyed(held.hashing).mac(_KEY_CHECK), now_us, list(held.wrapping)[-1] if held.encrypted else ""),
        )


def check_key(conn: psycopg.Connection[Any], place: Place, keyed: Keyed) -> None:
    """Raises CorruptError when the key is not the one the database was written with."""
    row = conn.execute("SELECT key_check FROM state WHERE id = 1").fetchone()
    if row is None or row[0] != keyed.mac(_KEY_CHECK):
        raise CorruptError(f"the store key does not belong to {place.shown}: give the one it was written with")


def require_current(layout: Layout | None, place: Place) -> Layout:
    """The layout; UnavailableError unless the store can be read as it is."""
    if layout is None:
        raise UnavailableError(f"{place.shown} holds no store to read")
    if layout.version != SCHEMA_VERSION:
        raise UnavailableError(
            f"{place.shown} has schema {layout.version} and must first be brought to {SCHEMA_VERSION}: open it once "
            "for writing"
        )
    return layout


def _roles(conn: psycopg.Connection[Any], place: Place) -> Roles:
    """Those an administrator prepared for this login, or new ones."""
    prepared = Roles(f"{place.schema}_user", f"{place.schema}_across")
    row = conn.execute(
        "SELECT count(*) FILTER (WHERE rolname IN (%s, %s) AND NOT rolsuper AND NOT rolbypassrls AND "
        "pg_has_role(current_user, oid, 'SET') AND NOT pg_has_role(current_user, oid, 'USAGE')), "
        "bool_or(rolname = current_user AND (rolsuper OR rolcreaterole)) FROM pg_roles",
        (prepared.user, prepared.across),
    ).fetchone()
    assert row is not None
    if row[0] == 2:
        return prepared
    if not row[1]:
        raise ConfigError(
            f"{place.shown}: two roles are needed, and this login may not create them. Have an administrator run: "
            f"CREATE ROLE {prepared.user} NOLOGIN; CREATE ROLE {prepared.across} NOLOGIN; "
            f"GRANT {prepared.user}, {prepared.across} TO the login WITH INHERIT FALSE, SET TRUE"
        )
    # Roles belong to the whole cluster: another database may have a store in a schema of the same name.
    mark = secrets.token_hex(4)
    made = Roles(f"{place.schema}_{mark}_user", f"{place.schema}_{mark}_across")
    with conn.transaction():
        for name in (made.user, made.across):
            conn.execute(SQL("CREATE ROLE {} NOLOGIN").format(Identifier(name)))
            # A login that inherited their rights would see all rows without becoming either.
            conn.execute(SQL("GRANT {} TO CURRENT_USER WITH INHERIT FALSE, SET TRUE").format(Identifier(name)))
    return made


Migration = Callable[[psycopg.Connection[Any], Layout], None]


def _window_index(conn: psycopg.Connection[Any], layout: Layout) -> None:
    """`messages_by_session` reads a window as well, and without this index a turn leaves it without a new entry in
    every other one (a heap-only update)."""
    conn.execute("DROP INDEX IF EXISTS messages_window")


MIGRATIONS: dict[int, Migration] = {5: _window_index}
"""By the version that a step begins from. A published one is never edited."""


def migrate(conn: psycopg.Connection[Any], layout: Layout) -> Layout:
    """The store has the present schema; every step of one call is one transaction."""
    if layout.version == SCHEMA_VERSION:
        return layout
    with conn.transaction():
        for number in range(layout.version, SCHEMA_VERSION):
            MIGRATIONS[number](conn, layout)
        conn.execute("UPDATE layout SET version = %s", (SCHEMA_VERSION,))
    return Layout(SCHEMA_VERSION, layout.store_id, layout.partitions, layout.roles)


__all__ = [
    "SCHEMA_VERSION",
    "Layout",
    "check_key",
    "create",
    "layout_of",
    "migrate",
    "migrating",
    "new_layout",
    "require_current",
]
