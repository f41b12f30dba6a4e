"""What age tiers cost and save: one user of many turns, asked hot, warm and cold.

    python -m benchmarks.tiers [--memories 20000] [--json FILE]

Times are of the processor. ``warm``: all turns in the store; ``by age``: the last 30 days first; ``cold``: the older
half in files, searched with ``include_cold=True``; beside it what the move itself takes, and one night's upkeep.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.fill import START, fill
from benchmarks.report import report
from benchmarks.surroundings import machine
from benchmarks.talk import questions


def median_ms(ask: Callable[[str], object], seed: int, count: int) -> float:
    times = []
    for question in islice(questions(seed), count):
        used = time.process_time()
        ask(question)
        times.append((time.process_time() - used) * 1000)
    return round(statistics.median(times), 2)


def measure(memories: int, folder: Path, count: int) -> dict[str, Any]:
    from ltm_core import LongTermMemory

    end = START + timedelta(minutes=17 * memories)
    found: dict[str, Any] = {"machine": machine(), "memories": memories, "days": (end - START).days}

    def opened(**options: Any) -> LongTermMemory:
        return LongTermMemory.open(folder, timezone="UTC", clock=lambda: end, **options)

    with opened() as memory:
        fill(memory, "ana", memories, seed=1)
        memory.search("warm up", user_id="ana")
        found["search warm, ms"] = median_ms(lambda q: memory.search(q, user_id="ana"), 3, count)
        memory.maintain()
    with opened(tiers_by_age=True) as memory:
        memory.search("warm up", user_id="ana")
        found["search by age, ms"] = median_ms(lambda q: memory.search(q, user_id="ana"), 3, count)
    with opened(forgetting=("decay", "capacity"), capacity_per_user=0, forget_below=0.0) as memory:
        started = time.perf_counter()
        memory.maintain()
        found["night that looks at all and drops none, s"] = round(time.perf_counter() - started, 2)
    with opened(cold_after_days=found["days"] / 2) as memory:
        started = time.perf_counter()
        found["moved"] = memory.maintain().cold
        found["move, s"] = round(time.perf_counter() - started, 2)
        files = list((folder / "archive").rglob("*.parquet"))
        found["files"], found["bytes per turn"] = len(files), sum(f.stat().st_size for f in files) // found["moved"]
        memory.search("warm up", user_id="ana")
        found["search without cold, ms"] = median_ms(lambda q: memory.search(q, user_id="ana"), 3, count)
        found["search with cold, ms"] = median_ms(
            lambda q: memory.search(q, user_id="ana", include_cold=True), 3, max(3, count // 10)
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--count", type=int, default=40, help="questions per figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-tiers-") as folder:
        found = measure(arguments.memories, Path(folder) / "store", arguments.count)
    report(found, arguments.json)


if __name__ == "__main__":
    main()
