"""Whether one user's recall stays as fast while the store grows: many users, one node, one file.

    python -m benchmarks.scale [--memories 1000000] [--users 10000] [--own 1000] [--json FILE] [--keep DIR]

One user ("ana") has ``own`` memories in a store with nobody else, and in a store with all the others. Asked are the
same questions, each new, with and without the time of the embedder. Opening, one turn and the memory of the process
are measured in the full store; the vectors are random, so the figures need rows and not meaning.

    python -m benchmarks.scale --engines MEMORIES --keep DIR [--large 30000] [--vectors exact] [--vectors pgvector]
        [--vectors chroma] [--only vectors] [--json FILE]
    python -m benchmarks.scale --store DIR --store postgresql://… --vectors exact …

Several engines side by side with the same memories, among them a user of 30,000: `benchmarks.engines`. A million
vectors of one user, exactly and by each index: ``--engines 10000 --large 1000000 --only vectors``.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.report import report
from benchmarks.surroundings import machine
from benchmarks.talk import questions, turns


def asked(store: Path, count: int, seed: int) -> dict[str, float]:
    """Milliseconds (median, and of processor time) of ``count`` new questions and as many turns of "ana"."""
    from ltm_core import LongTermMemory

    started = time.perf_counter()
    with LongTermMemory.open(store, timezone="UTC") as memory:
        opened = time.perf_counter() - started
        memory._runtime.embedder.embed_query("warm up")
        started = time.perf_counter()
        memory.context("first question of the day", user_id="ana")
        first = time.perf_counter() - started
        wall, cpu, without, writes = [], [], [], []
        for question in islice(questions(seed), count):
            at, used = time.perf_counter(), time.process_time()
            memory.context(question, user_id="ana")
            wall.append(time.perf_counter() - at)
            cpu.append(time.process_time() - used)
            memory._runtime.recalls.clear()
            used = time.process_time()
            memory.context(question, user_id="ana")
            without.append(time.process_time() - used)
        for text in islice(turns(seed), count):
            used = time.process_time()
            memory.observe(user_id="ana", session_id="bench", user=text)
            writes.append(time.process_time() - used)
    return {
        "open, s": round(opened, 3),
        "first context, ms": round(first * 1000, 1),
        "context, ms": _ms(wall),
        "context, cpu ms": _ms(cpu),
        "context without embedding, cpu ms": _ms(without),
        "observe, cpu ms": _ms(writes),
    }


def _ms(values: list[float]) -> float:
    return round(statistics.median(values) * 1000, 3)


def everybody(store: Path, users: int, count: int) -> dict[str, float]:
    """Every ``count``-th user asks once: the bounded cache of vectors, and the memory of the process."""
    from ltm_core import LongTermMemory

    with LongTermMemory.open(store, timezone="UTC", vector_cache_mb=128) as memory:
        before = _rss()
        times = []
        for number in range(0, users, max(1, users // count)):
            at = time.perf_counter()
            memory.context("How was the trip to the coast?", user_id=f"user-{number}")
            times.append(time.perf_counter() - at)
        return {
            "users asked": len(times),
            "context of a user not in the cache, ms": _ms(times),
            "process before, MB": before,
            "process after, MB": _rss(),
        }


def _rss() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmRSS"))
        return round(int(line.split()[1]) / 1024, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def alone(part: str, *arguments: str) -> dict[str, Any]:
    """The part in a process of its own, so that nothing is warm from another."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--part", part, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def make(store: Path, memories: int, users: int, own: int) -> float:
    """One half of the memories of "ana", the others, and the other half in their midst; returns seconds."""
    from benchmarks.fill import fill
    from ltm_core import LongTermMemory

    started = time.perf_counter()
    with LongTermMemory.open(store, timezone="UTC") as memory:
        half = own // 2
        fill(memory, "ana", half, seed=1)
        for number in range(users):
            if number == users // 2:
                fill(memory, "ana", own - half, seed=2)
            fill(memory, f"user-{number}", max(1, memories // users), seed=number + 10)
            if number % 500 == 499:
                print(f"{number + 1} users, {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        if not users:
            fill(memory, "ana", own - half, seed=2)
    return round(time.perf_counter() - started, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=1_000_000, help="of all the other users together")
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--own", type=int, default=1000, help="memories of the user who is measured")
    parser.add_argument("--count", type=int, default=60, help="questions and turns per figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the stores here, or use those that are here")
    parser.add_argument("--engines", type=int, metavar="MEMORIES", help="fill a SQLite and a PostgreSQL, and compare")
    parser.add_argument("--store", action="append", metavar="DIR|URL", help="a store to compare with the others")
    parser.add_argument("--vectors", action="append", metavar="KIND", help="exact, pgvector, chroma://HOST:PORT")
    parser.add_argument("--large", type=int, default=30_000, help="memories of the large user of --engines")
    parser.add_argument("--only", action="append", choices=("recall", "vectors", "client", "writing", "writer"))
    parser.add_argument("--clients", type=int, default=8, help="processes that ask at once")
    parser.add_argument("--seconds", type=float, default=8.0, help="how long they do")
    parser.add_argument("--start", type=float, default=30.0, help="seconds until the last of them is ready")
    for hidden, kind in (("--part", str), ("--number", int), ("--begin", float)):
        parser.add_argument(hidden, type=kind, default=None, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part == "asked":
        print(json.dumps(asked(Path(arguments.store[0]), arguments.count, seed=5)))
    elif arguments.part == "everybody":
        print(json.dumps(everybody(Path(arguments.store[0]), arguments.users, 300)))
    elif arguments.part:
        from benchmarks.engines import run_part

        run_part(arguments)
    elif arguments.engines or arguments.store:
        from benchmarks.engines import compare

        compare(arguments)
    else:
        grown(arguments)


def grown(arguments: argparse.Namespace) -> None:
    """One user in an empty store and in a full one."""
    with tempfile.TemporaryDirectory(prefix="ltm-scale-") as folder:
        place = arguments.keep or Path(folder)
        found: dict[str, Any] = {"machine": machine(), "memories": arguments.memories, "users": arguments.users}
        for name, users in (("empty", 0), ("full", arguments.users)):
            if not (place / name).exists():
                found[f"filling {name}, s"] = make(place / name, arguments.memories, users, arguments.own)
        count = ("--count", str(arguments.count))
        for name in ("empty", "full"):
            found[name] = alone("asked", "--store", str(place / name), *count)
        found["ratio"] = {k: round(v / max(found["empty"][k], 0.001), 2) for k, v in found["full"].items()}
        found["everybody"] = alone("everybody", "--store", str(place / "full"), "--users", str(arguments.users))
        found["bytes on disk, MB"] = round(sum(f.stat().st_size for f in (place / "full").iterdir()) / 2**20)
    report(found, arguments.json)


if __name__ == "__main__":
    main()
