"""Row-level security in raw SQL: what a transaction sees is the server's decision; without a user it is nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ltm_core.config import Config
from ltm_core.store.postgres import open_store
from ltm_core.testing.builders import DIMENSION, T0
from ltm_core.testing.contract_life import fill

psycopg = pytest.importorskip("psycopg")
from ltm_core.store.postgres.schema import OWNED_TABLES_1, SPLIT_TABLES_1  # noqa: E402
from ltm_core.store.postgres.store import PostgresStore  # noqa: E402

pytestmark = pytest.mark.servers
TABLES = [t.name for t in (*OWNED_TABLES_1, *SPLIT_TABLES_1)]
EMPTY = {"user_keys", "external_vectors", "second_vectors"}
"""Tables of which `fill` writes no row."""


@pytest.fixture
def store(postgres_url: str, tmp_path: Path) -> Iterator[PostgresStore]:
    place = f"{postgres_url}?partitions=3&key_file={tmp_path / 'store.key'}"
    with closing(open_store(place, config=Config.make())) as store:
        store.operations().set_embedder_identity("test-embedder", dimension=DIMENSION, now=T0)
        for user in ("ana", "ben", "cleo"):
            fill(store, user, f"of-{user}")
        yield store


@pytest.fixture
def raw(postgres_url: str, store: PostgresStore) -> Iterator[Any]:
    """A connection of the login that owns the tables."""
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        conn.execute("SET search_path = ltm")
        yield conn


def number(store: PostgresStore, user: str) -> int:
    with store.read(user) as reader:
        return reader.no


def test_whoever_names_no_user_sees_nothing(store: PostgresStore, raw: Any) -> None:
    for role in ("NONE", store.layout.roles.user):
        raw.execute(f"SET ROLE {role}")
        for table in TABLES:
            assert raw.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), (role, table)
            assert raw.execute(f"DELETE FROM {table}").rowcount == 0, (role, table)
    raw.execute("SET ROLE NONE")
    assert sorted(store.operations().users()) == ["ana", "ben", "cleo"]


def test_the_parts_of_a_table_are_no_way_round(store: PostgresStore, raw: Any) -> None:
    for part in range(3):
        assert raw.execute(f"SELECT count(*) FROM messages_p{part}").fetchone() == (0,)
    raw.execute(f"SET ROLE {store.layout.roles.user}")
    raw.execute(f"SET ltm.user_no = '{number(store, 'ana')}'")
    for part in range(3):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            raw.execute(f"SELECT count(*) FROM messages_p{part}")


def test_a_user_sees_and_changes_own_rows_only(store: PostgresStore, raw: Any) -> None:
    ana, ben = number(store, "ana"), number(store, "ben")
    raw.execute(f"SET ROLE {store.layout.roles.user}")
    raw.execute(f"SET ltm.user_no = '{ana}'")
    for table in TABLES:
        seen = {r[0] for r in raw.execute(f"SELECT user_no FROM {table}").fetchall()}
        assert seen == (set() if table in EMPTY else {ana}), table
        assert raw.execute(f"UPDATE {table} SET user_no = user_no WHERE user_no = {ben}").rowcount == 0, table
    assert raw.execute("DELETE FROM messages WHERE user_no <> %s", (ana,)).rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        raw.execute("UPDATE slots SET user_no = %s", (ben,))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        raw.execute("INSERT INTO postings (user_no, key, item, tf) VALUES (%s, 1, 1, 1)", (ben,))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        raw.execute("TRUNCATE messages")
    raw.execute("RESET ltm.user_no")
    # Without a user there is no default, and no row.
    with pytest.raises(psycopg.Error):
        raw.execute("INSERT INTO postings (key, item, tf) VALUES (1, 1, 1)")


def test_a_forged_user_number_is_not_text_that_is_run(store: PostgresStore, raw: Any) -> None:
    raw.execute(f"SET ROLE {store.layout.roles.user}")
    for forged in ("1 OR true", "%", "-1", "99999"):
        raw.execute("SELECT set_config('ltm.user_no', %s, false)", (forged,))
        try:
            assert raw.execute("SELECT count(*) FROM messages").fetchone() == (0,)
        except psycopg.errors.InvalidTextRepresentation:
            continue


def test_a_name_shows_one_row_of_the_directory(store: PostgresStore, raw: Any) -> None:
    raw.execute(f"SET ROLE {store.layout.roles.user}")
    raw.execute(f"SET ltm.user_id = '{b'ben'.hex()}'")
    assert raw.execute("SELECT user_id FROM users").fetchall() == [(b"ben",)]
    assert raw.execute("SELECT count(*) FROM facts").fetchone() == (0,)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        raw.execute("UPDATE users SET revision = 0")


def test_the_role_across_users_may_not_log_in_and_the_settings_end_with_the_transaction(
    store: PostgresStore, raw: Any
) -> None:
    roles = store.layout.roles
    found = raw.execute(
        "SELECT rolcanlogin, rolsuper, rolbypassrls FROM pg_roles WHERE rolname IN (%s, %s)",
        (roles.user, roles.across),
    ).fetchall()
    assert found == [(False, False, False)] * 2
    with store.read("ana") as reader:
        assert reader.conn.execute("SELECT current_user").fetchone() == (roles.user,)
        assert reader.conn.execute("SELECT count(*) FROM users").fetchone() == (1,)
    ((conn, _),) = store.pool._idle
    assert conn.execute(
        "SELECT current_setting('ltm.user_no', true), current_setting('ltm.user_id', true), current_user"
    ).fetchone() == ("", "", "ltm")


def test_doctor_sees_a_wall_that_was_taken_down(store: PostgresStore, raw: Any) -> None:
    assert store.operations().check_file() == []
    raw.execute("ALTER TABLE facts NO FORCE ROW LEVEL SECURITY")
    assert store.operations().check_file() == ["row-level security is off for facts"]


def test_a_superuser_is_behind_the_wall_too(store: PostgresStore, postgres_server: Any, postgres_url: str) -> None:
    name = postgres_url.rpartition("/")[2]
    url = f"{postgres_server.admin_url(name)}?key_file={store._keys(store.layout).path}"
    with closing(open_store(url, config=Config.make())) as other, other.read("ana") as reader:
        assert reader.conn.execute("SELECT count(*) FROM users").fetchone() == (1,)
        assert [f.object for f in reader.facts()] == ["of-ana"]
