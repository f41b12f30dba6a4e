"""A connection of the driver that takes the statements of `ltm_core.store.sql`.

Inside a transaction nothing is waited for but what is read: statements are sent one behind the other (libpq's
pipeline), and the first answer that somebody looks at brings those of all before it. An error is raised there, or by
the commit; the transaction is lost in either case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper

from ltm_core.store.postgres import pipeline
from ltm_core.store.postgres.halves import Halves, HalvesDumper

_HINT = re.compile(r" INDEXED BY \w+")
_LIST = re.compile(r"(?<!NOT) IN \((\?(?:,\?)+)\)")
"""A list of more than one value."""
_ROWS = re.compile(r"(INSERT INTO .+ VALUES )(\(\?(?:, \?)*\))")
"""An insertion of rows with nothing after them."""
_AT_ONCE = (32, 8)
"""Rows that one statement takes, in few sizes so that prepared statements are reused."""
_KEPT = 2048
"""Statements whose translation is kept."""
Statement: TypeAlias = tuple[str, Sequence[Any]]
"""The words of a statement, and its values."""


@lru_cache(_KEPT)
def translated_sql(sql: str) -> tuple[str, tuple[slice, ...]]:
    """The statement as the driver takes it, and which of its values are the list of an ``IN``.

    A list becomes one array, whatever its length, so that one plan serves all; and where most users have few rows,
    values are compared with every row of the user, while an array is looked up. What SQLite's planner is told about
    indexes is left out.
    """
    lists: list[slice] = []

    def as_array(match: re.Match[str]) -> str:
        first = sql.count("?", 0, match.start())
        lists.append(slice(first, first + match[1].count("?")))
        return " = ANY(?)"

    text = _LIST.sub(as_array, sql)
    return _HINT.sub("", text).replace("%", "%%").replace("?", "%s"), tuple(lists)


def bound(values: Sequence[Any], lists: tuple[slice, ...]) -> Sequence[Any]:
    """The values with the lists among them as arrays; how a list was filled up to its size is left out."""
    if not lists:
        return values
    found: list[Any] = []
    end = 0
    for part in lists:
        found += values[end : part.start]
        found.append(list(dict.fromkeys(values[part])))
        end = part.stop
    return [*found, *values[end:]]


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


class Line(psycopg.Connection[Any]):
    """A connection that can be a pipeline as long as it lives: `ltm_core.store.postgres.pipeline`."""

    pipe: psycopg.Pipeline | None = None
    """None as long as each statement is waited for."""
    is_done = False
    """True between the end of a transaction, whose answer may be on its way, and the next one."""
    waits = 0
    """How often the server's answer was waited for in transactions."""

    def begin_pipeline(self) -> None:
        self.pipe = pipeline.entered(self)

    def send(self, sql: str, values: Sequence[Any]) -> Answer:
        """The statement is on its way."""
        text, lists = translated_sql(sql)
        # With parameters, even none, so that all go the same way and answers come in binary.
        return Answer(self.execute(text, bound(values, lists), binary=True), self)

    def sync(self) -> None:
        """Every answer is here; the first error is raised."""
        if self.pipe is not None:
            self.waits += 1
            self.pipe.sync()

    def hurry(self) -> None:
        """What was sent is done by the server, whose answer is read with the next ones; errors that came before are
        raised."""
        if self.pipe is not None:
            pipeline.mark(self, self.pipe)

    @property
    def owes(self) -> bool:
        """Whether answers are on their way that nobody looked at."""
        return self.pipe is not None and pipeline.is_waiting(self.pipe)


class Answer:
    """`ltm_core.store.sql.engine.Cursor`: what a statement was answered, waited for when it is looked at."""

    __slots__ = ("_cursor", "_line")

    def __init__(self, cursor: psycopg.Cursor[Any], line: Line) -> None:
        self._cursor = cursor
        self._line = line

    def _here(self) -> psycopg.Cursor[Any]:
        if self._cursor.pgresult is None:
            self._line.sync()
        return self._cursor

    @property
    def rowcount(self) -> int:
        return self._here().rowcount

    @property
    def description(self) -> Any:
        return self._here().description

    def fetchone(self) -> Any:
        return self._here().fetchone()

    def fetchmany(self, size: int, /) -> list[Any]:
        return self._here().fetchmany(size)

    def fetchall(self) -> list[Any]:
        return self._here().fetchall()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._here())


Ahead: TypeAlias = tuple[Statement, Answer]


class Session:
    """See `ltm_core.store.sql.engine.Connection`."""

    __slots__ = ("_ahead", "_line")

    def __init__(self, line: Line, ahead: Ahead | None = None) -> None:
        """``ahead``: a statement that was sent with the beginning of the transaction, and its answer."""
        self._line = line
        self._ahead = ahead

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Answer:
        if self._ahead is not None and self._ahead[0] == (sql, parameters):
            answer, self._ahead = self._ahead[1], None
            return answer
        return self._line.send(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Answer:
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
        cursor = self._line.cursor(binary=True)
        if done < len(rows):
            text, lists = translated_sql(sql)
            cursor.executemany(text, [bound(row, lists) for row in rows[done:]] if lists else rows[done:])
        return Answer(cursor, self._line)


__all__ = ["Ahead", "Answer", "Line", "Session", "Statement", "adapt", "bound", "translated_sql"]
