"""What is erased, and when its bytes are gone: looked for in the server's own files."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory
from ltm_core.config import Config
from ltm_core.store.keys import LocalKeys
from ltm_core.store.needles import Needles, variants
from ltm_core.store.postgres import open_store
from ltm_core.testing.builders import DIMENSION, T0, at
from ltm_core.testing.contract_life import fill

psycopg = pytest.importorskip("psycopg")
from ltm_core.store.postgres.store import PostgresStore  # noqa: E402

pytestmark = pytest.mark.servers
SECRET = "ZQ-7741-Kestrel"
LONG = " ".join(f"{SECRET} word{i:05}" for i in range(3000))
"""So long that it is stored beside its table (TOAST), and compressed."""


@pytest.fixture
def url(postgres_url: str, tmp_path: Path) -> str:
    return f"{postgres_url}?partitions=2&key_file={tmp_path / 'store.key'}"


def holding(server: Any, database: str, words: str) -> list[str]:
    """Files of the database's tables, indexes and TOAST that hold the words, after everything was written out."""
    server.run("CHECKPOINT")
    oid = server.run(f"SELECT oid FROM pg_database WHERE datname = '{database}'")
    needles = Needles(variants([words.encode()]))
    folder = server._data / "base" / oid
    return sorted(p.name for p in folder.iterdir() if p.is_file() and needles.found_in(p.read_bytes()))


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with closing(open_store(url, config=Config.make())) as store:
        store.operations().set_embedder_identity("test-embedder", dimension=DIMENSION, now=T0)
        yield store


def test_no_table_has_a_row_of_an_erased_user(store: PostgresStore, postgres_server: Any, postgres_url: str) -> None:
    for user in ("ana", "ben"):
        fill(store, user, f"of-{user}")
    with store.read("ana") as reader:
        number = reader.no
    with store.write("ana") as w:
        w.erase_user(now=at(1))
    name = postgres_url.rpartition("/")[2]
    tables = postgres_server.run(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a "
        "ON a.attrelid = c.oid AND a.attname = 'user_no' WHERE n.nspname = 'ltm' AND c.relkind IN ('r', 'p')",
        database=name,
    ).splitlines()
    assert len(tables) > 20
    counts = " UNION ALL ".join(f"SELECT count(*) FROM ltm.{t} WHERE user_no = {number}" for t in tables)
    assert set(postgres_server.run(counts, database=name).splitlines()) == {"0"}


def test_the_bytes_are_gone_after_the_tables_were_written_anew(
    store: PostgresStore, postgres_server: Any, postgres_url: str
) -> None:
    name = postgres_url.rpartition("/")[2]
    fill(store, "ana", SECRET)
    fill(store, "ben", "tea")
    with store.write("ana") as w:
        w.delete_messages([m.item for m in w.messages()][:1])
    assert holding(postgres_server, name, SECRET)
    with store.write("ana") as w:
        w.erase_user(now=at(1))
    # Deleting, and vacuuming, leave the bytes of a row where they are.
    assert holding(postgres_server, name, SECRET)
    clean, tables = store.operations().scrub(needles=[SECRET.encode()], wait_seconds=5)
    assert clean and tables > 10
    assert holding(postgres_server, name, SECRET) == []
    assert holding(postgres_server, name, "secret tea")
    assert store.operations().scrub(wait_seconds=5) == (True, 0)


def test_a_reader_from_before_the_erasure_holds_the_bytes(store: PostgresStore) -> None:
    fill(store, "ana", SECRET)
    begun, end = threading.Event(), threading.Event()

    def read() -> None:
        with store.read("ana") as reader:
            reader.messages()
            begun.set()
            end.wait(60)

    thread = threading.Thread(target=read)
    thread.start()
    assert begun.wait(60)
    with store.write("ana") as w:
        w.erase_user(now=at(1))
    assert store.operations().scrub(wait_seconds=0.2) == (False, 0)
    end.set()
    thread.join()
    assert store.operations().scrub(wait_seconds=5)[0]


@pytest.mark.parametrize("sees", [True, False], ids=["sees it", "only wrote something"])
def test_a_transaction_of_another_login_holds_the_bytes(
    store: PostgresStore, postgres_server: Any, postgres_url: str, sees: bool
) -> None:
    """The server keeps removed rows for a snapshot, and for whoever has an older number, whatever he did."""
    name = postgres_url.rpartition("/")[2]
    fill(store, "ana", SECRET)
    with psycopg.connect(postgres_server.admin_url(name)) as other:
        if sees:
            other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            other.execute("SELECT 1")
        else:
            other.execute("SELECT pg_current_xact_id()")
        with store.write("ana") as w:
            w.erase_user(now=at(1))
        assert store.operations().scrub(wait_seconds=0.2) == (False, 0)
        assert holding(postgres_server, name, SECRET)
    assert store.operations().scrub(wait_seconds=5)[0]
    assert holding(postgres_server, name, SECRET) == []


def test_forgetting_is_finished_by_maintain(url: str, postgres_server: Any, postgres_url: str) -> None:
    name = postgres_url.rpartition("/")[2]
    with LongTermMemory.open(url, embedder="none", timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user=f"My order number is {SECRET}.")
        memory.observe(user_id="ana", session_id="s", user=LONG)
        memory.observe(user_id="ben", session_id="s", user="I live in Porto.")
        receipt = memory.forget_user("ana")
        assert receipt.counts["messages"] == 2
        assert not receipt.bytes_clean and receipt.files_scanned == 0
        assert list(memory.facts(user_id="ana")) == []
        assert memory.maintain().jobs_done >= 1
        assert holding(postgres_server, name, SECRET) == []
        assert "Porto" in memory.context("Where do I live?", user_id="ben").text


def test_a_forgotten_fact_leaves_the_words_of_its_turn_too(url: str, postgres_server: Any, postgres_url: str) -> None:
    name = postgres_url.rpartition("/")[2]
    with LongTermMemory.open(url, embedder="none", timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="My dog is called Bartholomew.")
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
        (fact,) = [f for f in memory.facts(user_id="ana") if "Bartholomew" in f.text]
        receipt = memory.forget(fact.id, user_id="ana")
        assert not receipt.bytes_clean
        assert "Bartholomew" not in memory.context("What is my dog called?", user_id="ana").text
        memory.maintain()
        assert holding(postgres_server, name, "Bartholomew") == []
        assert "Porto" in memory.context("Where do I live?", user_id="ana").text


def test_an_encrypted_store_holds_no_word_at_any_time(url: str, postgres_server: Any, postgres_url: str) -> None:
    pytest.importorskip("cryptography")
    name = postgres_url.rpartition("/")[2]
    keys = LocalKeys(b"\x07" * 32)
    with LongTermMemory.open(url, embedder="none", timezone="UTC", key_provider=keys) as memory:
        memory.observe(user_id="ana-Kestrel", session_id="s", user=f"My order number is {SECRET}.")
        assert holding(postgres_server, name, SECRET) == [] and holding(postgres_server, name, "ana-Kestrel") == []
        assert SECRET in memory.context("What is my order number?", user_id="ana-Kestrel").text
        memory.forget_user("ana-Kestrel")
        assert list(memory.facts(user_id="ana-Kestrel")) == []
