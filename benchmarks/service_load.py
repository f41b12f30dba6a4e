"""The service under minutes of mixed load, one of its workers killed in the middle.

python -m benchmarks.service_load [--seconds 600] [--workers 4] [--connections 16] [--rate 0] [--users 200]
                                  [--embedder none] [--kill-at 0.5] [--json FILE]

Callers ask one request after the other on kept-alive connections (or, with --rate, so many requests a second are
begun, whatever the service manages, and the wait for a free connection counts). Needs Linux and the extra ``server``.

Checked: every answer is 2xx; no answer holds another user's words; only requests that were under way at the killed
worker break, and made again they succeed; the worker is replaced; afterwards every acknowledged turn is in the store
once with its words, and every one that was erased is not.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.http_connection import Connection
from benchmarks.processes import children, is_worker, processor_seconds, resident_megabytes
from benchmarks.service_users import MIX, Ask, Told, crossed, filling, next_ask, user_id
from ltm_core import LongTermMemory
from ltm_core.serve.keys import KEYS_FILE, Keyring

HOST, PORT = "127.0.0.1", 8719
TRIES = 4
REQUESTS_PER_CONNECTION = 100
"""Then a caller connects anew, as callers come and go; else workers would keep the shares of the first moment."""
START_SECONDS = 60.0
WORKING_SECONDS = 3.0
"""Processor time from which a new worker has answered: imports and the embedder take less."""


@dataclass
class Run:
    """What happened."""

    times: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in MIX})
    """Milliseconds by kind."""
    minutes: Counter[int] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    """Answers that should not have been: kind and status, or "crossed"."""
    broken: list[float] = field(default_factory=list)
    """When a connection broke under a request, in seconds from the beginning."""
    killed: float | None = None
    started: float | None = None
    """Seconds from the kill until another process was there."""
    replaced: float | None = None
    """Seconds from the kill until it had answered."""
    told: Told = field(default_factory=Told)


class Served:
    """``ltm serve`` in processes of its own, on a store that an application's key reaches."""

    def __init__(self, place: Path, given: argparse.Namespace) -> None:
        self.place = place
        command = [sys.executable, "-m", "ltm_core.cli", "serve", "--store", str(place), "--host", HOST]
        command += ["--port", str(PORT), "--workers", str(given.workers)]
        command += ["--embedder", given.embedder] if given.embedder else []
        limits = {"LTM_SERVE_REQUESTS_PER_MINUTE": "0", "LTM_TIMEZONE": "UTC"}
        environment = {**os.environ, **limits}
        self.key, _ = Keyring(place / KEYS_FILE).add("app", now=datetime.now(UTC), app_id="load")
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        self._used: dict[int, float] = {}

    @property
    def workers(self) -> list[int]:
        return [pid for pid in children(self._process.pid) if is_worker(pid)]

    def look(self) -> None:
        """What each process used so far is known, also of one that will be killed."""
        for pid in (self._process.pid, *self.workers):
            self._used[pid] = processor_seconds(pid)

    @property
    def processor_seconds(self) -> float:
        self.look()
        return sum(self._used.values())

    @property
    def megabytes(self) -> list[float]:
        return [round(resident_megabytes(pid)) for pid in self.workers]

    async def ready(self) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            try:
                async with Connection(HOST, PORT, {}) as one:
                    if (await one.ask("GET", "/ready"))[0] == 200:
                        return
            except OSError:
                await asyncio.sleep(0.05)
        raise SystemExit("the service did not come up")

    def stop(self) -> float:
        """Seconds until it had ended after a SIGTERM."""
        began = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        return time.monotonic() - began


