"""pgvector as an index: it answers as the store does, in the transaction of every write, behind the same walls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ltm_core import ConfigError, LongTermMemory
from ltm_core.config import Config
from ltm_core.store.base import ChunkWrite, Store
from ltm_core.store.postgres import open_store
from ltm_core.testing.builders import DIMENSION, T0, message, vector
from ltm_core.testing.clock import Clock
from ltm_core.testing.contract_life import LifeContract, fill
from ltm_core.testing.contract_second import SecondSetContract
from ltm_core.testing.contract_snapshot import SnapshotContract
from ltm_core.testing.embedders import HashEmbedder

psycopg = pytest.importorskip("psycopg")
from ltm_core.store.postgres.index_lock import SessionLock  # noqa: E402
from ltm_core.store.postgres.near import PgVectors  # noqa: E402
from ltm_core.store.postgres.near_schema import LOCK  # noqa: E402
from ltm_core.store.postgres.store import PostgresStore  # noqa: E402
from ltm_core.store.postgres.transactions import lock_number  # noqa: E402

pytestmark = pytest.mark.servers
CLOCK = Clock(datetime(2026, 3, 1, 9, tzinfo=UTC))
SOME = 40
"""Chunks from which a user is searched by pgvector in these tests."""


@pytest.fixture
def place(postgres_url: str, tmp_path: Path) -> str:
    return f"{postgres_url}?partitions=2&key_file={tmp_path / 'store.key'}"


def attached(place: str, *, at_least: int = 1, candidates: int = 512, graph_from: int = 1) -> PostgresStore:
    """A store whose index has nothing left to do after every commit."""
    store = open_store(place, config=Config.make())
    store.operations().set_embedder_identity("test-embedder", dimension=DIMENSION, now=T0)
    index = store.attach_pgvector(at_least=at_least, candidates=candidates, graph_from=graph_from)
    store.on_index_change = lambda: finished(index)
    return store


def finished(index: Any) -> None:
    while index.step():
        pass


class TestSnapshotsThroughPgvector(SnapshotContract, LifeContract, SecondSetContract):
    """What the contract says of vectors, erasures and two sets, with every user searched by the graph."""

    @pytest.fixture
    def store(self, empty_place: str) -> Iterator[Store]:
        with closing(attached(empty_place)) as store:
            yield store

    @pytest.fixture
    def reopen(self, empty_place: str, store: Store) -> Iterator[Callable[[], Store]]:
        with ExitStack() as stack:
            yield lambda: stack.enter_context(closing(open_store(empty_place, config=Config.make())))

    def test_vectors_are_finite_and_of_the_right_size(self, store: Store) -> None:
        """One without direction is in no graph: it is found by its words, and compared by nobody."""
        for number, values in enumerate(([1e30] * DIMENSION, [1e-30] * DIMENSION, [0.0] * DIMENSION)):
            with store.write("ana") as w:
                m = w.add_message(message(f"m{number}"))
                given = np.array(values, dtype=np.float32)
                w.set_chunks("message", m.item, [ChunkWrite(start=0, end=1, terms={}, vector=given)], at=T0)
        with store.read("ana") as r:
            found = r.snapshot().cosine(np.full(DIMENSION, DIMENSION**-0.5, dtype=np.float32))
        assert found[:2] == pytest.approx([1, 1], abs=1e-3) and np.isnan(found[2])


def rows_of(store: PostgresStore, table: str = "pgvector_vectors") -> dict[int, int]:
    """User number -> rows there."""
    with store.connection() as conn:
        return dict(conn.execute(f"SELECT user_no, count(*) FROM {table} GROUP BY 1").fetchall())


def many(store: PostgresStore, user: str, count: int, seed: int) -> np.ndarray[Any, Any]:
    """The user's one message has so many chunks, with random vectors."""
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    with store.write(user) as w:
        w.ensure_user(now=T0)
        chunks = [ChunkWrite(start=i, end=i + 1, terms={f"t{i}": 1}, vector=v) for i, v in enumerate(vectors)]
        w.set_chunks("summary", w.next_n, chunks, at=T0)
    return vectors


