"""Both engines have the same tables and columns: what is added to one is missed in the other without a server."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ltm_core.config import Config
from ltm_core.store.postgres.schema import OWNED_TABLES_1, SPLIT_TABLES_1, STORE_TABLES_1, Roles, Table, version_1
from ltm_core.store.sql.tables import STORE_TABLES, USER_TABLES
from ltm_core.store.sqlite import open_store
from ltm_core.store.sqlite.files import DATABASE

TABLES = {t.name: t for t in (*STORE_TABLES_1, *OWNED_TABLES_1, *SPLIT_TABLES_1)}
OURS = {"rewrites"}
"""Tables that only a server needs."""


def columns(table: Table) -> set[str]:
    depth, names, word = 0, [], ""
    for c in f"{table.columns},":
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            names.append(word.split()[0].strip('"'))
            word = ""
        else:
            word += c
    return set(names)


def test_tables_and_columns_are_those_of_sqlite(tmp_path: Path) -> None:
    open_store(tmp_path, config=Config.make()).close()
    assert set(TABLES) - OURS == {*USER_TABLES, *STORE_TABLES}
    with closing(sqlite3.connect(tmp_path / DATABASE)) as conn:
        for name in set(TABLES) - OURS:
            theirs = {r[1] for r in conn.execute(f"PRAGMA table_info({name})")}
            ours = columns(TABLES[name]) | ({"user_no"} if TABLES[name] in SPLIT_TABLES_1 else set())
            assert ours == theirs | ours & {"user_no"}, name


def test_every_user_table_is_behind_the_wall() -> None:
    made = version_1(2, Roles("u", "a"))
    for table in (*OWNED_TABLES_1, *SPLIT_TABLES_1):
        parts = [f"{table.name}_p0", f"{table.name}_p1"] if table in SPLIT_TABLES_1 else []
        for name in (table.name, *parts):
            assert f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY" in made
        (policy,) = [s for s in made if s.startswith(f"CREATE POLICY own_rows ON {table.name} ")]
        # Anything beside the user, joined by OR, would keep the key and the part from being chosen by it.
        shown = policy.partition("USING ")[2].partition(" WITH CHECK")[0]
        assert (" OR " in shown) == (table.name == "users")
    granted = [s for s in made if s.startswith("GRANT")]
    assert not [s for s in granted if re.search(r"_p\d|TRUNCATE|ALL PRIVILEGES", s)]


@pytest.mark.parametrize("table", SPLIT_TABLES_1, ids=lambda t: t.name)
def test_keys_and_unique_indexes_begin_with_the_user(table: Table) -> None:
    created = version_1(1, Roles("u", "a"))
    (sql,) = [s for s in created if s.startswith(f"CREATE TABLE {table.name} (")]
    assert f"PRIMARY KEY (user_no, {table.key}))" in sql and sql.endswith("PARTITION BY HASH (user_no)")
    for _, indexed in table.indexes:
        assert not indexed.startswith("UNIQUE") or indexed.startswith("UNIQUE (user_no, ")


def test_the_statements_for_citus_name_every_table_that_is_split() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "postgresql.md").read_text(encoding="utf-8")
    split, whole = re.findall(r"unnest\(ARRAY\[(.*?)\]\)", docs, re.DOTALL)
    assert set(re.findall(r"'ltm\.(\w+)'", split)) == {t.name for t in SPLIT_TABLES_1}
    assert set(re.findall(r"'ltm\.(\w+)'", whole)) <= {t.name for t in (*STORE_TABLES_1, *OWNED_TABLES_1)}
