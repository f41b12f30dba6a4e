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

_HINT = re.compile(r" INDEXED BY \w+")
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


class Session:
    """See `ltm_core.store.sql.engine.Connection`."""

    __slots__ = ("_conn",)

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self._conn = conn

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        # With parameters, even none, so that all go the same way and answers come in binary.
        return self._conn.execute(translated_sql(sql), parameters, binary=True)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> psycopg.Cursor[Any]:
        cursor = self._conn.cursor(binary=True)
        rows = parameters if isinstance(parameters, Sequence) else list(parameters)
        if rows:
            cursor.executemany(translated_sql(sql), rows)
        return cursor


__all__ = ["Session", "adapt", "translated_sql"]
