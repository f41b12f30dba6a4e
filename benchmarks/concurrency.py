"""How many requests per second several processes get from one store, and that none is lost or swapped.

python -m benchmarks.concurrency [--workers 4] [--seconds 10] [--embedder hash|default|none] [--users 200]

Four kinds of requests, each measured alone, in a store of its own:
  turn      observe a short turn of small talk (nothing to learn), the common one
  fact      observe a turn that states two facts
  recall    context() for a user with 40 memories
  mixed     four turns, one fact and five recalls, as a chat makes them
Each worker is a process with one thread; a request goes to a random one of the users. Afterwards every acknowledged
turn is looked up: it is there once, with its own words, in its own user's session.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ltm_core import LongTermMemory
from ltm_core.testing.embedders import HashEmbedder

TURNS = ("Sounds good, thanks!", "好的，谢谢。", "Could you say that again?", "嗯，那就这样吧。", "Haha, nice one.")
QUESTIONS = ("Where do I live?", "我住在哪里？", "Which tea do I like?", "What is my order number?")
KINDS = ("turn", "fact", "recall", "mixed")
MIXED = ("turn",) * 4 + ("fact",) + ("recall",) * 5


def opened(place: Path, embedder: str) -> LongTermMemory:
    given: object = {"hash": HashEmbedder(384), "default": None, "none": "none"}[embedder]
    return LongTermMemory.open(place, embedder=given, timezone="UTC")


def request(memory: LongTermMemory, kind: str, user: str, id: str, chance: random.Random) -> str | None:
    """One request; the words it told, if it told any."""
    if kind == "recall":
        memory.context(chance.choice(QUESTIONS), user_id=user, session_id="now")
        return None
    text = f"{chance.choice(TURNS)} ({user}, {id})"
    if kind == "fact":
        text = (
            f"I love tea number {chance.randrange(1000)}. My order is ORD-2026-{chance.randrange(10**5):05d}. ({id})"
        )
    memory.observe(user_id=user, session_id="now", user=text, message_id=id)
    return text


def work(
    place: Path, embedder: str, kind: str, number: int, users: int, seconds: float, ready: Any, result: Path
) -> None:
    """In a process of its own: requests until the time is over, each told with its words."""
    chance = random.Random(number)
    said: dict[str, list[tuple[str, str]]] = {}
    times: list[float] = []
    with opened(place, embedder) as memory:
        for warm in ("turn", "fact", "recall"):
            request(memory, warm, f"warm {number}", warm, chance)
        ready.wait(300)
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            user, id = f"user {chance.randrange(users)}", f"{number}.{len(times)}"
            text = request(memory, chance.choice(MIXED) if kind == "mixed" else kind, user, id, chance)
            times.append(time.perf_counter() - began)
            if text is not None:
                said.setdefault(user, []).append((id, text))
    result.write_text(json.dumps({"said": said, "times": times}), "utf-8")


def fill(place: Path, embedder: str, users: int) -> None:
    with opened(place, embedder) as memory:
        for i in range(users):
            told = [f"I live in Town{i}.", *(f"On day {k} I drank tea number {k * i % 89}." for k in range(39))]
            memory.observe(
                user_id=f"user {i}", session_id="before", messages=[{"role": "user", "content": t} for t in told]
            )


def measured(kind: str, given: argparse.Namespace, folder: Path) -> None:
    place = folder / kind
    if kind in ("recall", "mixed"):
        fill(place, given.embedder, given.users)
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(given.workers)
    results = [folder / f"{kind}-{n}.json" for n in range(given.workers)]
    workers = [
        context.Process(
            target=work, args=(place, given.embedder, kind, n, given.users, given.seconds, ready, results[n])
        )
        for n in range(given.workers)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not any(w.exitcode for w in workers), "a worker failed"
    told = [json.loads(r.read_text("utf-8")) for r in results]
    times = sorted(t * 1000 for one in told for t in one["times"])
    lost = check(place, given.embedder, told)
    print(
        f"{kind:7} {len(times) / given.seconds:7.0f} requests/s   p50 {times[len(times) // 2]:6.1f}   "
        f"p95 {times[int(len(times) * 0.95)]:6.1f}   max {times[-1]:6.0f} ms   lost, doubled or swapped: {lost}",
        flush=True,
    )


def check(place: Path, embedder: str, told: list[dict[str, Any]]) -> int:
    """Acknowledged turns that are not exactly where and what they should be."""
    said: dict[str, Counter[tuple[str, str]]] = {}
    for one in told:
        for user, turns in one["said"].items():
            said.setdefault(user, Counter()).update((i, t) for i, t in turns)
    wrong = 0
    with opened(place, embedder) as memory:
        for user, expected in said.items():
            found = Counter((m.id, m.content) for m in memory.messages(user_id=user, session_id="now"))
            wrong += sum(((expected - found) + (found - expected)).values())
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--embedder", choices=("hash", "default", "none"), default="hash")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS)
    given = parser.parse_args()
    print(
        f"{given.workers} workers, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, embedder {given.embedder}"
    )
    with tempfile.TemporaryDirectory(prefix="ltm-bench-") as folder:
        for kind in given.kinds:
            measured(kind, given, Path(folder))


if __name__ == "__main__":
    main()
