"""Whoever can write the files of an encrypted store cannot move what is sealed from one row to another."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ltm_core import CorruptError, LongTermMemory
from ltm_core.store.sql.envelopes import OF_USER, SEALED, UserCodec, place_bytes
from ltm_core.store.sql.tables import ENVELOPES, place_of
from ltm_core.store.sqlite import SqliteStore
from ltm_core.store.sqlite.files import DATABASE
from ltm_core.store.vault import UserSecrets
from ltm_core.testing.builders import DIMENSION
from ltm_core.testing.contract_life import fill
from ltm_core.testing.embedders import HashEmbedder

pytest.importorskip("cryptography")
KEY, OTHER = b"k" * 32, b"o" * 32


def opened(place: Path, key: bytes = KEY) -> LongTermMemory:
    return LongTermMemory.open(place, embedder=HashEmbedder(DIMENSION), timezone="UTC", key_provider=key)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A closed, encrypted store."""
    with opened(tmp_path / "s") as memory:
        for i in range(3):
            memory.observe(user_id="ana", session_id=f"s{i}", user=f"I live in Town{i}.", message_id=f"m{i}")
            memory.remember(f"The spare key {i} is under the oleander", user_id="ana")
            memory.set_slot(f"n{i}", i, user_id="ana", session_id="s0")
            memory.put_document(("notes", str(i)), f"k{i}", {"text": f"note {i}"}, user_id="ana")
    return tmp_path / "s"


def raw(place: Path) -> sqlite3.Connection:
    return sqlite3.connect(place / DATABASE, isolation_level=None)


def swap(conn: sqlite3.Connection, table: str, column: str) -> bool:
    """The envelopes of two rows of the table change places; whether there were two."""
    key, order = ("rowid", "rowid") if table not in ("slots", "evidence", "fact_versions") else ("body", "body")
    rows = conn.execute(f"SELECT {key}, {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY {order}").fetchall()
    if len(rows) < 2:
        return False
    (a, first), (b, second) = rows[0], rows[-1]
    conn.execute(f"UPDATE {table} SET {column} = x'00' WHERE {key} = ?", (a,))
    conn.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (first, b))
    conn.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = x'00'", (second,))
    return True


READS: dict[str, Callable[[LongTermMemory], Any]] = {
    "messages": lambda m: list(m.messages(user_id="ana")),
    "facts": lambda m: list(m.facts(user_id="ana", include_superseded=True)),
    "sessions": lambda m: list(m.sessions(user_id="ana")),
    "slots": lambda m: m.slots(user_id="ana", session_id="s0"),
    "evidence": lambda m: list(m.facts(user_id="ana", include_superseded=True)),
    "changes": lambda m: list(m.changes(user_id="ana")),
    "documents": lambda m: m.search_documents(user_id="ana"),
    "audit": lambda m: list(m.audit("ana")),
}


@pytest.mark.parametrize(("table", "column"), [e for e in ENVELOPES if e[0] in READS])
def test_an_envelope_opens_in_its_own_row_only(place: Path, table: str, column: str) -> None:
    read = READS[table]
    with opened(place) as memory:
        assert read(memory)
    with closing(raw(place)) as conn:
        assert swap(conn, table, column)
    with opened(place) as memory, pytest.raises(CorruptError):
        read(memory)
    with closing(raw(place)) as conn:
        assert swap(conn, table, column)
    with opened(place) as memory:
        assert read(memory) and memory.doctor().healthy


def test_no_two_places_are_written_alike() -> None:
    places = [("a", 1), ("a", 2), ("ab", 1), ("a",), ("a.b", 1), ("a", 1, 2), ("a", -1), ("a", 256)]
    for one, two in itertools.combinations(places, 2):
        assert place_bytes(one) != place_bytes(two)
    assert place_of("documents", "path") != place_of("documents", "body")


@pytest.fixture
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Envelopes are sealed as by the versions that bound them to their user alone."""

    def sealed(self: UserCodec, plain: bytes, place: object) -> bytes:
        secrets = self._secrets
        return bytes([OF_USER]) + _sealed_of_user(secrets, plain)

    monkeypatch.setattr(UserCodec, "sealed", sealed)
    yield monkeypatch


def _sealed_of_user(secrets: UserSecrets, plain: bytes) -> bytes:
    from ltm_core.store.keys import sealed

    return sealed(secrets._body, plain, b"body" + secrets._id)


def codecs(place: Path) -> set[int]:
    with closing(raw(place)) as conn:
        return {
            r[0][0]
            for table, column in ENVELOPES
            for r in conn.execute(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL")
        }


def test_what_was_bound_to_the_user_is_read_and_bound_to_its_place(
    tmp_path: Path, as_before: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "s") as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto. My dog is called Rex.")
        memory.observe(user_id="ana", session_id="s", user="I moved to Faro.")
        store = memory._runtime.store
        assert isinstance(store, SqliteStore)
        fill(store, "ben", "words")
        held = list(memory.export_user("ana"))[1:]
    assert OF_USER in codecs(tmp_path / "s")
    as_before.undo()
    with opened(tmp_path / "s") as memory:
        assert list(memory.export_user("ana"))[1:] == held
        memory.observe(user_id="ana", session_id="s", user="I live in Beja.")
    assert {OF_USER, SEALED} <= codecs(tmp_path / "s")
    LongTermMemory.rekey(tmp_path / "s", key_provider=KEY, to=OTHER)
    assert OF_USER not in codecs(tmp_path / "s")
    with opened(tmp_path / "s", OTHER) as memory:
        assert "Beja" in memory.context("Where do I live?", user_id="ana").text
        assert not [p for p in memory.doctor().problems if p.user_id == "ana"]
        assert len(list(memory.messages(user_id="ben"))) == 1
