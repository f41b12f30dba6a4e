"""How long the sweep of idle sessions takes, and what a turn beside it waits.

    python -m benchmarks.sweep [--sessions 100000] [--users 10000] [--json FILE]

The store holds that many open sessions of two turns each. Once they are idle, one thread runs `maintain`; the main
thread meanwhile observes turns of another user and times each. The same turns are timed before, with nothing beside.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.latency import median, p95
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


def measure(sessions: int, users: int, folder: Path) -> dict[str, Any]:
    from ltm_core import LongTermMemory

    now = [START]
    with LongTermMemory.open(folder, timezone="UTC", clock=lambda: now[0]) as memory:
        fill(memory, sessions, users)
        now[0] = START + timedelta(hours=1)
        alone = timed_turns(memory, lambda n: n >= 100)
        took: dict[str, float] = {}
        done = threading.Event()

        def sweep() -> None:
            started = time.perf_counter()
            took["closed"] = memory.maintain().sessions_closed
            took["seconds"] = time.perf_counter() - started
            done.set()

        thread = threading.Thread(target=sweep)
        thread.start()
        beside = timed_turns(memory, lambda n: done.is_set())
        thread.join()
    with LongTermMemory.open(folder.parent / "alone", timezone="UTC", clock=lambda: now[0]) as memory:
        now[0] = START
        fill(memory, sessions, users)
        now[0] = START + timedelta(hours=1)
        started, used = time.perf_counter(), time.process_time()
        closed = memory._runtime.store.operations()
        count, idle = 0, now[0] - timedelta(minutes=15)
        while batch := closed.close_idle_sessions(
            idle_before=idle, now=now[0], limit=memory.config.maintenance_batch
        ):
            count += len(batch)
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
        "maintain with nothing to do, seconds": round(idle_run, 3),
        "maintain beside turns, seconds": round(took["seconds"], 2),
        "turns beside it": len(beside),
        "turn alone, ms": {"p50": median(alone), "p95": p95(alone), "max": round(max(alone), 1)},
        "turn beside it, ms": {"p50": median(beside), "p95": p95(beside), "max": round(max(beside), 1)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--dir", type=Path, help="where the temporary stores are made")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-sweep-", dir=arguments.dir) as folder:
        found = measure(arguments.sessions, arguments.users, Path(folder) / "store")
    text = json.dumps(found, indent=2, ensure_ascii=False)
    print(text, file=sys.stdout)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
