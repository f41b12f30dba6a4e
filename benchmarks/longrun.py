"""Two years of one user, night by night: does memory stay sharp, does the store stop growing?

    python -m benchmarks.longrun [--days 730] [--turns 8] [--talk FILE.json] [--json FILE] [--plot FILE.svg]

A seeded person talks every day, in English and Chinese, about things that matter for a day, tells a few things that
matter for good, moves house, and asks now and then. Every night `maintain` runs. Every 30 days all that was told for
good is asked for, and size and latency are measured: once with no policy, once with decay, a capacity and logs of a
year.
``--talk`` mixes in the turns of a public conversation set (LoCoMo's format). The plot needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.surroundings import machine
from benchmarks.talk import sentences
from ltm_core.keep.holdings import holdings

START = datetime(2024, 1, 1, 8, tzinfo=UTC)
EVERY = 30
"""Days between two looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Something said once that must be found from ``day`` to ``until``."""

    day: int
    text: str
    question: str
    answer: str
    until: int = 10_000


FOR_GOOD: tuple[Told, ...] = (
    Told(day=1, text="My name is Ines Carvalho.", question="What is my name?", answer="Ines"),
    Told(
        day=2,
        text="Please note that I'm allergic to penicillin.",
        question="Which medicine must I not get?",
        answer="penicillin",
    ),
    Told(day=3, text="我对花生过敏。", question="我对什么东西过敏？", answer="花生"),
    Told(day=5, text="I live in Porto.", question="Where do I live?", answer="Porto", until=400),
    Told(day=9, text="My daughter's name is Clara.", question="What is my daughter's name?", answer="Clara"),
    Told(
        day=12,
        text="Remember that the spare key is under the blue pot.",
        question="Where is the spare key?",
        answer="blue pot",
    ),
    Told(day=30, text="我的血型是O型。", question="我是什么血型？", answer="O型"),
    Told(day=60, text="My birthday is May 4th.", question="When is my birthday?", answer="May 4"),
    Told(day=100, text="My contract number is CT-20417.", question="What is my contract number?", answer="CT-20417"),
    Told(day=200, text="记住：紧急联系人是我哥哥陈立。", question="我的紧急联系人是谁？", answer="陈立"),
    Told(day=400, text="I moved to Lisbon.", question="Where do I live?", answer="Lisbon"),
    Told(day=500, text="I take metformin every morning.", question="Which medication do I take?", answer="metformin"),
)


def small_talk(seed: int, more: Sequence[str] = ()) -> Iterator[str]:
    """Endless turns that matter for a day; an invoice number, which is kept for good, in one of a hundred."""
    rng, source = random.Random(seed), sentences(seed)
    while True:
        if more and rng.random() < 0.5:
            yield rng.choice(more)
            continue
        text = next(source)
        if "INV-" not in text or rng.random() < 0.08:
            yield text


def turns_of(path: Path) -> list[str]:
    """What people say in a file of LoCoMo's format."""
    from benchmarks.corpora import locomo

    return [said.text for talk in locomo(path) for said in talk.turns if len(said.text) < 400]


def simulate(
    folder: Path,
    *,
    days: int,
    turns: int,
    seed: int = 7,
    more: Sequence[str] = (),
    asks: int = 20,
    talk_every: int = 1,
    **options: Any,
) -> Iterator[dict[str, Any]]:
    """Lives the days in a new store, with small talk on each ``talk_every``-th, and looks after each 30th."""
    from ltm_core import LongTermMemory

    now = [START]

    def clock() -> datetime:
        now[0] += timedelta(milliseconds=1)
        return now[0]

    talk, rng = small_talk(seed, more), random.Random(seed)
    nights: list[float] = []
    with LongTermMemory.open(folder, clock=clock, timezone="UTC", **options) as memory:
        for day in range(1, days + 1):
            now[0] = START + timedelta(days=day)
            session = f"day-{day}"
            for told in FOR_GOOD:
                if told.day == day:
                    memory.observe(user_id="ines", session_id=session, user=told.text)
            for _ in range(0 if day % talk_every else turns):
                memory.observe(user_id="ines", session_id=session, user=next(talk))
                now[0] += timedelta(minutes=2)
                memory.observe(user_id="ines", session_id=session, assistant="I see, tell me more.")
            known = [t for t in FOR_GOOD if t.day <= day < t.until]
            if known and day % 7 == 0:
                memory.context(rng.choice(known).question, user_id="ines", session_id=session)
            now[0] = START + timedelta(days=day, hours=18)
            started = time.perf_counter()
            memory.maintain()
            nights.append(time.perf_counter() - started)
            if day % EVERY == 0 or day == days:
                yield look(memory, day, known, nights, asks)
                nights = []