def test_small_users_stay_in_the_store_middle_ones_are_compared_large_ones_found_by_the_graph(place: str) -> None:
    with closing(attached(place, at_least=50, candidates=20, graph_from=300)) as store:
        sizes = {"small": 30, "middle": 120, "large": 400}
        made = {user: many(store, user, size, seed) for seed, (user, size) in enumerate(sizes.items())}
        assert sorted(rows_of(store).values()) == [120, 400]
        index = store.core.attached.index
        assert isinstance(index, PgVectors)
        with store.read("small") as r:
            assert not r.lean and index.near(r, r.conn, vector(1)) is None
        for user, least in (("middle", 1.0), ("large", 0.9)):
            found = 0
            for query in made[user][::10]:
                with store.read(user) as r:
                    assert r.lean
                    near = index.near(r, r.conn, query)
                    items = r.snapshot().rows.item.tolist()
                assert near is not None and len(set(near)) == 20
                unit = made[user] / np.linalg.norm(made[user], axis=1, keepdims=True)
                best = {items[i] for i in np.argsort(-(unit @ query))[:10]}
                found += len(best & set(near))
            assert found >= least * 10 * len(made[user][::10]), user
        with store.read("large") as r:
            plan = r.conn.execute(
                "SELECT relname FROM pg_class WHERE relname LIKE 'pgvector_graph%' AND relkind IN ('i', 'I')"
            ).fetchall()
            assert len(plan) == 3


def test_a_process_that_does_not_use_it_keeps_it_true(place: str) -> None:
    with closing(attached(place)) as store:
        fill(store, "ana", "first")
        before = rows_of(store)
    with closing(open_store(place, config=Config.make())) as other:
        many(other, "ana", 5, 3)
        fill(other, "ben", "second")
        (more,) = rows_of(other).values()
        assert more == before[1] + 5, "who was copied is followed, who was not waits"
        with other.write("ana") as w:
            w.erase_user(now=T0)
        assert rows_of(other) == {} == rows_of(other, "pgvector_users")


def test_a_graph_in_the_making_is_no_damage_and_one_left_unfinished_is(place: str, postgres_url: str) -> None:
    with closing(attached(place)) as store, psycopg.connect(postgres_url, autocommit=True) as raw:
        fill(store, "ana", "first")
        raw.execute("SET search_path = ltm")
        raw.execute("DROP INDEX pgvector_graph")
        kind = "public.halfvec_cosine_ops"
        raw.execute(f"CREATE INDEX pgvector_graph ON ONLY pgvector_vectors USING hnsw (near {kind})")
        keeper = SessionLock(store.pool, lock_number("ltm", LOCK), store.location)
        keeper.acquire()
        assert store.operations().check_file() == []
        keeper.release()
        assert store.operations().check_file() == ["the index pgvector_graph is not valid"]


def test_behind_the_same_walls(place: str, postgres_url: str) -> None:
    with closing(attached(place)) as store, psycopg.connect(postgres_url, autocommit=True) as raw:
        for user in ("ana", "ben"):
            fill(store, user, f"of-{user}")
        assert store.operations().check_file() == []
        raw.execute("SET search_path = ltm")
        for role in ("NONE", store.layout.roles.user):
            raw.execute(f"SET ROLE {role}")
            for table in ("pgvector_users", "pgvector_vectors"):
                assert raw.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        with store.read("ana") as r:
            mine = r.no
        raw.execute(f"SET ltm.user_no = '{mine}'")
        for table in ("pgvector_users", "pgvector_vectors"):
            assert {no for (no,) in raw.execute(f"SELECT user_no FROM {table}").fetchall()} == {mine}
        sql = "SELECT pgvector_near(%s, (SELECT near FROM pgvector_vectors LIMIT 1), 5)"
        assert raw.execute(sql, (mine,)).fetchall() and raw.execute(sql, (mine + 1,)).fetchall() == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            raw.execute("UPDATE pgvector_vectors SET user_no = %s", (mine + 1,))


def test_no_byte_of_an_erased_vector_is_left(place: str, postgres_server: Any) -> None:
    with closing(attached(place)) as store:
        secret = many(store, "ana", 3, 9)[0]
        many(store, "ben", 3, 10)
        unit = (secret / np.linalg.norm(secret)).astype("<f2").tobytes()

        def files() -> list[str]:
            postgres_server.run("CHECKPOINT")
            name = place.partition("?")[0].rpartition("/")[2]
            oid = postgres_server.run(f"SELECT oid FROM pg_database WHERE datname = '{name}'")
            folder = postgres_server.directory / "data" / "base" / oid
            return [p.name for p in folder.iterdir() if p.is_file() and unit in p.read_bytes()]

        assert len(files()) >= 3, "the table, its mirror, and the graph"
        with store.write("ana") as w:
            w.erase_user(now=T0)
        assert store.operations().scrub(wait_seconds=10)[0] and files() == []
        assert list(rows_of(store).values()) == [3]


