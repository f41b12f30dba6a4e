"""Many processes and threads on one store for a while: writing, recalling, erasing, forking, maintaining.

    report = soak(tmp_path / "data", seconds=10, opened=open_mine)     # `open_mine` importable: place -> memory

Raises AssertionError when a call raised what it must not, a turn is lost, doubled or out of order, a recall shows
another user's words, or a recall of any process shows what was erased, or lacks what was acknowledged, before it
began.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from ltm_core.errors import ErasurePendingError
from ltm_core.memory import LongTermMemory
from ltm_core.testing.embedders import HashEmbedder

PlaceOpener: TypeAlias = Callable[[Path], LongTermMemory]
STAYING = 24
"""Users that everybody writes to and nobody erases."""
PASSING = 8
"""Users that one thread each writes and erases again and again, and everybody reads."""
CHANGING = -1


def opened(place: Path) -> LongTermMemory:
    """The default store, with an embedder that needs no model."""
    return LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC")


@dataclass(slots=True)
class SoakReport:
    """What was done and how long it took."""

    seconds: float
    calls: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    """Seconds of the slowest call of each kind."""
    pending: int = 0
    """Erasures that readers delayed; maintain finished them."""

    def __str__(self) -> str:
        rate = sum(self.calls.values()) / self.seconds
        calls = ", ".join(f"{k} {n} (slowest {self.slowest[k] * 1000:.0f} ms)" for k, n in sorted(self.calls.items()))
        return f"{rate:.0f} calls/s in {self.seconds:.0f} s: {calls}; {self.pending} erasures delayed by readers"


def soak(
    place: Path, *, seconds: float, opened: PlaceOpener = opened, processes: int = 4, threads: int = 5
) -> SoakReport:
    """The store at ``place`` (new) is used by ``processes`` × ``threads`` for ``seconds``, and is whole then."""
    opened(place).close()
    context = multiprocessing.get_context("spawn")
    states = context.RawArray("q", PASSING)
    ready = context.Barrier(processes)
    results = [place.with_name(f"{place.name}-{p}.json") for p in range(processes)]
    workers = [
        context.Process(target=_process, args=(place, opened, p, threads, seconds, ready, states, results[p]))
        for p in range(processes)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(seconds + 300)
    assert [w.exitcode for w in workers] == [0] * processes
    report = SoakReport(seconds)
    wrote: dict[str, list[str]] = {}
    for path in results:
        done = json.loads(path.read_text("utf-8"))
        assert not done["errors"], done["errors"][0]
        report.calls.update(done["calls"])
        report.pending += done["pending"]
        for kind, slowest in done["slowest"].items():
            report.slowest[kind] = max(slowest, report.slowest.get(kind, 0.0))
        for user, ids in done["wrote"].items():
            wrote.setdefault(user, []).extend(ids)
    _whole(place, opened, wrote)
    return report


def _whole(place: Path, opened: PlaceOpener, wrote: dict[str, list[str]]) -> None:
    """Each acknowledged turn is there once, the turns of one thread in their order, and nothing waits."""
    with opened(place) as memory:
        for user in (f"stays {i}" for i in range(STAYING)):
            found = [m.id for m in memory.messages(user_id=user)]
            assert Counter(found) == Counter(wrote.get(user, ())), user
            by_thread: dict[str, list[int]] = {}
            for thread, n in (id.rsplit(".", 1) for id in found):
                by_thread.setdefault(thread, []).append(int(n))
            assert all(numbers == sorted(numbers) for numbers in by_thread.values()), user
        memory.maintain()
        report = memory.doctor()
        assert report.healthy, report.problems
        stats = memory.stats()
        assert stats.jobs == 0 and stats.chunks == stats.vectors


class _Worker:
    """The threads of one process, and what they tell at the end."""

    def __init__(self, memory: LongTermMemory, number: int, threads: int, states: Any) -> None:
        self.memory, self.number, self.threads, self.states = memory, number, threads, states
        self.errors: list[str] = []
        self.calls: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}
        self.wrote: dict[str, list[str]] = {}
        self.pending = 0
        self._guard = threading.Lock()

    def run(self, thread: int, until: float) -> None:
        name = f"{self.number}.{thread}"
        chance = random.Random(name)
        # One user that comes and goes belongs to this thread, to some threads none.
        mine = self.number * 2 + thread if thread < 2 and self.number * 2 + thread < PASSING else None
        n = 0
        try:
            while time.monotonic() < until:
                n += 1
                choice = chance.random()
                if mine is not None and choice < 0.1:
                    self._come_and_go(mine, n)
                elif choice < 0.4:
                    self._write(chance, f"{name}.{n}")
                elif choice < 0.75:
                    self._read_passing(chance.randrange(PASSING))
                elif choice < 0.97:
                    self._recall(chance)
                elif choice < 0.985 and thread == 0:
                    self._timed("maintain", self.memory.maintain)
                elif thread == 1 and hasattr(os, "fork"):
                    self._fork(chance, f"{name}.{n}")
        except BaseException:  # noqa: BLE001
            self.errors.append(traceback.format_exc())

    def _timed(self, kind: str, call: Callable[[], Any]) -> Any:
        began = time.monotonic()
        try:
            return call()
        finally:
            took = time.monotonic() - began
            with self._guard:
                self.calls[kind] += 1
                self.slowest[kind] = max(took, self.slowest.get(kind, 0.0))

    def _write(self, chance: random.Random, id: str) -> None:
        user = f"stays {chance.randrange(STAYING)}"
        text = f"I love {user.replace(' ', '')}x tea. Order ORD-{chance.randrange(10**6):06d}."
        self._timed(
            "observe",
            lambda: self.memory.observe(user_id=user, session_id=f"s{chance.randrange(3)}", user=text, message_id=id),
        )
        with self._guard:
            self.wrote.setdefault(user, []).append(id)

    def _recall(self, chance: random.Random) -> None:
        number = chance.randrange(STAYING)
        ask = self.memory.context if chance.random() < 0.5 else self.memory.search
        shown = str(self._timed("recall", lambda: ask("Which tea do I love?", user_id=f"stays {number}")))
        others = [i for i in range(STAYING) if i != number and f"stays{i}x" in shown]
        assert not others, f"stays {number} sees {others}"

    def _come_and_go(self, number: int, n: int) -> None:
        user = f"passes {number}"
        if self.states[number] % 2 == 0:
            self.states[number] = CHANGING
            text = f"My locker code is zq{n}kestrel."
            self._timed("observe", lambda: self.memory.observe(user_id=user, session_id="s", user=text))
            self.states[number] = 2 * n + 1
            return
        before = self.states[number]
        self.states[number] = CHANGING
        try:
            self._timed("erase", lambda: self.memory.forget_user(user))
        except ErasurePendingError:
            # Hidden at once all the same; the bytes are maintain's.
            with self._guard:
                self.pending += 1
        self.states[number] = before - 1

    def _read_passing(self, number: int) -> None:
        before = self.states[number]
        shown = self._timed(
            "recall", lambda: self.memory.context("What is my locker code?", user_id=f"passes {number}").text
        )
        if self.states[number] != before or before in (CHANGING, 0):
            return
        there = f"zq{before // 2}kestrel" in shown
        assert there is (before % 2 == 1), f"passes {number}: {'erased' if there else 'missing'} in state {before}"

    def _fork(self, chance: random.Random, id: str) -> None:
        user = f"stays {chance.randrange(STAYING)}"
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self.memory.observe(user_id=user, session_id="s0", user="I love forks.", message_id=id)
                code = 0
            finally:
                os._exit(code)
        self._timed("fork", lambda: None)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status == 0, f"a forked child ended with {status}"
        with self._guard:
            self.wrote.setdefault(user, []).append(id)


def _process(
    place: Path,
    opened: PlaceOpener,
    number: int,
    threads: int,
    seconds: float,
    ready: Any,
    states: Any,
    result: Path,
) -> None:
    with opened(place) as memory:
        memory.observe(user_id="first", session_id="s", user="I live in Porto. 我住在上海。")
        memory.context("Where do I live?", user_id="first")
        ready.wait(120)
        worker = _Worker(memory, number, threads, states)
        until = time.monotonic() + seconds
        running = [threading.Thread(target=worker.run, args=(t, until)) for t in range(threads)]
        for t in running:
            t.start()
        for t in running:
            t.join()
    told = {
        "errors": worker.errors,
        "calls": dict(worker.calls),
        "slowest": worker.slowest,
        "pending": worker.pending,
        "wrote": worker.wrote,
    }
    result.write_text(json.dumps(told), "utf-8")


__all__ = ["PlaceOpener", "SoakReport", "opened", "soak"]
