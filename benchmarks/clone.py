"""Makes a store large without writing every memory through the product: users are written once and then copied.

A template of some small users and one large one is filled through the store's own writer. Copies are rows under other
user numbers, made by the engine itself; their words are not found (the hash of a term belongs to its user), so only
users of the template are asked, among all the others.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

TABLES = ("users", "sessions", "messages", "chunks", "vectors", "postings", "facts", "evidence")
SMALL, LARGE = 100, "ana"
"""Small users of the template, and the name of the large one."""
REPEATS = 6
STRIDE = 1000
"""User numbers from one copy of the template to the next."""
_ROW_IDS = frozenset({"id", "owner", "fact"})
_BATCH = 5000


def template(directory: Path, *, memories: int, large: int) -> None:
    """A store in a directory: `SMALL` users of so many memories, and one of ``large``, whose texts come again with
    other vectors."""
    from benchmarks.fill import fill
    from ltm_core import LongTermMemory

    with LongTermMemory.open(directory, timezone="UTC") as memory:
        for number in range(SMALL):
            fill(memory, f"user-{number}", memories, seed=number + 10)
        fill(memory, LARGE, large // REPEATS, seed=1, topics=256)
    repeat_large(directory, REPEATS)


def repeat_large(directory: Path, times: int) -> None:
    """The large user has everything so many times, under other ids and with vectors of its own."""
    import numpy as np

    from benchmarks.fill import vectors_like

    with closing(sqlite3.connect(directory / "memory.sqlite3", isolation_level=None)) as conn:
        (no, items) = conn.execute("SELECT user_no, next_n FROM users WHERE user_id = ?", (LARGE,)).fetchone()
        (dimension,) = conn.execute("SELECT dimension FROM state").fetchone()
        rng = np.random.default_rng(2)
        low, high = no << 32, (no << 32) + items
        conn.execute("BEGIN")
        for again in range(1, times):
            for table in TABLES[2:]:
                columns = [r[1] for r in conn.execute(f"PRAGMA table_info({table})")]
                moved = {c: f"{c} + {again * items}" for c in (*_ROW_IDS, "item")} | {"id_mac": "randomblob(16)"}
                picked = ", ".join(moved.get(c, f'"{c}"') for c in columns)
                listed = ", ".join(f'"{c}"' for c in columns)
                where = {
                    "postings": f"key >= {no << 40} AND key < {(no + 1) << 40} AND item < {items}",
                    "evidence": f"fact > {low} AND fact < {high}",
                }.get(table, f"id > {low} AND id < {high}")
                conn.execute(f"INSERT INTO {table} ({listed}) SELECT {picked} FROM {table} WHERE {where}")
        later = [
            r[0] for r in conn.execute("SELECT id FROM vectors WHERE id >= ? AND id < ?", (high, (no + 1) << 32))
        ]
        fresh = vectors_like(rng, len(later), dimension, topics=256).astype("<f2")
        conn.executemany(
            "UPDATE vectors SET vector = ? WHERE id = ?",
            ((v.tobytes(), id) for v, id in zip(fresh, later, strict=True)),
        )
        conn.execute(
            "UPDATE users SET next_n = next_n * ?1, chunk_count = chunk_count * ?1, term_total = term_total * ?1 "
            "WHERE user_no = ?2",
            (times, no),
        )
        conn.execute("COMMIT")


def multiply_sqlite(directory: Path, copies: int) -> None:
    """So many copies of the small users are in the file."""
    with closing(sqlite3.connect(directory / "memory.sqlite3", isolation_level=None)) as conn:
        conn.execute("PRAGMA cache_size = -400000")
        columns = {t: [r[1] for r in conn.execute(f"PRAGMA table_info({t})")] for t in TABLES}
        for copy in range(1, copies + 1):
            conn.execute("BEGIN")
            for table in TABLES:
                conn.execute(_copied(table, columns[table], str(copy), _of_template(table)))
            conn.execute("COMMIT")
        conn.execute("ANALYZE")
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def multiply_postgres(admin_url: str, schema: str, copies: int) -> None:
    """The same in a database, as its administrator: row-level security does not hold for one."""
    import psycopg

    with psycopg.connect(admin_url, autocommit=True) as conn:
        conn.execute(f"SET search_path = {schema}".encode())
        for table in TABLES:
            columns = _columns(conn, table)
            source = f"{table}, generate_series(1, {copies}) AS copy WHERE {table}.user_no <= {SMALL}"
            conn.execute(_copied(table, columns, "copy", source, postgres=True).encode())
        conn.execute(f"SELECT setval('users_number', {STRIDE * (copies + 1)})".encode())
        conn.execute("ANALYZE")


def load_postgres(directory: Path, url: str, admin_url: str, *, key: Path, schema: str = "ltm") -> None:
    """The template of a directory in a new store at ``url``, with the same key."""
    import psycopg

    from ltm_core import LongTermMemory

    shutil.copy(directory / "store.key", key)
    LongTermMemory.open(url, timezone="UTC").close()
    source = sqlite3.connect(f"file:{directory / 'memory.sqlite3'}?mode=ro", uri=True)
    with closing(source), psycopg.connect(admin_url, autocommit=True) as conn:
        conn.execute(f"SET search_path = {schema}".encode())
        for table in TABLES:
            names = [r[1] for r in source.execute(f"PRAGMA table_info({table})")]
            columns = [c for c in _columns(conn, table) if c in names or c == "user_no"]
            listed = ", ".join(f'"{c}"' for c in columns)
            picked = ", ".join(f'"{c}"' if c in names else _number(table) for c in columns)
            types = _types(conn, table, columns)
            with conn.cursor().copy(f"COPY {table} ({listed}) FROM STDIN (FORMAT BINARY)".encode()) as copy:
                copy.set_types(types)
                for row in _rows(source, f"SELECT {picked} FROM {table}"):
                    copy.write_row(_typed(row, types))
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


__all__ = ["LARGE", "SMALL", "load_postgres", "multiply_postgres", "multiply_sqlite", "template"]
