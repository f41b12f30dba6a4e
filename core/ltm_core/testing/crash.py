"""Writers killed again and again on one store, and what must be true each time it is opened afterwards.

    run = CrashRun(tmp_path, opened=open_mine, seed=1)      # `open_mine` importable: (place, clock, ids) -> memory
    while run.kills < 200:
        run.round()
    run.finish()

Any store and index inherits it: ``watched`` tells what files a killer from outside should wait for, ``also`` what
else must hold of the memory that is opened after a death. A second store, never killed, does the same steps; the
first must hold what the second holds after the last acknowledged step, or with the step that was under way, whole.
"""

from __future__ import annotations

import multiprocessing
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from ltm_core.memory import LongTermMemory
from ltm_core.testing.clock import Clock
from ltm_core.testing.crash_work import IN_PIECES, SINGLE, T0, USERS, Opener, Work, content, marker
from ltm_core.testing.embedders import HashEmbedder

_LONGEST_LIFE = 0.25
"""Seconds that a writer lives at most when it is killed from outside."""
_STEPS = 6000
"""Steps of the store after which a writer at the latest kills itself: some fifty calls, or one long import. Their
number is drawn by its length, so that short lives are as frequent as long ones; who dies at one call again and again
gets longer ones."""
_LONGEST_WATCH = 2.0
"""Seconds for which a killer waits for the files that it watches to change."""
_LATER = timedelta(minutes=1)
"""After the beginning of a step, when what it said has begun to hold."""
_OPENING = 60
"""Steps within which the opening, and the recovery in it, takes place."""
_SAID = 45
"""Messages of the export that "import" steps take in: some 270 lines, a little more than one transaction."""


def opened(place: Path, clock: Clock, new_id: Callable[[], str]) -> LongTermMemory:
    """The default store, with an embedder that needs no model."""
    return LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC", clock=clock, new_id=new_id)


