"""How long remembering and recalling take, part by part, and how that grows.

    python -m benchmarks.latency [--quick] [--json FILE] [--sizes 1000,10000,30000] [--others 1000]

Everything is measured on this machine, in this process, with the built-in embedder; the text is invented, with a
fixed seed. "memories" are turns and facts of one user; "others" are further users with 100 memories each in the
same file.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.surroundings import bytes_per_memory, cache_figures, import_figures, machine
from benchmarks.talk import questions, turns

# One thread for the model, as a server under load would run it. NumPy reads it when it is loaded.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

OTHERS_MEMORIES = 100


@dataclass(slots=True)
class Figures:
    """Named samples: milliseconds by the clock, and of processor time, which a busy machine does not stretch."""

    samples: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, name: str, wall: float, cpu: float) -> None:
        self.samples.setdefault(name, []).append((wall, cpu))

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started, used = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.add(name, (time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000)

    def summary(self) -> dict[str, dict[str, float]]:
        return {
            name: {
                "p50": median([w for w, _ in v]),
                "p95": p95([w for w, _ in v]),
                "cpu": median([c for _, c in v]),
            }
            for name, v in self.samples.items()
        }


def median(values: Sequence[float]) -> float:
    return round(statistics.median(values), 3)


def p95(values: Sequence[float]) -> float:
    return round(sorted(values)[min(len(values) - 1, int(len(values) * 0.95))], 3)


class TimedStore:
    """A store whose transactions are timed; everything else passes through."""

    def __init__(self, store: Any, figures: Figures) -> None:
        self._store, self._figures = store, figures

    @contextmanager
    def write(self, user_id: str) -> Iterator[Any]:
        with self._figures.timed("observe: transaction"), self._store.write(user_id) as writer:
            yield writer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class TimedEmbedder:
    """An embedder whose document calls are timed and summed."""

    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder
        self.wall = self.cpu = 0.0

    def embed_documents(self, texts: Sequence[str]) -> Any:
        started, used = time.perf_counter(), time.process_time()
        try:
            return self._embedder.embed_documents(texts)
        finally:
            self.wall += (time.perf_counter() - started) * 1000
            self.cpu += (time.process_time() - used) * 1000

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)


def observe_figures(memory: Any, user_id: str, count: int, seed: int) -> Figures:
    """``count`` turns of about 60 words: the whole call, its parts, and the analysis alone."""
    figures = Figures()
    runtime = memory._runtime
    store, embedder = runtime.store, runtime.embedder
    memory.observe(user_id=user_id, session_id="warm", user="Good morning.")
    timed = TimedEmbedder(embedder)
    runtime.store, runtime.embedder = TimedStore(store, figures), timed
    try:
        for text in islice(turns(seed), count):
            timed.wall = timed.cpu = 0.0
            with figures.timed("observe: whole call"):
                memory.observe(user_id=user_id, session_id="bench", user=text)
            figures.add("observe: embedding", timed.wall, timed.cpu)
    finally:
        runtime.store, runtime.embedder = store, embedder
    for text in islice(turns(seed + 1), count):
        analyse_alone(memory, text, figures)
    return figures


def analyse_alone(memory: Any, text: str, figures: Figures) -> None:
    """The pure analysis of one turn, without any vector."""
    from datetime import UTC, datetime

    from ltm_core.write.analyse import analyse
    from ltm_core.write.plan import Utterance

    config = memory.config
    utterance = Utterance(message_id="m", role="user", content=text, at=datetime(2025, 1, 1, tzinfo=UTC))
    with figures.timed("observe: analysis"):
        analyse(
            utterance,
            lexicon=memory._runtime.lexicon,
            fact_threshold=config.fact_threshold,
            identifier_patterns=config.identifier_patterns,
            confirmations_from_tools=config.confirmations_from_tools,
            clause_vectors=lambda texts: None,
        )


def context_figures(memory: Any, user_id: str, count: int, seed: int) -> Figures:
    """``count`` new questions, each asked three times: then its vector is known, then its whole result."""
    figures = Figures()
    memory.context("warm up", user_id=user_id)
    for question in islice(questions(seed), count):
        with figures.timed("context: with embedding"):
            memory.context(question, user_id=user_id)
        memory._runtime.recalls.clear()
        with figures.timed("context: without embedding"):
            memory.context(question, user_id=user_id)
        with figures.timed("context: repeated"):
            memory.context(question, user_id=user_id)
    return figures


def both_figures(memory: Any, count: int, seed: int) -> dict[str, dict[str, float]]:
    """Context first, so that what observe adds does not count."""
    found = context_figures(memory, "ana", count, seed).summary()
    return found | observe_figures(memory, "ana", count, seed + 1).summary()


def measure(arguments: argparse.Namespace, say: Callable[[str], None]) -> dict[str, Any]:
    from benchmarks.fill import fill
    from ltm_core import LongTermMemory

    sizes: list[int] = arguments.sizes
    found: dict[str, Any] = {"machine": machine(), "sizes": {}}
    say("import …")
    found["import"] = import_figures()
    with tempfile.TemporaryDirectory(prefix="ltm-bench-", dir=arguments.dir) as folder:
        for size in sizes:
            say(f"filling one user with {size} memories …")
            store = Path(folder) / str(size)
            with LongTermMemory.open(store, timezone="UTC") as memory:
                fill(memory, "ana", size, seed=size)
                say("  context, observe …")
                parts = both_figures(memory, arguments.count, seed=1)
            with LongTermMemory.open(store, timezone="UTC", durability="power") as memory:
                power = observe_figures(memory, "ana", arguments.count, seed=3).summary()
                parts |= {f"{n} (power)": v for n, v in power.items() if "transaction" in n or "whole" in n}
            found["sizes"][str(size)] = parts
        store = Path(folder) / str(sizes[len(sizes) // 2])
        say(f"filling {arguments.others} other users with {OTHERS_MEMORIES} memories each …")
        others = [f"other-{n}" for n in range(arguments.others)]
        with LongTermMemory.open(store, timezone="UTC") as memory:
            alone = both_figures(memory, arguments.count, seed=4)
            for n, other in enumerate(others):
                fill(memory, other, OTHERS_MEMORIES, seed=n)
            say("  context, observe …")
            beside = both_figures(memory, arguments.count, seed=6)
        found["with others"] = {"memories": store.name, "others": arguments.others, "figures": beside}
        found["ratio with others"] = ratios(alone, beside)
        found["cache"] = cache_figures(store, [*others[:200], "ana"], megabytes=8)
        found["bytes per memory"] = bytes_per_memory(Path(folder) / str(sizes[-1]))
    found["share of embedding"] = {
        size: {
            "observe": share(parts["observe: embedding"], parts["observe: whole call"]),
            "context": round(
                1 - parts["context: without embedding"]["cpu"] / parts["context: with embedding"]["cpu"], 2
            ),
        }
        for size, parts in found["sizes"].items()
    }
    return found


def ratios(alone: dict[str, Any], beside: dict[str, Any]) -> dict[str, float]:
    """By processor time: what the others' data costs, not what else the machine was doing."""
    return {n: round(beside[n]["cpu"] / max(alone[n]["cpu"], 0.001), 2) for n in beside if n in alone}


