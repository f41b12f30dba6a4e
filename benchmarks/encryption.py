"""What encryption at rest costs: a plain and an encrypted store filled alike, timed call by call in turn.

python -m benchmarks.encryption [--chunks 30000] [--users 200]

Milliseconds are processor time of this process (a busy machine stretches the clock, and disk flushes are the same
for both), p50; the ratio is of those. Then what it takes to encrypt the plain store, to change the master key, and
to forget a user.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np

from benchmarks.store_sqlite import DIMENSION, T0, WORDS, Load
from ltm_core import LongTermMemory
from ltm_core.config import Config
from ltm_core.store.keys import LocalKeys
from ltm_core.store.sqlite import SqliteStore, open_store

ONE, TWO = b"\x01" * 32, b"\x02" * 32
Step = Callable[[SqliteStore, Load], object]


def in_turn(name: str, stores: list[SqliteStore], loads: list[Load], step: Step, count: int) -> None:
    spent: list[list[float]] = [[] for _ in stores]
    for i in range(count):
        # Whoever goes first finds colder caches: they take turns at that, too.
        for place in (0, 1) if i % 2 else (1, 0):
            began = time.process_time()
            step(stores[place], loads[place])
            spent[place].append((time.process_time() - began) * 1000)
    plain, sealed = (statistics.median(s) for s in spent)
    print(f"{name:52} {plain:9.2f} {sealed:9.2f} ms   x{sealed / plain:.2f}")


def run(stores: list[SqliteStore], chunks: int, users: int) -> None:
    loads = [Load(), Load()]
    for store, load in zip(stores, loads, strict=True):
        store.operations().set_embedder_identity("bench", dimension=DIMENSION, now=T0)
        for user, count in [*((f"u{i}", 30) for i in range(users)), ("big", chunks // 2)]:
            for begin in range(0, count, 500):
                with store.write(user) as w:
                    for _ in range(min(500, count - begin)):
                        load.observe(w, with_fact=False)
    sizes = [s.operations().stats().bytes_on_disk for s in stores]
    print(f"{'':52} {'plain':>9} {'encrypted':>9}")
    print(f"{'MB on disk':52} {sizes[0] / 1e6:9.1f} {sizes[1] / 1e6:9.1f}      x{sizes[1] / sizes[0]:.2f}")
    query, terms = loads[0].vectors[5], [WORDS[i] for i in (0, 1, 7, 50, 500, 5000)]

    def observe(user: str, with_fact: bool) -> Step:
        def step(store: SqliteStore, load: Load) -> None:
            with store.write(user) as w:
                load.observe(w, with_fact=with_fact)

        return step

    def first_load(user: str) -> Step:
        def step(store: SqliteStore, load: Load) -> None:
            store._caches.clear()
            with store.read(user) as r:
                r.snapshot()

        return step

    def search(store: SqliteStore, load: Load) -> None:
        with store.read("big") as r:
            taken = r.snapshot()
            best = np.argpartition(-taken.cosine(query), 60)[:60]
            taken.postings(terms)
            r.messages(items=[int(i) for i in taken.rows.owner[best]])

    def page(store: SqliteStore, load: Load) -> None:
        with store.read("big") as r:
            r.messages(newest_first=True, limit=100)

    in_turn("transaction of a turn with a fact, large user", stores, loads, observe("big", True), 300)
    in_turn("transaction of a turn, small user", stores, loads, observe("u3", False), 300)
    in_turn(f"first load of {chunks:,} chunks", stores, loads, first_load("big"), 5)
    in_turn("first load of 60 chunks", stores, loads, first_load("u5"), 100)
    first_load("big")(stores[0], loads[0]), first_load("big")(stores[1], loads[1])
    in_turn("search: cosine, 6 postings, 60 messages fetched", stores, loads, search, 60)
    in_turn("100 messages read", stores, loads, page, 60)


def changing(directory: Path) -> None:
    began = time.perf_counter()
    done = LongTermMemory.encrypt(directory, key_provider=ONE)
    print(f"encrypting the plain store: {done.users} users, {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    done = LongTermMemory.rekey(directory, key_provider=ONE, to=TWO)
    print(f"another master key: {done.users} data keys, {time.perf_counter() - began:.2f} s")
    with LongTermMemory.open(directory, embedder="none", timezone="UTC", key_provider=TWO) as memory:
        receipt = memory.forget_user("u7")
        print(f"forgetting a small user, bytes clean {receipt.bytes_clean}: {receipt.seconds:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=30_000, help="chunks of the large user")
    parser.add_argument("--users", type=int, default=200, help="small users of 60 chunks")
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="ltm-bench-"))
    try:
        with ExitStack() as stack:
            stores = [
                stack.enter_context(closing(open_store(root / name, config=Config.make(), keys=keys)))
                for name, keys in (("plain", None), ("encrypted", LocalKeys(ONE)))
            ]
            run(stores, given.chunks, given.users)
        changing(root / "plain")
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
