"""How long a server's event loop waits while many questions are asked at once.

    python -m benchmarks.loop [--store DIR|postgresql://…] [--calls 200] [--users 20] [--memories 200] [--json FILE]

``--calls`` calls of `acontext` are started at once on one loop, several times over. Meanwhile a clock on the same
loop wants to wake up every millisecond: how late it does is how long the loop was kept from everything else, by the
product's own code on it, by threads that hold the interpreter, and by the machine. Without ``--store`` a PostgreSQL
is started, and a directory is measured beside it. The same clock on an idle loop comes first: what the machine alone
does. All is measured twice: as it is, and with what was there before the calls kept out of the garbage collector's
hands (`gc.freeze`), as `ltm serve` does after its start.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import tempfile
import time
from collections.abc import Awaitable
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.fill import fill
from benchmarks.surroundings import machine
from benchmarks.talk import questions
from ltm_core import LongTermMemory

TICK = 0.001
"""Seconds between two wakings of the clock."""
ROUNDS = 3
WANTED_MS = 50.0
"""No longer should the loop ever wait."""


async def lateness(work: Awaitable[Any]) -> list[float]:
    """Milliseconds by which each waking of the clock came late while the work was done."""
    late: list[float] = []
    done = asyncio.ensure_future(work)
    while not done.done():
        due = time.perf_counter() + TICK
        await asyncio.sleep(TICK)
        late.append((time.perf_counter() - due) * 1000)
    await done
    return late


async def measured(memory: LongTermMemory, calls: int, users: int, *, frozen: bool) -> dict[str, Any]:
    asked = questions(11)
    for number in range(users):
        await memory.acontext(next(asked), user_id=f"user-{number}")
    if frozen:
        gc.collect()
        gc.freeze()
    idle = await lateness(asyncio.sleep(1.0))
    late: list[float] = []
    began = time.perf_counter()
    for _ in range(ROUNDS):
        batch = list(islice(asked, calls))
        late += await lateness(
            asyncio.gather(*(memory.acontext(q, user_id=f"user-{i % users}") for i, q in enumerate(batch)))
        )
    seconds = time.perf_counter() - began
    gc.unfreeze()
    ordered = sorted(late)
    return {
        "calls at once": calls,
        "contexts a second": round(ROUNDS * calls / seconds, 1),
        "longest lateness, ms": round(ordered[-1], 1),
        "99th percentile, ms": round(ordered[int(len(ordered) * 0.99)], 1),
        f"wakings later than {WANTED_MS:g} ms": sum(ms > WANTED_MS for ms in late),
        "longest lateness of an idle loop, ms": round(max(idle), 1),
    }


def of(store: str, given: argparse.Namespace) -> dict[str, Any]:
    with LongTermMemory.open(store, timezone="UTC") as memory:
        for number in range(given.users):
            user = f"user-{number}"
            with memory._runtime.store.read(user) as reader:
                is_filled = len(reader.snapshot().rows.item) >= given.memories
            if not is_filled:
                fill(memory, user, given.memories, seed=number)
        plain = asyncio.run(measured(memory, given.calls, given.users, frozen=False))
        return {"as it is": plain, "frozen": asyncio.run(measured(memory, given.calls, given.users, frozen=True))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", metavar="DIR|URL", help="measure this one; it is filled unless it has the users")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--memories", type=int, default=200, help="of each user")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    given = parser.parse_args()
    found: dict[str, Any] = {"machine": machine()}
    if given.store:
        found[given.store.partition(":")[0]] = of(given.store, given)
    else:
        from ltm_core.testing.servers import PostgresServer

        with tempfile.TemporaryDirectory() as folder, PostgresServer() as server:
            place = f"{server.new_database()}?key_file={Path(folder) / 'store.key'}"
            found["PostgreSQL"] = of(place, given)
            found["SQLite"] = of(str(Path(folder) / "data"), given)
    text = json.dumps(found, indent=2)
    print(text)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
