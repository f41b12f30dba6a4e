"""The rows of a store as they lie, into a copy of it: the same numbers, keyed hashes and envelopes.

Both stores have the same key, so nothing is decoded, embedded or indexed again, and every table of two engines has
the same columns but ``user_no``, which one of them keeps in more tables than the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ltm_core.store.keyed import TERM_BITS
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.layout import ITEM_BITS
from ltm_core.store.sql.lists import KEY_JOB, LIST_JOB, PREFIX

if TYPE_CHECKING:
    from ltm_core.store.sql.store import SqlStore

_PAGE = 1000
"""Rows read at once."""
COPY = "copy"
"""Row of ``meta`` that says of what the store is a copy, and how far."""
COPIED = "copied "
"""Rows of ``meta`` that name, until the copy is whole, the users who are in it."""
_OF_COPIES = f"name <> '{COPY}' AND NOT (name >= '{COPIED}' AND name < '{COPIED[:-1]}!')"
_SETTINGS = f"{_OF_COPIES} AND NOT (name >= '{PREFIX}' AND name < '{PREFIX[:-1]}!')"
_NOBODYS_JOBS = f"user_no IS NULL AND kind NOT IN ('{LIST_JOB}', '{KEY_JOB}')"


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of one table: those for which ``where`` holds, in the order of ``key``, which is unique in them."""

    table: str
    key: tuple[str, ...]
    where: str = ""
    bits: int = 0
    """The first column of the key, shifted right by so many bits, is the user's number."""


def _by(key: str, *tables: str, bits: int = ITEM_BITS) -> tuple[Rows, ...]:
    return tuple(Rows(table, tuple(key.split()), bits=bits) for table in tables)


OF_A_USER: tuple[Rows, ...] = (
    *_by("user_no", "users", "user_keys", bits=0),
    *_by("id", "sessions", "messages", "chunks", "vectors", "second_vectors", "facts", "anchors"),
    *_by("id", "documents", "document_units", "summaries", "cold_files", "cold_turns"),
    *_by("fact known_until", "fact_versions"),
    *_by("fact ordinal", "evidence"),
    *_by("summary source", "summary_sources"),
    *_by("key item", "postings", bits=TERM_BITS),
    *_by("user_no session name", "slots", bits=0),
    *_by("user_no id", "changes", "jobs", "audit", bits=0),
)
"""Everything of a user but what an external index has of it: that is made again."""
OF_THE_STORE: tuple[Rows, ...] = (
    Rows("embedders", ("no",)),
    Rows("tombstones", ("user_mac", "kind", "mac")),
    Rows("erasures", ("user_mac",)),
    Rows("ghosts", ("user_mac", "session", "at", "sequence")),
    Rows("receipts", ("id",)),
    Rows("meta", ("name",), _SETTINGS),
    Rows("jobs", ("id",), _NOBODYS_JOBS),
    Rows("audit", ("id",), "user_no IS NULL"),
)
"""What outlives users, and what is nobody's. Lists beside backups belong to the one store that keeps them."""
_STATE = ("created_at", "embedder", "dimension", "encryption", "second", "switched", "generation")


class Digest:
    """What was read, in order: how many rows, and a hash of all of it."""

    __slots__ = ("_hash", "rows")

    def __init__(self) -> None:
        self.rows = 0
        self._hash = hashlib.blake2b(digest_size=16)

    def add(self, table: str, page: Sequence[tuple[Any, ...]]) -> None:
        """These rows of the table come next."""
        self.rows += len(page)
        for row in page:
            self._hash.update(f"{table} {row!r}\n".encode("utf-8", "surrogatepass"))

    def __str__(self) -> str:
        return f"{self.rows} {self._hash.hexdigest()}"


