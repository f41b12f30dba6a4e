"""Exact search beside Chroma as an index, for one large user: the same store, the same questions, in turn.

python -m benchmarks.chroma [--chunks 30000]

Milliseconds by the clock. Chroma names candidates; their cosines are computed exactly, so what differs is which rows
are looked at: recall@10 counts how many of the exact first ten they hold.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from benchmarks.store_sqlite import DIMENSION, T0, Load
from ltm_core.config import Config
from ltm_core.store.external import host_of
from ltm_core.store.sqlite import SqliteStore, open_store

TOPICS = 256


class Topics(Load):
    """Vectors in weak clusters, as texts make them."""

    def __init__(self) -> None:
        super().__init__()
        random = np.random.default_rng(0)
        centres = random.standard_normal((TOPICS, DIMENSION)).astype(np.float32)
        noise = random.standard_normal((40_000, DIMENSION)).astype(np.float32)
        vectors = 0.6 * centres[random.integers(TOPICS, size=len(noise))] + noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self.pool = vectors
        self.vectors = vectors[:4096]

    def turn(self) -> None:
        """The next 4,096 vectors of the pool are used."""
        begin = (self.count * 2) % (len(self.pool) - 4096)
        self.vectors = self.pool[begin : begin + 4096]


def asked(store: SqliteStore, queries: np.ndarray) -> tuple[list[float], list[set[int]]]:
    spent, found = [], []
    for query in queries:
        began = time.perf_counter()
        with store.read("big") as r:
            cosine = r.snapshot().cosine(query)
        spent.append((time.perf_counter() - began) * 1000)
        best = np.argsort(-np.where(np.isnan(cosine), -2, cosine))[:10]
        found.append(set(best.tolist()))
    return spent, found


def first_load(store: SqliteStore) -> float:
    store._caches.clear()
    began = time.perf_counter()
    with store.read("big") as r:
        r.snapshot()
    return (time.perf_counter() - began) * 1000


def line(name: str, values: list[float]) -> None:
    values = sorted(values)
    print(f"{name:44} p50 {statistics.median(values):8.2f}   p95 {values[int(len(values) * 0.95)]:8.2f} ms")


def run(directory: Path, chunks: int) -> None:
    load = Topics()
    with closing(open_store(directory, config=Config.make())) as store:
        store.operations().set_embedder_identity("bench", dimension=DIMENSION, now=T0)
        for _ in range(chunks // 1000):
            load.turn()
            with store.write("big") as w:
                for _ in range(500):
                    load.observe(w, with_fact=False)
        queries = load.pool[-60:] + 0.05 * np.random.default_rng(1).standard_normal((60, DIMENSION)).astype(
            np.float32
        )
        line("first load, exact", [first_load(store) for _ in range(3)])
        exact_ms, exact = asked(store, queries)
        line("cosine, exact", exact_ms)
        before = store._snapshots().used
        host = host_of("chroma", store.directory, store.name)
        assert host is not None
        index = store.attach(host, at_least=1000, candidates=512)
        began = time.perf_counter()
        while index.step():
            pass
        print(f"{'building the collection':44} {time.perf_counter() - began:12.1f} s")
        line("first load, vectors in Chroma", [first_load(store) for _ in range(3)])
        chroma_ms, near = asked(store, queries)
        line("candidates by Chroma, exact cosines of 512", chroma_ms)
        recall = statistics.mean(len(a & b) / 10 for a, b in zip(exact, near, strict=True))
        print(f"recall@10 of the candidates {recall:.3f}")
        print(f"arrays in memory, MB: exact {before / 1e6:.0f}, with Chroma {store._snapshots().used / 1e6:.0f}")
        folder = sum(f.stat().st_size for f in (directory / "chroma").rglob("*"))
        database = (directory / "memory.sqlite3").stat().st_size
        print(f"on disk, MB: database {database / 1e6:.0f}, Chroma {folder / 1e6:.0f}")
        times = []
        for _ in range(20):
            with store.write("big") as w:
                load.observe(w, with_fact=False)
            began = time.perf_counter()
            while index.step():
                pass
            times.append((time.perf_counter() - began) * 1000)
        line("telling Chroma of one turn (in the thread)", times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=30_000, help="chunks of the user")
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="ltm-bench-"))
    try:
        run(root, given.chunks)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
