"""A plain store becomes an encrypted one, user by user; what a stopped run left is done by the next.

Nothing is read that a hash can stand for: envelopes and vectors are sealed where they lie, terms and values get a
second hash over the first (`OwnKeyed`). Each user is one transaction.
"""

from __future__ import annotations

import functools
import inspect
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.errors import ConfigError, CorruptError
from ltm_core.store.keyed import TERM_BITS
from ltm_core.store.sql.envelopes import OF_USER, StoreCodec, UserCodec
from ltm_core.store.sql.layout import key_range, row_range
from ltm_core.store.sql.lookups import plain_users, require_same
from ltm_core.store.sql.tables import ENVELOPES, FACT_RANGE_TABLES, ID_RANGE_TABLES, VECTORS, place_of
from ltm_core.store.sqlite.files import LOCK, load_key, replace_key
from ltm_core.store.sqlite.locks import WriteLock
from ltm_core.store.vault import ID_BYTES, StoreKeys, UserSecrets, Vault, is_sealed, seal

if TYPE_CHECKING:
    from ltm_core.store.keys import KeyProvider
    from ltm_core.store.sqlite.store import SqliteStore

Progress = Callable[[int, int], None]
"""(users done, users in all)."""
_TERM_BYTES = TERM_BITS // 8
_BOUND = "envelopes bound to rows"


# opening ----------------------------------------------------------------------------------------------
def begin(conn: sqlite3.Connection, path: str, held: StoreKeys) -> None:
    """When the key file is sealed, users are named by what only the key can read, and new ones get a key."""
    if require_same(conn, path, held) or not held.encrypted:
        return
    vault = Vault(held)
    codec = StoreCodec(vault)
    conn.execute("BEGIN IMMEDIATE")
    try:
        if not require_same(conn, path, held):

            def seal_own(body: bytes, *place: str | int) -> bytes:
                return codec.encode(codec.decode(body, place), place)

            with _functions(conn, ltm_name=vault.name, ltm_seal=seal_own):
                conn.execute("UPDATE users SET user_id = ltm_name(user_id)")
                for table in ("audit", "jobs"):
                    name, keys = place_of(table, "body")
                    place = ", ".join(("body", f"'{name}'", *keys))
                    conn.execute(f"UPDATE {table} SET body = ltm_seal({place}) WHERE user_no IS NULL")
            conn.execute("UPDATE state SET encryption = ? WHERE id = 1", (vault.present,))
    except BaseException:
        conn.execute("ROLLBACK")
        raise
    conn.execute("COMMIT")


# a whole store ----------------------------------------------------------------------------------------
def seal_key_file(directory: Path, provider: KeyProvider, *, wait_seconds: float) -> bool:
    """The key file is sealed under the provider's key; True when it was plain before."""
    lock = WriteLock(directory / LOCK, wait_seconds)
    try:
        with lock:
            data = load_key(directory, read_only=True)
            if is_sealed(data):
                return False
            replace_key(directory, seal(StoreKeys(data, {}).turned(), provider))
            return True
    finally:
        lock.close()


def encrypt_users(store: SqliteStore, progress: Progress | None = None) -> int:
    """Every user has a data key and nothing of theirs is readable without it; returns how many were plain."""
    if store.core.vault is None:
        raise ConfigError(f"{store.location} is a plain store: seal its key first")
    with store.connection() as conn:
        total = plain_users(conn)
    done = last = 0
    while True:
        with store.connection(write=True) as conn:
            row = conn.execute(
                "SELECT user_no FROM users WHERE user_no > ? AND NOT EXISTS "
                "(SELECT 1 FROM user_keys k WHERE k.user_no = users.user_no) ORDER BY user_no LIMIT 1",
                (last,),
            ).fetchone()
            if row is None:
                return done
            last = row[0]
            _encrypt(conn, store.core.vault, last)
        done += 1
        if progress is not None:
            progress(done, total)


def _encrypt(conn: sqlite3.Connection, vault: Vault, user_no: int) -> None:
    wrapped = vault.new_key()
    conn.execute(
        "INSERT INTO user_keys (user_no, master, wrapped, created_at) "
        "SELECT user_no, ?, ?, created_at FROM users WHERE user_no = ?",
        (vault.present, wrapped, user_no),
    )
    secrets = vault.user(vault.present, wrapped)
    if secrets is None:
        raise CorruptError(f"user number {user_no} got no data key")
    _seal_content(conn, secrets, user_no)
    _hash_again(conn, secrets, user_no)
    # Caches were filled from rows that are gone.
    conn.execute(
        "UPDATE users SET revision = revision + 1, shrunk_at = revision + 1, reset_at = revision + 1 "
        "WHERE user_no = ?",
        (user_no,),
    )


