"""Makes a store large without writing every memory through the product: users are written once and then copied.

A template of some small users and one large one is filled through the store's own writer. Copies are rows under other
user numbers, made by the engine itself; their words are not found (the hash of a term belongs to its user), so only
users of the template are asked, among all the others.

Every step can be broken off and goes on, or is begun anew, when it is called again.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

TABLES = ("users", "sessions", "messages", "chunks", "vectors", "postings", "facts", "evidence")
SMALL, LARGE = 100, "ana"
"""Small users of the template, and the name of the large one."""
OWN = 5000
"""Memories of the large user that are written one by one; the others repeat them."""
STRIDE = 1000
"""User numbers from one copy of the template to the next."""
AT_ONCE = 10
"""Copies made in one transaction."""
_ROW_IDS = frozenset({"id", "owner", "fact"})
_BATCH = 5000


def template(directory: Path, *, memories: int, large: int) -> None:
    """A store in a directory: `SMALL` users of so many memories, and one of ``large``, whose texts come again with
    other vectors."""
    from benchmarks.fill import fill
    from ltm_core import LongTermMemory

    done = directory / "template"
    if done.exists():
        return
    shutil.rmtree(directory, ignore_errors=True)
    times = max(large // OWN, 1)
    with LongTermMemory.open(directory, timezone="UTC") as memory:
        for number in range(SMALL):
            fill(memory, f"user-{number}", memories, seed=number + 10)
        fill(memory, LARGE, large // times, seed=1, topics=256)
    repeat_large(directory, times)
    done.touch()


def repeat_large(directory: Path, times: int) -> None:
    """The large user has everything so many times, under other ids and with vectors of its own."""
    with closing(sqlite3.connect(directory / "memory.sqlite3", isolation_level=None)) as conn:
        (no, items) = conn.execute("SELECT user_no, next_n FROM users WHERE user_id = ?", (LARGE,)).fetchone()
        columns = {t: [r[1] for r in conn.execute(f"PRAGMA table_info({t})")] for t in TABLES}
        conn.execute("PRAGMA cache_size = -400000")
        for again in range(1, times):
            conn.execute("BEGIN")
            for table in TABLES[2:]:
                conn.execute(_repeated(table, columns[table], no, items, again))
            _fresh_vectors(conn, (no << 32) + again * items, items, seed=again)
            conn.execute("COMMIT")
            progress("repeats of the large user", again, times - 1)
        conn.execute(
            "UPDATE users SET next_n = next_n * ?1, chunk_count = chunk_count * ?1, term_total = term_total * ?1 "
            "WHERE user_no = ?2",
            (times, no),
        )


def _repeated(table: str, columns: Sequence[str], no: int, items: int, again: int) -> str:
    """The statement that adds the rows of the large user once more."""
    moved = {c: f"{c} + {again * items}" for c in (*_ROW_IDS, "item")} | {"id_mac": "randomblob(16)"}
    picked = ", ".join(moved.get(c, f'"{c}"') for c in columns)
    listed = ", ".join(f'"{c}"' for c in columns)
    low, high = no << 32, (no << 32) + items
    where = {
        "postings": f"key >= {no << 40} AND key < {(no + 1) << 40} AND item < {items}",
        "evidence": f"fact > {low} AND fact < {high}",
    }.get(table, f"id > {low} AND id < {high}")
    return f"INSERT INTO {table} ({listed}) SELECT {picked} FROM {table} WHERE {where}"


def _fresh_vectors(conn: sqlite3.Connection, low: int, items: int, *, seed: int) -> None:
    import numpy as np

    from benchmarks.fill import vectors_like

    (dimension,) = conn.execute("SELECT dimension FROM state").fetchone()
    ids = [r[0] for r in conn.execute("SELECT id FROM vectors WHERE id >= ? AND id < ?", (low, low + items))]
    fresh = vectors_like(np.random.default_rng(1000 + seed), len(ids), dimension, topics=256).astype("<f2")
    conn.executemany(
        "UPDATE vectors SET vector = ? WHERE id = ?", ((v.tobytes(), id) for v, id in zip(fresh, ids, strict=True))
    )


_COPIED = f"SELECT coalesce(max(user_no), 0) / {STRIDE} FROM users WHERE user_no % {STRIDE} BETWEEN 1 AND {SMALL}"
"""How many copies there are; users who came later have other numbers."""


def multiply_sqlite(directory: Path, copies: int) -> None:
    """So many copies of the small users are in the file."""
    with closing(sqlite3.connect(directory / "memory.sqlite3", isolation_level=None)) as conn:
        (made,) = conn.execute(_COPIED).fetchone()
        if made >= copies:
            return
        conn.execute("PRAGMA cache_size = -400000")
        columns = {t: [r[1] for r in conn.execute(f"PRAGMA table_info({t})")] for t in TABLES}
        for copy in range(made + 1, copies + 1):
            conn.execute("BEGIN")
            for table in TABLES:
                conn.execute(_copied(table, columns[table], str(copy), _of_template(table)))
            conn.execute("COMMIT")
            progress("copies in SQLite", copy, copies)
        # The next user is numbered behind the copies, not as one of them.
        conn.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'users'", (STRIDE * (copies + 1) + SMALL,))
        conn.execute("ANALYZE")
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def multiply_postgres(admin_url: str, schema: str, copies: int) -> None:
    """The same in a database, as its administrator: row-level security does not hold for one."""
    import psycopg

    with psycopg.connect(admin_url, autocommit=True) as conn:
        conn.execute(f"SET search_path = {schema}".encode())
        (made,) = conn.execute(_COPIED.encode()).fetchone() or (0,)
        if made >= copies:
            return
        columns = {t: _columns(conn, t) for t in TABLES}
        for first in range(made + 1, copies + 1, AT_ONCE):
            last = min(first + AT_ONCE - 1, copies)
            with conn.transaction():
                for table in TABLES:
                    source = f"{table}, generate_series({first}, {last}) AS copy WHERE {table}.user_no <= {SMALL}"
                    conn.execute(_copied(table, columns[table], "copy", source, postgres=True).encode())
            progress("copies in PostgreSQL", last, copies)
        conn.execute(f"SELECT setval('users_number', {STRIDE * (copies + 1) + SMALL})".encode())
        # Otherwise the server does both in the midst of what is measured.
        conn.execute("VACUUM (ANALYZE)")
        conn.execute("CHECKPOINT")


_began = time.monotonic()


def progress(what: str, done: int, of: int) -> None:
    """A line now and then, so that it is seen how long it will take."""
    if done % 10 == 0 or done == of:
        print(f"{time.monotonic() - _began:6.0f} s  {what}: {done} of {of}", file=sys.stderr, flush=True)


def load_postgres(directory: Path, url: str, admin_url: str, *, key: Path, schema: str = "ltm") -> None:
    """The template of a directory in a new store at ``url``, with the same key."""
    import psycopg

    from ltm_core import LongTermMemory

    shutil.copy(directory / "store.key", key)
    LongTermMemory.open(url, timezone="UTC").close()
    source = sqlite3.connect(f"file:{directory / 'memory.sqlite3'}?mode=ro", uri=True)
    with closing(source), psycopg.connect(admin_url) as conn:
        conn.execute(f"SET search_path = {schema}".encode())
        if conn.execute("SELECT 1 FROM users LIMIT 1").fetchone():
            return
        for table in TABLES:
            names = [r[1] for r in source.execute(f"PRAGMA table_info({table})")]
            columns = [c for c in _columns(conn, table) if c in names or c == "user_no"]
            listed = ", ".join(f'"{c}"' for c in columns)
            picked = ", ".join(f'"{c}"' if c in names else _number(table) for c in columns)
            types = _types(conn, table, columns)
            with conn.cursor().copy(f"COPY {table} ({listed}) FROM STDIN (FORMAT BINARY)".encode()) as copy:
                copy.set_types(types)
                for row in _rows(source, f"SELECT {picked} FROM {table} WHERE {_in_template(table)}"):
                    copy.write_row(_typed(row, types))
            progress(f"loaded into PostgreSQL, {table}", 1, 1)
        conn.execute(f"SELECT setval('users_number', {STRIDE})".encode())


def _rows(conn: sqlite3.Connection, sql: str) -> Iterator[Sequence[Any]]:
    cursor = conn.execute(sql)
    while rows := cursor.fetchmany(_BATCH):
        yield from rows


def _typed(row: Sequence[Any], types: Sequence[str]) -> list[Any]:
    return [v.encode() if t == "bytea" and isinstance(v, str) else v for v, t in zip(row, types, strict=True)]


def _columns(conn: Any, table: str) -> list[str]:
    return [name for name, _ in _described(conn, table)]


def _types(conn: Any, table: str, columns: Sequence[str]) -> list[str]:
    known = dict(_described(conn, table))
    return [known[c] for c in columns]


def _described(conn: Any, table: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = conn.execute(
        "SELECT attname, atttypid::regtype::text FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
        "AND NOT attisdropped ORDER BY attnum",
        (table,),
    ).fetchall()
    return found


def _number(table: str) -> str:
    """The user of a row of SQLite, whose number stands in its id."""
    return {"postings": "key >> 40"}.get(table, "id >> 32")


def _in_template(table: str) -> str:
    """The rows of the small users and of the large one, whose number follows theirs."""
    end = SMALL + 2
    row = {"users": f"user_no < {end}", "postings": f"key < {end} << 40", "evidence": f"fact < {end} << 32"}
    return row.get(table, f"id < {end} << 32")


def _of_template(table: str) -> str:
    if table == "postings":
        return f"{table} WHERE key < {SMALL + 1} << 40"
    row = {"users": f"user_no <= {SMALL}", "evidence": f"fact < {SMALL + 1} << 32"}
    return f"{table} WHERE {row.get(table, f'id < {SMALL + 1} << 32')}"


def _copied(table: str, columns: Sequence[str], copy: str, source: str, *, postgres: bool = False) -> str:
    """The statement that adds the rows of a copy."""
    away = f"({copy} * {STRIDE}::bigint)" if postgres else f"({copy} * {STRIDE})"
    name = f"user_id || convert_to('-' || {copy}, 'UTF8')" if postgres else f"user_id || '-' || {copy}"
    values = []
    for column in columns:
        if column == "user_no":
            values.append(f"user_no + {away}")
        elif column == "user_id":
            values.append(name)
        elif column == "key":
            values.append(f"key + ({away} << 40)")
        elif column in _ROW_IDS:
            values.append(f"{column} + ({away} << 32)")
        else:
            values.append(f'"{column}"')
    listed = ", ".join(f'"{c}"' for c in columns)
    return f"INSERT INTO {table} ({listed}) SELECT {', '.join(values)} FROM {source}"


__all__ = ["LARGE", "SMALL", "load_postgres", "multiply_postgres", "multiply_sqlite", "progress", "template"]