class Load:
    """Callers that ask for a while, and the one that kills."""

    def __init__(self, served: Served, given: argparse.Namespace) -> None:
        self.run = Run()
        self._served = served
        self._given = given
        self._numbers = itertools.count()
        self._chance = random.Random(given.seed)
        self._busy: set[str] = set()
        self._began = 0.0

    async def warm(self) -> None:
        """Every worker has loaded what its first requests need."""
        quiet = Load(self._served, argparse.Namespace(**{**vars(self._given), "seconds": 3.0, "seed": 1, "rate": 0}))
        quiet._numbers = itertools.count(10**9)
        await quiet.callers()
        self.run.told = quiet.run.told
        assert not quiet.run.wrong, quiet.run.wrong

    async def callers(self) -> None:
        self._began = time.perf_counter()
        tick = 1 / self._given.rate if self._given.rate else 0.0
        starts = (self._began + n * tick for n in itertools.count()) if tick else None
        await asyncio.gather(*(self._caller(starts) for _ in range(self._given.connections)))

    async def _caller(self, starts: Any) -> None:
        headers = {"Authorization": f"Bearer {self._served.key}"}
        async with Connection(HOST, PORT, headers) as connection:
            for asked in itertools.count(1):
                began = time.perf_counter() if starts is None else next(starts)
                if began - self._began >= self._given.seconds:
                    return
                await asyncio.sleep(max(0.0, began - time.perf_counter()))
                ask = next_ask(self._chance, f"m{next(self._numbers)}", self._given.users, self.run.told, self._busy)
                self._busy |= {ask.id} if ask.kind == "forget" else set()
                await self._asked(connection, ask, began)
                self._busy.discard(ask.id)
                if asked % REQUESTS_PER_CONNECTION == 0:
                    connection.close()

    async def _asked(self, connection: Connection, ask: Ask, began: float) -> None:
        status, content = 0, b""
        for attempt in range(TRIES):
            try:
                status, content = await connection.ask(ask.verb, ask.path, ask.body, ask.headers)
                break
            except ConnectionError:
                self.run.broken.append(time.perf_counter() - self._began)
                if attempt + 1 == TRIES:
                    self.run.wrong[f"{ask.kind} broken {TRIES} times"] += 1
                    return
        gone_already = ask.kind == "forget" and status == 404 and attempt > 0
        if not (200 <= status < 300 or gone_already):
            self.run.wrong[f"{ask.kind} {status}"] += 1
            return
        if crossed(ask, content):
            self.run.wrong["crossed"] += 1
        self.run.told.learn(ask)
        ended = time.perf_counter()
        self.run.times[ask.kind].append((ended - began) * 1000)
        self.run.minutes[int((ended - self._began) // 60)] += 1

    async def killer(self) -> None:
        """One worker dies; told is when there are as many again."""
        if not self._given.kill_at:
            return
        await asyncio.sleep(self._given.seconds * self._given.kill_at)
        before = self._served.workers
        self._served.look()
        os.kill(before[len(before) // 2], signal.SIGKILL)
        killed = time.perf_counter()
        self.run.killed = killed - self._began
        while time.perf_counter() - self._began < self._given.seconds:
            new = set(self._served.workers) - set(before)
            # Imports take some two seconds of processor time; a process that waits for requests uses none beyond.
            if new and self.run.started is None:
                self.run.started = time.perf_counter() - killed
            if new and processor_seconds(new.pop()) > WORKING_SECONDS:
                self.run.replaced = time.perf_counter() - killed
                return
            await asyncio.sleep(0.1)


def lost(place: Path, told: Told) -> int:
    """Acknowledged turns that are not in the store once with their words, and erased ones that are."""
    wrong = 0
    with LongTermMemory.open(place, embedder="none", timezone="UTC", read_only=True) as memory:
        for user, said in told.said.items():
            kept = Counter((m.id, m.content) for m in memory.messages(user_id=user_id(user), session_id="now"))
            expected = Counter(said.items())
            wrong += sum(((kept - expected) + (expected - kept)).values())
    return wrong


def fill(place: Path, given: argparse.Namespace) -> None:
    with LongTermMemory.open(place, embedder=given.embedder, timezone="UTC") as memory:
        for user in range(given.users):
            memory.observe(user_id=user_id(user), session_id="before", messages=filling(user))


async def measured(place: Path, given: argparse.Namespace) -> dict[str, Any]:
    served = Served(place, given)
    try:
        await served.ready()
        load = Load(served, given)
        await load.warm()
        before, own = served.processor_seconds, time.process_time()
        began = time.perf_counter()
        await asyncio.gather(load.callers(), load.killer())
        seconds = time.perf_counter() - began
        used, own = served.processor_seconds - before, time.process_time() - own
        memory = served.megabytes
    finally:
        stopped = served.stop()
    run = load.run
    count = sum(len(t) for t in run.times.values())
    return {
        "requests": count,
        "requests/s": round(count / seconds, 1),
        "processor ms per request": round(1000 * used / count, 2),
        "requests per second of one core": round(count / used, 1),
        "cores of the service": round(used / seconds, 2),
        "cores of the callers": round(own / seconds, 2),
        "latency ms": {kind: table_row(times) for kind, times in run.times.items()}
        | {"all": table_row([t for times in run.times.values() for t in times])},
        "by minute": [run.minutes[m] for m in sorted(run.minutes)],
        "wrong answers": dict(run.wrong),
        "broken under way": len(run.broken),
        "broken at s": [round(min(run.broken), 1), round(max(run.broken), 1)] if run.broken else [],
        "killed at s": run.killed and round(run.killed, 1),
        "replacement starts after s": run.started and round(run.started, 1),
        "replacement works after s": run.replaced and round(run.replaced, 1),
        "MB per worker": memory,
        "stopped after s": round(stopped, 1),
        "lost, doubled or left": lost(place, run.told),
    }


def table_row(times: list[float]) -> dict[str, float]:
    """Count, percentiles and the slowest of these milliseconds."""
    ordered = sorted(times) or [0.0]
    at = {f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 1) for p in (50, 95, 99)}
    return {"n": len(times), **at, "max": round(ordered[-1])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--rate", type=float, default=0, help="requests begun per second; 0: as many as are answered")
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--embedder", default=None)
    parser.add_argument("--kill-at", type=float, default=0.5, help="share of the time; 0: nobody is killed")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, default=None)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-load-") as folder:
        place = Path(folder) / "store"
        fill(place, given)
        figures = asyncio.run(measured(place, given))
    figures = {"machine": f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", "given": str(given)} | figures
    for name, value in figures.items():
        if name == "latency ms":
            for kind, row in value.items():
                print(f"{kind:9}" + "".join(f"  {k} {v:>8}" for k, v in row.items()))
        else:
            print(f"{name}: {value}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1), "utf-8")
    bad = figures["wrong answers"] or figures["lost, doubled or left"]
    if bad or (given.kill_at and figures["replacement works after s"] is None):
        raise SystemExit("not as promised")


if __name__ == "__main__":
    main()
