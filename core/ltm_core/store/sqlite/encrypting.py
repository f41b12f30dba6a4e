"""A plain store becomes an encrypted one, user by user; what a stopped run left is done by the next.

Nothing is read that a hash can stand for: envelopes and vectors are sealed where they lie, terms and values get a
second hash over the first (`OwnKeyed`). Each user is one transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.errors import ConfigError, CorruptError
from ltm_core.store.keyed import TERM_BITS
from ltm_core.store.sql.envelopes import SEALED, StoreCodec
from ltm_core.store.sql.layout import key_range, row_range
from ltm_core.store.sql.lookups import plain_users, require_same
from ltm_core.store.sql.tables import ENVELOPES, FACT_RANGE_TABLES, ID_RANGE_TABLES, VECTORS
from ltm_core.store.sqlite.files import LOCK, load_key, replace_key
from ltm_core.store.sqlite.locks import WriteLock
from ltm_core.store.vault import StoreKeys, UserSecrets, Vault, is_sealed, seal

if TYPE_CHECKING:
    from ltm_core.store.keys import KeyProvider
    from ltm_core.store.sqlite.store import SqliteStore

Progress = Callable[[int, int], None]
"""(users done, users in all)."""
_TERM_BYTES = TERM_BITS // 8
_PAGE = 1000


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
            with _functions(conn, ltm_name=vault.name, ltm_seal=lambda b: codec.encode(codec.decode(b))):
                conn.execute("UPDATE users SET user_id = ltm_name(user_id)")
                for table in ("audit", "jobs"):
                    conn.execute(f"UPDATE {table} SET body = ltm_seal(body) WHERE user_no IS NULL")
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

    def body(plain: bytes) -> bytes:
        # An envelope holds its codec inside too: what is opened is what the plain store had.
        return bytes([SEALED]) + secrets.seal_body(plain)

    with _functions(conn, ltm_body=body, ltm_vector=secrets.seal_vector):
        for table, column in ENVELOPES:
            where = f"{column} IS NOT NULL"
            if table in ID_RANGE_TABLES or table in FACT_RANGE_TABLES:
                key = "id" if table in ID_RANGE_TABLES else "fact"
                where += f" AND {key} > {low} AND {key} < {high}"
            else:
                where += f" AND user_no = {user_no}"
            conn.execute(f"UPDATE {table} SET {column} = ltm_body({column}) WHERE {where}")
        for table, column, codec in VECTORS:
            conn.execute(
                f"UPDATE {table} SET {codec} = 1, {column} = ltm_vector(id, {column}) "
                f"WHERE id > {low} AND id < {high} AND {codec} = 0 AND {column} IS NOT NULL"
            )


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
        count = function.__code__.co_argcount - hasattr(function, "__self__")
        conn.create_function(name, count, function, deterministic=False)
    try:
        yield
    finally:
        for name, function in functions.items():
            conn.create_function(name, function.__code__.co_argcount - hasattr(function, "__self__"), None)


__all__ = ["Progress", "begin", "encrypt_users", "seal_key_file"]