class CrashRun:
    """One store whose writers die, and its undisturbed twin."""

    def __init__(
        self,
        folder: Path,
        *,
        opened: Opener = opened,
        seed: int = 0,
        watched: Callable[[Path], object] | None = None,
        also: Callable[[LongTermMemory], None] | None = None,
    ) -> None:
        self.place = folder / "killed"
        self.seed, self._opened = seed, opened
        self._watched, self._also = watched, also
        self._random = random.Random(seed)
        self._exported = folder / "import.jsonl"
        self._export(folder / "source")
        self._twin = Work(folder / "twin", opened, seed=seed, exported=self._exported)
        self._twin_at = 0
        self._known: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._erased: list[bytes] = []
        self.next = 0
        """The first step that is not known to be done."""
        self.kills = self.kills_in_change = self._stuck = 0
        self.outcomes: Counter[str] = Counter()
        """How often the step under way was found "before" or "after" itself, or "part" of a call in pieces, by
        the kind of step and in total."""
        self._context = multiprocessing.get_context("forkserver")
        module = getattr(getattr(opened, "func", opened), "__module__", __name__)
        self._context.set_forkserver_preload(["ltm_core.testing.crash_child", module])

    def _export(self, place: Path) -> None:
        with self._opened(place, Clock(T0), _counting()) as memory:
            for i in range(_SAID):
                memory.observe(user_id="x", session_id="old", user=f"My dog Rex{i} barks.", message_id=f"old{i}")
            memory.observe(user_id="x", session_id="old", user="I live in Oldtown.", message_id="old")
            self._exported.write_text("\n".join(memory.export_user("x")), "utf-8")

    # one death ----------------------------------------------------------------------------------------
    def round(self) -> None:
        """A writer goes on where the last one died, dies itself, and the store is whole."""
        from ltm_core.testing.crash_child import write

        first, inside = self.next, self._random.random() < 0.6
        most = _OPENING if self._random.random() < 0.2 else _STEPS
        steps = round(most ** self._random.random() * (1 + self._stuck)) if inside else 0
        mine, theirs = self._context.Pipe(duplex=False)
        child = self._context.Process(
            target=write,
            args=(self.place, self._opened, self.seed, self._exported, self.next, self.next + 400, theirs, steps),
        )
        child.start()
        theirs.close()
        if not inside:
            self._wait()
            child.kill()
        child.join(60)
        # A life so long that it came to its end is no death.
        assert child.exitcode in (-signal.SIGKILL, 0), self._said(mine)[-1:] or f"exit code {child.exitcode}"
        self.kills += child.exitcode != 0
        for what, value in self._said(mine):
            assert what != "error", value
            if what == "done":
                assert value == self.next
                self.next += 1
        mine.close()
        self._verify()
        self._stuck = self._stuck + 1 if self.next == first else 0

    def _wait(self) -> None:
        """Until the writer is to be killed: whatever it does when a random time is over, starting and recovering
        included, or when the files that are watched change."""
        if self._watched is None or self._random.random() < 0.5:
            time.sleep(self._random.random() ** 2 * _LONGEST_LIFE * (1 + self._stuck))
            return
        until, before = time.monotonic() + _LONGEST_WATCH, self._watched(self.place)
        while time.monotonic() < until:
            if self._watched(self.place) != before:
                self.kills_in_change += 1
                return
            time.sleep(0.0005)

    def _said(self, pipe: Any) -> list[tuple[str, Any]]:
        found = []
        try:
            while pipe.poll(0):
                found.append(pipe.recv())
        except EOFError:
            pass  # a last word that was cut off is none
        return found

    # what must be true --------------------------------------------------------------------------------
    def _verify(self) -> None:
        step = self._twin.step(self.next)
        before, after = self._states(self.next)
        work = Work(self.place, self._opened, seed=self.seed, exported=self._exported)
        work.set_clock(self.next, later=_LATER)
        with work.memory as memory:
            found = self._content(memory)
            if found == after and after != before:
                outcome = "after"
                self.next += 1
            elif found == before:
                outcome = "before"
            else:
                assert step.kind in IN_PIECES, f"half of step {step}: {_difference(found, before, after)}"
                outcome = "part"
                for user in USERS if step.kind == "import" else ():
                    assert user == step.user or found[user] == before[user], f"{step} reached {user}"
            self.outcomes.update((outcome, f"{outcome} {step.kind}"))
            for user in USERS:
                held = Counter(
                    (f.subject, f.relation)
                    for f in memory.facts(user_id=user)
                    if f.relation in SINGLE and f.expires_at is None
                )
                assert not held or max(held.values()) == 1, f"{user}: {held.most_common(1)}"
            report = memory.doctor()
            assert report.healthy, report.problems
            if self._also is not None:
                self._also(memory)
            # It does not only look whole: it works.
            assert memory.context("Where do I live?", user_id=step.user).token_count >= 0

    def _content(self, memory: LongTermMemory) -> dict[str, Any]:
        return {user: content(memory, user) for user in USERS}

    def _states(self, n: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the twin held before and after step ``n``, seen at one moment: what expires does so by the clock."""
        if n not in self._known:
            while self._twin_at < n:
                self._do()
            self._twin.set_clock(n, later=_LATER)
            before = self._content(self._twin.memory)
            self._do()
            self._twin.set_clock(n, later=_LATER)
            self._known = {n: (before, self._content(self._twin.memory))}
        return self._known[n]

    def _do(self) -> None:
        self._twin.perform(self._twin_at)
        self._note_done(self._twin_at)
        self._twin_at += 1

    def _note_done(self, n: int) -> None:
        step = self._twin.step(n)
        if step.kind == "forget_user":
            self._erased += [
                marker(i).encode()
                for i in range(n)
                if self._twin.step(i).user == step.user and self._twin.step(i).kind in ("say", "chat", "remember")
            ]

    def finish(self) -> None:
        """A last writer does its steps in peace; then nothing waits, nothing is left of who was erased."""
        work = Work(self.place, self._opened, seed=self.seed, exported=self._exported)
        with work.memory as memory:
            work.set_clock(self.next)
            memory.maintain()
            report = memory.doctor()
            assert report.healthy, report.problems
            stats = memory.stats()
            assert stats.jobs == 0 and stats.chunks == stats.vectors
        # What a killed restore left beside the store is the store's too.
        places = [self.place, *self.place.parent.glob(f".{self.place.name}.draft-*")]
        held = [p for place in places for p in place.rglob("*") if p.is_file()]
        data = b"".join(p.read_bytes() for p in held)
        assert not [needle for needle in set(self._erased) if needle in data]
        self._twin.memory.close()


def _counting() -> Callable[[], str]:
    count = iter(range(1, 1 << 30))
    return lambda: f"ffffffff-{next(count):04x}-7000-8000-000000000000"


def _difference(found: dict[str, Any], *others: dict[str, Any]) -> list[str]:
    lines = []
    for name, other in zip(("before", "after"), others):
        for user, parts in found.items():
            for part, rows in parts.items():
                mine, theirs = [repr(r) for r in rows], [repr(r) for r in other[user][part]]
                lines += [f"{name} {user} {part} + {r}" for r in mine if r not in theirs]
                lines += [f"{name} {user} {part} - {r}" for r in theirs if r not in mine]
    return lines[:20]


__all__ = ["CrashRun", "opened"]
