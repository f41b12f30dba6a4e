"""What the SQLite store costs beside one large user and many small ones.

python benchmarks/store_sqlite.py [--chunks 30000] [--users 1000]

One transaction is what observing a message writes: the look-ups before it (tombstone, watermark, duplicate), the
session, a message, two chunks with 512-d vectors and about 30 postings, and with "fact" also the current facts of
its slot, a fact with evidence and a line in the change feed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np

from ltm_core.config import Config
from ltm_core.store.base import ChunkWrite, MessageRow, Writer
from ltm_core.store.sqlite import SqliteStore, open_store
from ltm_core.types import Evidence, Fact, FactChange

DIMENSION = 512
T0 = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = "我上周去了杭州，住在西湖边。 The oboe lesson is on Friday at five, please remember the reed. " * 2
WORDS = [f"w{i}" for i in range(20_000)]


class Load:
    """A reproducible stream of messages: Zipf words, random unit vectors, 50 relations."""

    def __init__(self) -> None:
        self.random = random.Random(1)
        self.weights = np.cumsum(1 / (np.arange(len(WORDS)) + 5)).tolist()
        vectors = np.random.default_rng(0).standard_normal((4096, DIMENSION)).astype(np.float32)
        self.vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        self.count = 0

    def terms(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for word in self.random.choices(WORDS, cum_weights=self.weights, k=15):
            found[word] = found.get(word, 0) + 1
        return found

    def observe(self, w: Writer, *, with_fact: bool) -> None:
        self.count += 1
        at, id = T0 + timedelta(seconds=self.count), f"m{self.count}"
        session = f"s{self.count // 200}"
        w.ensure_user(now=at)
        w.is_tombstoned("message", id)
        w.erased_before()
        w.message(id, session_id=session)
        w.touch_session(session, at=at, now=at)
        m = w.add_message(
            MessageRow(id=id, session_id=session, role="user", content=TEXT, at=at, recorded_at=at, act="statement")
        )
        chunks = [
            ChunkWrite(start=0, end=50, terms=self.terms(), vector=self.vectors[(self.count + k) % 4096])
            for k in range(2)
        ]
        w.set_chunks("message", m.item, chunks, at=at, session_id=session)
        if with_fact:
            relation, value = f"r{self.count % 50}", f"o{self.count}"
            w.facts(slots=[("user", relation)], current_at=at, limit=20)
            fact = Fact(
                id=f"f{self.count}",
                user_id=w.user_id,
                subject="user",
                relation=relation,
                object=value,
                object_normalized=value,
                text=TEXT[:30],
                valid_from=at,
                recorded_at=at,
                last_seen_at=at,
                evidence=(Evidence(message_id=id, start=0, end=4),),
                source_message_ids=(id,),
            )
            w.add_fact(fact)
            w.log_change(FactChange(op="add", fact=fact, reason="rule", at=at))


def measured(name: str, work: Callable[[int], object], count: int) -> None:
    times = []
    for i in range(count):
        began = time.perf_counter()
        work(i)
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    print(f"{name:58} p50 {times[len(times) // 2]:7.2f}   p95 {times[int(len(times) * 0.95)]:7.2f} ms")


def once(name: str, work: Callable[[], object]) -> None:
    began = time.perf_counter()
    work()
    print(f"{name:58} {(time.perf_counter() - began) * 1000:11.1f} ms")


def run(store: SqliteStore, chunks: int, users: int) -> None:
    load = Load()
    store.operations().set_embedder_identity("bench", dimension=DIMENSION, now=T0)
    for i in range(users):
        with store.write(f"u{i}") as w:
            for _ in range(30):
                load.observe(w, with_fact=False)
    for _ in range(chunks // 1000):
        with store.write("big") as w:
            for _ in range(500):
                load.observe(w, with_fact=False)
    stats = store.operations().stats()
    print(f"{stats.users} users, {stats.chunks} chunks, {stats.terms} terms, {stats.bytes_on_disk >> 20} MB")

    def observe(user: str, with_fact: bool) -> None:
        with store.write(user) as w:
            load.observe(w, with_fact=with_fact)

    def snapshot() -> None:
        with store.read("big") as r:
            r.snapshot()

    query, terms = load.vectors[5], [WORDS[i] for i in (0, 1, 7, 50, 500, 5000)]

    def search(_: int = 0) -> None:
        with store.read("big") as r:
            taken = r.snapshot()
            best = np.argpartition(-taken.cosine(query), 60)[:60]
            taken.postings(terms)
            r.messages(items=[int(i) for i in taken.rows.owner[best]])

    def remove_last() -> None:
        with store.write("big") as w:
            w.delete_messages([w.messages(newest_first=True, limit=1)[0].item])

    measured("transaction, large user, with a fact", lambda _: observe("big", True), 400)
    measured("transaction, large user, no fact", lambda _: observe("big", False), 400)
    measured("transaction, small users, with a fact", lambda i: observe(f"u{i % users}", True), 400)
    once("snapshot, first load of the large user", snapshot)
    measured("snapshot, nothing changed", lambda _: snapshot(), 200)
    search()
    measured("search: cosine, 6 postings, 60 messages fetched", search, 60)
    times = []
    for _ in range(200):
        observe("big", False)
        began = time.perf_counter()
        snapshot()
        times.append((time.perf_counter() - began) * 1000)
    print(f"{'snapshot after one write':58} p50 {sorted(times)[100]:7.2f}   p95 {sorted(times)[190]:7.2f} ms")
    remove_last()
    once("snapshot after a removal", snapshot)
    with store.write("thousand") as w:
        for _ in range(1000):
            load.observe(w, with_fact=True)

    def erase() -> None:
        with store.write("thousand") as w:
            w.erase_user(now=T0)

    once("erase a user of 1,000 messages and facts", erase)
    once("  then truncate the log", lambda: store.operations().scrub(wait_seconds=5))
    once(
        "  then scan every byte for one needle",
        lambda: store.operations().scrub(needles=[b"ZQ-7741-KESTREL"], wait_seconds=5),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=30_000, help="chunks of the large user")
    parser.add_argument("--users", type=int, default=1000, help="small users of 60 chunks")
    parser.add_argument("--durability", choices=("process", "power"), default="process")
    given = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="ltm-bench-")
    try:
        store = open_store(directory, config=Config.make(durability=given.durability))
        try:
            run(store, given.chunks, given.users)
        finally:
            store.close()
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
