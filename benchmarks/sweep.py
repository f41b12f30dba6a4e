"""How long the sweep of idle sessions takes, and what a turn beside it waits.

    python -m benchmarks.sweep [--sessions 100000] [--users 10000] [--repeat 3] [--json FILE]

The store holds that many open sessions of two turns each. Once they are idle, one thread runs `maintain`; the main
thread meanwhile observes turns of another user and times each. The same turns are timed before, with nothing beside.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.report import report
from benchmarks.surroundings import machine

START = datetime(2026, 1, 1, tzinfo=UTC)


def fill(memory: Any, sessions: int, users: int) -> None:
    """Open sessions with two turns and a slot, spread over the users."""
    from ltm_core.store.base import MessageRow, SlotRow

    each = max(1, sessions // users)
    for user in range(users):
        with memory._runtime.store.write(f"user-{user}") as writer:
            writer.ensure_user(now=START)
            for n in range(each):
                session = f"s{n}"
                writer.touch_session(session, at=START, now=START)
                for role in ("user", "assistant"):
                    writer.add_message(
                        MessageRow(
                            id=f"{session}-{role}",
                            session_id=session,
                            role=role,
                            content="A short turn.",
                            at=START,
                            recorded_at=START,
                        )
                    )
                writer.set_slot(session, SlotRow(name="topic", value="x", set_at=START, expires_at=None))


def timed_turns(memory: Any, until: Any) -> list[float]:
    """Milliseconds of each turn of one user, as long as ``until`` says so."""
    found: list[float] = []
    while not until(len(found)):
        started = time.perf_counter()
        memory.observe(user_id="live", session_id="now", user=f"Turn {len(found)} of a talk about boats.")
        found.append((time.perf_counter() - started) * 1000)
        time.sleep(0.005)
    return found


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Milliseconds."""
    ordered = sorted(values)
    found = {f"p{p}": ordered[min(len(ordered) - 1, len(ordered) * p // 100)] for p in (50, 95, 99)}
    return {name: round(value, 1) for name, value in (*found.items(), ("max", ordered[-1]))}


def measure(sessions: int, users: int, folder: Path, repeat: int, *, filled: Path | None = None) -> dict[str, Any]:
    """The store is filled once, or taken from ``filled``; every run gets a copy of it."""
    from ltm_core import LongTermMemory

    later = START + timedelta(hours=1)
    store = filled or folder / "filled"
    if not store.exists():
        with LongTermMemory.open(store, timezone="UTC", clock=lambda: START) as memory:
            fill(memory, sessions, users)

    def copy(name: str) -> LongTermMemory:
        shutil.copytree(store, folder / name)
        os.sync()  # else the first checkpoint waits until the copy is on the disk
        return LongTermMemory.open(folder / name, timezone="UTC", clock=lambda: later)

    alone: list[float] = []
    beside: list[float] = []
    took: list[float] = []
    for n in range(repeat):
        with copy(f"beside {n}") as memory:
            timed_turns(memory, lambda count: count >= 3)  # the first one loads the embedder
            alone += timed_turns(memory, lambda count: count >= 150)
            done = threading.Event()

            def sweep(memory: LongTermMemory = memory, done: threading.Event = done) -> None:
                started = time.perf_counter()
                assert memory.maintain().sessions_closed >= sessions
                took.append(time.perf_counter() - started)
                done.set()

            thread = threading.Thread(target=sweep)
            thread.start()
            beside += timed_turns(memory, lambda _, done=done: done.is_set())
            thread.join()
    with copy("alone") as memory:
        operations, used = memory._runtime.store.operations(), time.process_time()
        count, started = 0, time.perf_counter()
        batches: list[float] = []
        idle, limit = later - timedelta(minutes=15), memory.config.maintenance_batch
        begun = time.thread_time()
        while batch := operations.close_idle_sessions(idle_before=idle, now=later, limit=limit):
            count += batch
            batches.append((time.thread_time() - begun) * 1000)
            begun = time.thread_time()
        sweep_seconds, sweep_cpu = time.perf_counter() - started, time.process_time() - used
        started = time.perf_counter()
        memory.maintain()
        idle_run = time.perf_counter() - started
    return {
        "machine": machine(),
        "sessions": count,
        "users": users,
        "sweep alone, seconds": round(sweep_seconds, 2),
        "sweep alone, processor seconds": round(sweep_cpu, 2),
        "one transaction, processor ms": percentiles(batches),
        "maintain with nothing to do, seconds": round(idle_run, 3),
        "maintain beside turns, seconds": [round(t, 2) for t in took],
        "turns": {"alone": len(alone), "beside it": len(beside)},
        "turn alone, ms": percentiles(alone),
        "turn beside it, ms": percentiles(beside),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3, help="runs beside turns, each on a copy of the store")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the filled store here, or use the one that is")
    parser.add_argument("--dir", type=Path, help="where the temporary stores are made")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-sweep-", dir=arguments.dir) as folder:
        found = measure(arguments.sessions, arguments.users, Path(folder), arguments.repeat, filled=arguments.keep)
    report(found, arguments.json)


if __name__ == "__main__":
    main()