# through the door -------------------------------------------------------------------------------------
def opened(place: str, *, vectors: str = "pgvector", **options: Any) -> LongTermMemory:
    given: dict[str, Any] = {"embedder": HashEmbedder(), "timezone": "UTC", "clock": CLOCK}
    given |= {"external_vectors_from": SOME, "pgvector_graph_from": SOME}
    return LongTermMemory.open(place, vectors=vectors, **{**given, **options})


def store_of(memory: LongTermMemory) -> PostgresStore:
    store = memory._runtime.store
    assert isinstance(store, PostgresStore)
    return store


def hits(memory: LongTermMemory, query: str = "parcel 740") -> list[Any]:
    return [(h.text, round(h.similarity or 0, 4)) for h in memory.search(query, user_id="ana", top_k=5)]


def settled(memory: LongTermMemory) -> LongTermMemory:
    """The thread has copied ana's vectors, and the graph is there."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with store_of(memory).connection() as conn:
            if conn.execute("SELECT filled, graph FROM pgvector_users").fetchall() == [(1, 1)]:
                return memory
        time.sleep(0.05)
    raise AssertionError("the vectors were never copied")


def test_found_as_by_exact_search_drift_mended_and_another_embedder(place: str) -> None:
    with opened(place) as memory:
        for i in range(60):
            memory.observe(user_id="ana", session_id="s", user=f"Note {i}: the parcel {i * 37} is at gate {i % 7}.")
        memory.observe(user_id="ben", session_id="s", user="I live in Porto.")
        assert hits(memory), "who is not copied yet is searched exactly, and asked for"
        found = hits(settled(memory), "parcel 741")
        with store_of(memory).read("ana") as r:
            assert r.lean
        memory.observe(user_id="ana", session_id="s", user="The heron sleeps on the mast.")
        assert "heron" in hits(memory, "heron mast")[0][0]
        assert memory.doctor().healthy
        with store_of(memory).connection(write=True) as conn:
            conn.execute("DELETE FROM pgvector_vectors WHERE id IN (SELECT id FROM pgvector_vectors LIMIT 3)")
        assert [(p.kind, p.user_id, p.count) for p in memory.doctor().problems] == [("external", "ana", 3)]
        memory.doctor(repair=True)
        memory.maintain()
        assert settled(memory).doctor().healthy
    with opened(place, vectors="exact") as memory:
        assert hits(memory, "parcel 741") == found
        memory.reembed(HashEmbedder(96, name="hash/2"))
    with opened(place, embedder=HashEmbedder(96, name="hash/2")) as memory:
        assert hits(memory) and hits(settled(memory)) and memory.doctor().healthy
        memory.forget_user("ana")
        assert rows_of(store_of(memory)) == {}


def test_what_cannot_be_is_refused(tmp_path: Path, place: str, postgres_server: Any, postgres_url: str) -> None:
    with pytest.raises(ConfigError, match="PostgreSQL"):
        opened(str(tmp_path / "s"))
    pytest.importorskip("cryptography")
    with pytest.raises(ConfigError, match="allow_external_vectors"):
        opened(f"{postgres_url}?schema=sealed&key_file={tmp_path / 'sealed.key'}", key_provider=b"k" * 32)
    bare = postgres_server.new_database(pgvector=False)
    try:
        with pytest.raises(ConfigError, match="CREATE EXTENSION vector"):
            opened(f"{bare}?key_file={tmp_path / 'bare.key'}")
    finally:
        postgres_server.drop_database(bare)
    with opened(place) as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    with opened(place, read_only=True) as memory:
        assert hits(memory, "Where do I live?")


def test_an_encrypted_store_may_be_told_to(place: str) -> None:
    pytest.importorskip("cryptography")
    with opened(place, key_provider=b"k" * 32, allow_external_vectors=True) as memory:
        for i in range(60):
            memory.observe(user_id="ana", session_id="s", user=f"Note {i}: the parcel {i * 37} is at gate {i % 7}.")
        assert hits(memory) == hits(settled(memory)) and memory.doctor().healthy
