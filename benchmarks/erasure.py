"""What erasing one user costs in a store that holds many others.

python -m benchmarks.erasure [--others 1000000] [--memories 1000] [--keep FOLDER]

The others are filled through the store (one user of 1,000 memories at a time, with vectors and postings). Then a user
of as many memories as asked is filled and erased, three times. Printed are the transaction that hides everything and
removes every row, the truncation of the log that overwrites the bytes, and the whole call with the proof that no file
holds a byte of it, which reads the files and so grows with them. And the plans: no statement of an erasure looks at a
row of the others. With ``--keep`` the store of the others stays in FOLDER, and a later run goes on with it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.store_sqlite import DIMENSION, Load
from ltm_core import LongTermMemory
from ltm_core.config import Config
from ltm_core.store.sqlite import open_store
from ltm_core.testing.embedders import HashEmbedder

T0 = datetime(2026, 1, 1, tzinfo=UTC)
PER_USER = 1000


def filled(place: Path, user: str, memories: int, load: Load, identity: str) -> None:
    store = open_store(place, config=Config.make())
    store.operations().set_embedder_identity(identity, dimension=DIMENSION, now=T0)
    for _ in range(0, memories, 500):
        with store.write(user) as w:
            for n in range(500):
                load.observe(w, with_fact=n % 10 == 0)
    store.close()


def fill_others(place: Path, others: int, load: Load, identity: str) -> None:
    store = open_store(place, config=Config.make())
    store.operations().set_embedder_identity(identity, dimension=DIMENSION, now=T0)
    began = time.perf_counter()
    for user in range(len(store.operations().users(limit=others)), others // PER_USER):
        with store.write(f"other {user}") as w:
            for n in range(PER_USER):
                load.observe(w, with_fact=n % 10 == 0)
    store.close()
    size = sum(f.stat().st_size for f in place.iterdir()) >> 20
    print(f"{others} memories of {others // PER_USER} others in {time.perf_counter() - began:.0f} s, {size} MB")


def erased(place: Path, user: str) -> None:
    """The parts, then the whole, for users of one size."""
    store = open_store(place, config=Config.make())
    began = time.perf_counter()
    with store.write(f"{user} parts") as w:
        counts = w.erase_user(now=T0)
    committed = time.perf_counter()
    store.operations().scrub(wait_seconds=5)
    truncated = time.perf_counter()
    store.close()
    with LongTermMemory.open(place, embedder=HashEmbedder(DIMENSION), timezone="UTC") as memory:
        start = time.perf_counter()
        receipt = memory.forget_user(f"{user} whole")
        whole = time.perf_counter() - start
    print(
        f"erase {counts['messages']} messages, {sum(counts.values())} rows: transaction "
        f"{(committed - began) * 1000:.0f} ms, log truncated {(truncated - committed) * 1000:.0f} ms; "
        f"forget_user with its proof {whole * 1000:.0f} ms (clean: {receipt.bytes_clean})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--others", type=int, default=1_000_000)
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    load, embedder = Load(), HashEmbedder(DIMENSION)
    with tempfile.TemporaryDirectory(prefix="ltm-bench-") as folder:
        for others in (0, given.others):
            place = (given.keep if others and given.keep else Path(folder)) / str(others)
            place.parent.mkdir(parents=True, exist_ok=True)
            with LongTermMemory.open(place, embedder=embedder, timezone="UTC") as memory:
                identity = memory._runtime.store.operations().embedder_identity() or ""
            if others:
                fill_others(place, others, load, identity)
            for number in range(3):
                for part in ("parts", "whole"):
                    filled(place, f"user {others} {number} {part}", given.memories, load, identity)
                erased(place, f"user {others} {number}")


if __name__ == "__main__":
    main()