def share(part: dict[str, float], whole: dict[str, float]) -> float:
    return round(part["cpu"] / whole["cpu"], 2)


def show(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(", ".join(f"{k} {v}" for k, v in found["machine"].items()))
    columns = {f"{size} memories": parts for size, parts in found["sizes"].items()}
    beside = found["with others"]
    columns[f"{beside['memories']} + {beside['others']} users"] = beside["figures"]
    table = Table("milliseconds: p50 / p95 (processor p50)", *columns, title="Latency", title_justify="left")
    for name in next(iter(columns.values())):
        table.add_row(name, *(cell(parts.get(name)) for parts in columns.values()))
    console.print(table)
    for name in ("share of embedding", "ratio with others", "import", "cache", "bytes per memory"):
        console.print(f"{name}: {json.dumps(found[name], ensure_ascii=False)}")


def cell(value: dict[str, float] | None) -> str:
    return "" if value is None else f"{value['p50']:.2f} / {value['p95']:.2f} ({value['cpu']:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes; under a minute")
    parser.add_argument("--sizes", type=lambda s: [int(n) for n in s.split(",")], default=[1000, 10_000, 30_000])
    parser.add_argument("--others", type=int, default=1000, help="other users in the same file")
    parser.add_argument("--count", type=int, default=60, help="turns and questions per figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--dir", type=Path, help="where the temporary stores are made")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.sizes, arguments.others, arguments.count = [500, 2000], 60, 25
    started = time.perf_counter()
    found = measure(arguments, lambda text: print(text, file=sys.stderr, flush=True))
    found["seconds"] = round(time.perf_counter() - started, 1)
    show(found)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