class Carrier:
    """Carries rows from ``source`` to ``target``; the caller holds the transactions."""

    def __init__(self, source: SqlStore, target: SqlStore) -> None:
        self._source, self._target = source, target
        self._columns: dict[str, tuple[str, ...]] = {}
        self._numbered: set[str] = set()
        """Tables in which only the target keeps the user's number."""
        with source.connection() as there, target.connection() as here:
            for rows in (*OF_A_USER, *OF_THE_STORE):
                had, wanted = _columns(there, rows.table), _columns(here, rows.table)
                self._columns[rows.table] = tuple(sorted(had & wanted))
                if "user_no" in wanted - had:
                    self._numbered.add(rows.table)

    def carry_user(self, there: Connection, here: Connection, user_no: int) -> Digest:
        """The target holds the user's rows, and held none before; what was carried."""
        digest = Digest()
        for rows in OF_A_USER:
            for page in self._pages(self._source, there, rows, user_no):
                digest.add(rows.table, page)
                self._insert(here, rows.table, page, user_no)
        return digest

    def carry_store(self, there: Connection, here: Connection) -> Digest:
        """What the source keeps for all users is all that the target keeps; what was carried."""
        self.empty_store(here)
        digest = Digest()
        for rows in OF_THE_STORE:
            for page in self._pages(self._source, there, rows):
                digest.add(rows.table, page)
                self._insert(here, rows.table, page)
        state = there.execute(f"SELECT {', '.join(_STATE)} FROM state WHERE id = 1").fetchone()
        here.execute(f"UPDATE state SET {', '.join(f'{c} = ?' for c in _STATE)} WHERE id = 1", tuple(state))
        self._target.raise_numbers(here, self._source.last_numbers(there))
        return digest

    def drop_user(self, here: Connection, user_no: int) -> None:
        """The target holds nothing of the user."""
        for rows in (*OF_A_USER, Rows("external_vectors", ("user_no",))):
            where, bounds = self._bounds(rows, user_no, self._target)
            here.execute(f"DELETE FROM {rows.table} WHERE {where}", bounds)

    def empty_store(self, here: Connection) -> None:
        """The target keeps nothing but its users' rows, and what it knows of the copy."""
        for rows in OF_THE_STORE:
            where = "user_no IS NULL" if rows.table == "jobs" else rows.where
            here.execute(f"DELETE FROM {rows.table}" + (f" WHERE {where}" if where else ""))

    def found_user(self, here: Connection, user_no: int) -> Digest:
        """What the target holds of a user."""
        return self._found(here, OF_A_USER, user_no)

    def found_store(self, here: Connection) -> Digest:
        """What the target holds for all users."""
        return self._found(here, OF_THE_STORE, None)

    def _found(self, here: Connection, parts: Sequence[Rows], user_no: int | None) -> Digest:
        digest = Digest()
        for rows in parts:
            for page in self._pages(self._target, here, rows, user_no):
                digest.add(rows.table, page)
        return digest

    def _pages(
        self, store: SqlStore, conn: Connection, rows: Rows, user_no: int | None = None
    ) -> Iterator[list[tuple[Any, ...]]]:
        """The rows, page by page, as plain values that are the same from every engine."""
        columns = self._columns[rows.table]
        key = ", ".join(rows.key)
        places = [columns.index(c) for c in rows.key]
        where, bounds = (rows.where, ()) if user_no is None else self._bounds(rows, user_no, store)
        named = ", ".join(f'"{c}"' for c in columns)
        last: tuple[Any, ...] = ()
        while True:
            after = f"({key}) > ({', '.join('?' * len(last))})" if last else ""
            condition = " AND ".join(c for c in (where, after) if c)
            query = (
                f"SELECT {named} FROM {rows.table}{f' WHERE {condition}' if condition else ''} ORDER BY {key} LIMIT ?"
            )
            page = [tuple(row) for row in conn.execute(query, (*bounds, *last, _PAGE)).fetchall()]
            if page:
                last = tuple(page[-1][i] for i in places)
                yield _plain(page, columns, rows.table)
            if len(page) < _PAGE:
                return

    def _bounds(self, rows: Rows, user_no: int, store: SqlStore) -> tuple[str, tuple[int, ...]]:
        first = rows.key[0]
        if first == "user_no":
            return "user_no = ?", (user_no,)
        where = f"{first} >= ? AND {first} < ?"
        bounds = (user_no << rows.bits, (user_no + 1) << rows.bits)
        return (f"user_no = ? AND {where}", (user_no, *bounds)) if store.is_split else (where, bounds)

    def _insert(self, here: Connection, table: str, page: list[tuple[Any, ...]], user_no: int = 0) -> None:
        columns = self._columns[table]
        if table == "users" and self._target.core.names_are_bytes:
            at = columns.index("user_id")
            page = [(*row[:at], row[at].encode(), *row[at + 1 :]) for row in page]
        if table in self._numbered:
            columns, page = (*columns, "user_no"), [(*row, user_no) for row in page]
        named = ", ".join(f'"{c}"' for c in columns)
        here.executemany(f"INSERT INTO {table} ({named}) VALUES ({', '.join('?' * len(columns))})", page)


def _plain(page: list[tuple[Any, ...]], columns: Sequence[str], table: str) -> list[tuple[Any, ...]]:
    if table != "users":
        return page
    at = columns.index("user_id")
    return [(*r[:at], r[at].decode() if isinstance(r[at], bytes) else r[at], *r[at + 1 :]) for r in page]


def _columns(conn: Connection, table: str) -> set[str]:
    return {column[0] for column in conn.execute(f"SELECT * FROM {table} LIMIT 0").description}


__all__ = ["COPIED", "COPY", "OF_A_USER", "OF_THE_STORE", "Carrier", "Digest", "Rows"]