def look(memory: Any, day: int, known: Sequence[Told], nights: Sequence[float], asks: int) -> dict[str, Any]:
    """What is found, how much is held, how long a context takes. The questions count as no use."""
    count = memory._runtime.uses
    missing = []
    for told in known:
        if told.answer.casefold() not in memory.context(told.question, user_id="ines").text.casefold():
            missing.append(told.text)
    times = []
    for n in range(asks):
        started = time.process_time()
        memory.context(f"What did Paul say about the garden fence? ({day}-{n})", user_id="ines")
        times.append((time.process_time() - started) * 1000)
    count.take("ines")
    memory._runtime.store.operations().scrub(wait_seconds=5.0)  # the log is not the store
    stats = memory.stats()
    return {
        "day": day,
        "recall": round(1 - len(missing) / max(1, len(known)), 3),
        "missing": missing,
        "turns": stats.messages,
        "for good": kept_for_good(memory, user_id="ines"),
        "facts": stats.facts,
        "megabytes": round(stats.bytes_on_disk / 2**20, 2),
        "context_ms": round(statistics.median(times), 2) if times else 0.0,
        "night_ms": round(statistics.median(nights) * 1000, 1) if nights else 0.0,
    }


def kept_for_good(memory: Any, *, user_id: str) -> int:
    """Turns that no age takes: what has an anchor, and what is of high importance."""
    runtime, now = memory._runtime, memory._runtime.now()
    with runtime.store.read(user_id) as reader:
        held = holdings(reader, runtime.lexicon, now=now, idle_before=now)
    return sum(h.owner == "message" and (bool(h.protected) or h.importance == "high") for h in held)


POLICIES: dict[str, dict[str, Any]] = {
    "no policy": {},
    "decay + capacity 5000, logs of a year": {
        "forgetting": ("decay", "capacity"),
        "audit_days": 365,
        "changes_days": 365,
        "replay_days": 365,
    },
}


def plot(found: dict[str, Any], path: Path) -> None:
    """Recall, size and latency over the days, one line per policy."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "ltm"
    from matplotlib import pyplot as plt

    panels = (
        ("recall", "recall of what was told for good"),
        ("turns", "turns kept (dotted: for good)"),
        ("megabytes", "store, MB"),
        ("context_ms", "context, ms of processor"),
    )
    figure, axes = plt.subplots(2, 2, figsize=(9, 5.4), layout="constrained")
    for axis, (key, title) in zip(axes.flat, panels, strict=True):
        for name, rows in found["policies"].items():
            days = [r["day"] for r in rows]
            (line,) = axis.plot(days, [r[key] for r in rows], label=name, linewidth=1.6)
            if key == "turns":
                axis.plot(days, [r["for good"] for r in rows], color=line.get_color(), linestyle=":", linewidth=1.2)
        axis.set_title(title, fontsize=10)
        axis.set_ylim(bottom=0)
        axis.set_xlabel("day", fontsize=8)
        axis.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=8, loc="lower right")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=730)
    parser.add_argument("--turns", type=int, default=8, help="of the user, per day; each is answered")
    parser.add_argument("--talk", type=Path, help="conversations in LoCoMo's format, half of the small talk")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them (SVG)")
    arguments = parser.parse_args()
    more = turns_of(arguments.talk) if arguments.talk else []
    found: dict[str, Any] = {"machine": machine(), "days": arguments.days, "turns": arguments.turns, "policies": {}}
    for name, options in POLICIES.items():
        rows = found["policies"][name] = []
        with tempfile.TemporaryDirectory(prefix="ltm-longrun-") as folder:
            for row in simulate(Path(folder), days=arguments.days, turns=arguments.turns, more=more, **options):
                rows.append(row)
                print(name, json.dumps(row, ensure_ascii=False), file=sys.stderr, flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if arguments.plot:
        plot(found, arguments.plot)


if __name__ == "__main__":
    main()
