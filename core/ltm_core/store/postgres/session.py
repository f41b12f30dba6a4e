"""A connection of the driver that takes the statements of `ltm_core.store.sql`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper

from ltm_core.store.postgres.halves import Halves, HalvesDumper

_HINT = re.compile(r" INDEXED BY \w+")
_ROWS = re.compile(r"(INSERT INTO .+ VALUES )(\(\?(?:, \?)*\))")
"""An insertion of rows with nothing after them."""
_AT_ONCE = (32, 8)
"""Rows that one statement takes, in few sizes so that prepared statements are reused."""
_KEPT = 2048
"""Statements whose translation is kept."""


@lru_cache(_KEPT)
def translated_sql(sql: str) -> str:
    """The statement as the driver takes it. What SQLite's planner is told about indexes is left out."""
    return _HINT.sub("", sql).replace("%", "%%").replace("?", "%s")


class _Flag(Dumper):
    """Truth values are the integers 0 and 1 in every store."""

    format = Format.BINARY
    oid = psycopg.adapters.types["int8"].oid

    def dump(self, obj: bool) -> bytes:
        return int(obj).to_bytes(8, "big")


def adapt(conn: psycopg.Connection[Any]) -> None:
    """Every integer has one type, so that a statement is prepared once and not once per size of its values."""
    conn.adapters.register_dumper(int, Int8BinaryDumper)
    conn.adapters.register_dumper(bool, _Flag)
    conn.adapters.register_dumper(Halves, HalvesDumper)


class Session:
    """See `ltm_core.store.sql.engine.Connection`."""

    __slots__ = ("_conn",)

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self._conn = conn

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        # With parameters, even none, so that all go the same way and answers come in binary.
        return self._conn.execute(translated_sql(sql), parameters, binary=True)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> psycopg.Cursor[Any]:
        rows = parameters if isinstance(parameters, Sequence) else list(parameters)
        done = 0
        inserted = _ROWS.fullmatch(sql)
        for size in _AT_ONCE if inserted else ():
            while len(rows) - done >= size:
                several = f"{inserted[1]}{', '.join([inserted[2]] * size)}"  # type: ignore[index]
                self.execute(several, [value for row in rows[done : done + size] for value in row])
                done += size
        if len(rows) - done == 1:
            return self.execute(sql, rows[done])
        cursor = self._conn.cursor(binary=True)
        if done < len(rows):
            cursor.executemany(translated_sql(sql), rows[done:])
        return cursor


__all__ = ["Session", "adapt", "translated_sql"]