def _seal_content(conn: sqlite3.Connection, secrets: UserSecrets, user_no: int) -> None:
    low, high = row_range(user_no)
    envelopes = UserCodec(secrets)

    def body(plain: bytes, *place: str | int) -> bytes:
        # An envelope holds its codec inside too: what is opened is what the plain store had.
        return envelopes.sealed(plain, place)

    with _functions(conn, ltm_vector=secrets.seal_vector):
        _each_envelope(conn, user_no, body, "{} IS NOT NULL")
        for table, column, codec in VECTORS:
            conn.execute(
                f"UPDATE {table} SET {codec} = 1, {column} = ltm_vector(id, {column}) "
                f"WHERE id > {low} AND id < {high} AND {codec} = 0 AND {column} IS NOT NULL"
            )


def _each_envelope(conn: sqlite3.Connection, user_no: int, change: Callable[..., bytes], condition: str) -> None:
    """Every envelope of the user that meets the condition becomes what ``change`` makes of it and its place."""
    low, high = row_range(user_no)
    with _functions(conn, ltm_body=change):
        for table, column in ENVELOPES:
            where = condition.format(column)
            if table in ID_RANGE_TABLES or table in FACT_RANGE_TABLES:
                key = "id" if table in ID_RANGE_TABLES else "fact"
                where += f" AND {key} > {low} AND {key} < {high}"
            else:
                where += f" AND user_no = {user_no}"
            name, keys = place_of(table, column)
            given = ", ".join((column, f"'{name}'", *keys))
            conn.execute(f"UPDATE {table} SET {column} = ltm_body({given}) WHERE {where}")


def bind_users(store: SqliteStore, vault: Vault) -> None:
    """No envelope of any user is bound to the user alone, as versions before this one left them. Resumable."""
    if store.operations().setting(_BOUND):
        return
    last = 0
    while True:
        with store.connection(write=True) as conn:
            row = conn.execute(
                f"SELECT user_no, master, wrapped FROM user_keys WHERE user_no > ? AND length(wrapped) > {ID_BYTES} "
                "ORDER BY user_no LIMIT 1",
                (last,),
            ).fetchone()
            if row is None:
                break
            last = row[0]
            secrets = vault.user(*row[1:])
            if secrets is not None:
                codec = UserCodec(secrets)

                _each_envelope(conn, last, functools.partial(_bound, codec), f"substr({{}}, 1, 1) = x'{OF_USER:02x}'")
    store.operations().set_setting(_BOUND, "1")


def _bound(codec: UserCodec, old: bytes, *place: str | int) -> bytes:
    try:
        return codec.sealed(codec.opened(old, place), place)
    except CorruptError:
        # It is as unreadable as before; `doctor` names it.
        return old


def _hash_again(conn: sqlite3.Connection, secrets: UserSecrets, user_no: int) -> None:
    low, high = row_range(user_no)
    first, end = key_range(user_no)
    again = secrets.keyed.terms(user_no).again

    def term(key: int) -> int:
        return first | again(key - first)

    def terms(packed: bytes) -> bytes:
        parts = (packed[i : i + _TERM_BYTES] for i in range(0, len(packed), _TERM_BYTES))
        hashes = {again(int.from_bytes(p, "big")) for p in parts}
        return b"".join(h.to_bytes(_TERM_BYTES, "big") for h in sorted(hashes))

    with _functions(conn, ltm_term=term, ltm_terms=terms, ltm_again=secrets.keyed.again):
        # Two terms that now have one hash count as one, as they do when they are written.
        conn.execute(
            "CREATE TEMP TABLE moved AS SELECT ltm_term(key) AS k, item, sum(tf) AS tf FROM postings "
            f"WHERE key >= {first} AND key < {end} GROUP BY 1, 2"
        )
        conn.execute(f"DELETE FROM postings WHERE key >= {first} AND key < {end}")
        conn.execute("INSERT INTO postings (key, item, tf) SELECT k, item, tf FROM moved ORDER BY k, item")
        conn.execute("DROP TABLE moved")
        conn.execute(f"UPDATE chunks SET terms = ltm_terms(terms) WHERE id > {low} AND id < {high}")
        columns = ", ".join(f"{c} = ltm_again({c})" for c in ("slot", "subject", "relation", "object"))
        conn.execute(f"UPDATE facts SET {columns} WHERE id > {low} AND id < {high}")


@contextmanager
def _functions(conn: sqlite3.Connection, **functions: Callable[..., str | bytes | int]) -> Iterator[None]:
    """The connection knows these while the block runs."""
    for name, function in functions.items():
        conn.create_function(name, _arguments(function), function, deterministic=False)
    try:
        yield
    finally:
        for name, function in functions.items():
            conn.create_function(name, _arguments(function), None)


def _arguments(function: Callable[..., object]) -> int:
    """How many a function takes, -1 for any number."""
    given = inspect.signature(function).parameters.values()
    return -1 if any(p.kind is p.VAR_POSITIONAL for p in given) else len(given)


__all__ = ["Progress", "begin", "bind_users", "encrypt_users", "seal_key_file"]
