"""The same memories in several engines, asked side by side: SQLite, PostgreSQL, and an index of vectors beside one.

    python -m benchmarks.scale --store DIR --store 'postgresql://…?key_file=…' --vectors exact --vectors pgvector
        [--count 60] [--clients 8] [--seconds 8] [--json FILE]

The stores were made by `benchmarks.clone`, or are made by ``--engines MEMORIES``: a directory, and a PostgreSQL of
its own; in ``--keep DIR`` both stay, and the next run goes on where the last one was broken off. ``--vectors chroma``
is a folder beside the directory, and a server of its own beside PostgreSQL. Each part runs in a process of its own.
Milliseconds by the clock: median and 95th percentile.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clone import LARGE, SMALL
from benchmarks.fill import fill, vectors_like
from benchmarks.report import report, text_of
from benchmarks.surroundings import machine
from benchmarks.talk import questions, turns

SMALL_USER = "user-7"
INDEXED_FROM = 20_000
"""Chunks from which an index is asked here, so that it answers for the large user."""
PARTS: dict[str, Callable[[Any, argparse.Namespace], dict[str, Any]]] = {}


def part(function: Callable[[Any, argparse.Namespace], dict[str, Any]]) -> Any:
    PARTS[function.__name__] = function
    return function


@part
def recall(memory: Any, given: argparse.Namespace) -> dict[str, Any]:
    """`context` for the small and the large user, every question a new one."""
    found: dict[str, Any] = {}
    for name, user in (("small user", SMALL_USER), ("large user", LARGE)):
        at = time.perf_counter()
        memory.context("first question of the day", user_id=user)
        found[f"first context, {name}"] = _rounded((time.perf_counter() - at) * 1000)
        whole, without = [], []
        for question in islice(questions(5), given.count):
            whole.append(_timed(partial(memory.context, question, user_id=user)))
            # The second time the vector of the question is known, and nothing else.
            memory._runtime.recalls.clear()
            without.append(_timed(partial(memory.context, question, user_id=user)))
        found[f"context, {name}"] = _spread(whole)
        found[f"context without embedding, {name}"] = _spread(without)
    return found


@part
def vectors(memory: Any, given: argparse.Namespace) -> dict[str, Any]:
    """The cosines alone, for questions like the large user's vectors; which rows come first, for recall@10."""
    store = memory._runtime.store
    queries = vectors_like(np.random.default_rng(99), given.count, memory._runtime.embedder.dimension, topics=256)
    found: dict[str, Any] = {}
    for name, user in (("small user", SMALL_USER), ("large user", LARGE)):
        spent, first = [], []
        for query in queries:
            at = time.perf_counter()
            with store.read(user) as reader:
                snapshot = reader.snapshot()
                cosine = snapshot.cosine(query)
            spent.append((time.perf_counter() - at) * 1000)
            best = np.argsort(-np.where(np.isnan(cosine), -2, cosine))[:10]
            first.append(sorted(snapshot.rows.item[best].tolist()))
        found[f"cosines, {name}"] = _spread(spent[1:])
        found[f"nearest, {name}"] = first
    index = store.core.attached.index
    with store.read(LARGE) as reader:
        found["large user by the index"] = index is not None and index.covers(reader)
    found["arrays in memory, MB"] = round(store._snapshots().used / 2**20, 1)
    return found


@part
def writing(memory: Any, given: argparse.Namespace) -> dict[str, Any]:
    """Memories a second: rows through the writer, and whole turns with rules and embedding."""
    at = time.perf_counter()
    fill(memory, "bulk", 1000, seed=3)
    bulk = 1000 / (time.perf_counter() - at)
    single = [
        _timed(partial(memory.observe, user_id="turns", session_id="s", user=text))
        for text in islice(turns(4), given.count)
    ]
    large = [
        _timed(partial(memory.observe, user_id=LARGE, session_id="bench", user=text))
        for text in islice(turns(5), given.count)
    ]
    return {
        "bulk, memories a second": round(bulk),
        "turns a second": round(1000 * len(single) / sum(single), 1),
        "observe": _spread(single),
        "observe, large user": _spread(large),
    }


@part
def writer(memory: Any, given: argparse.Namespace) -> dict[str, Any]:
    """One of several processes that write turns of users of their own, after a common start."""
    texts = turns(100 + given.number)
    memory.observe(user_id=f"writer-{given.number}", session_id="s", user=next(texts))

    def turn(number: int) -> None:
        memory.observe(user_id=f"writer-{given.number}-{number % 10}", session_id="s", user=next(texts))

    return _while(given, turn)


@part
def client(memory: Any, given: argparse.Namespace) -> dict[str, Any]:
    """One of several processes: small users in turn, each eighth question the large one's, after a common start."""
    users = [f"user-{(given.number * 13 + i) % SMALL}" for i in range(SMALL)]
    asked = questions(100 + given.number)
    for user in users[:5]:
        memory.context(next(asked), user_id=user)

    def question(number: int) -> None:
        user = LARGE if number % 8 == 7 else users[number % SMALL]
        memory.context(next(asked), user_id=user)

    return _while(given, question)


def _while(given: argparse.Namespace, call: Callable[[int], None]) -> dict[str, Any]:
    """Milliseconds of each call from the common start until the time is over."""
    while time.time() < given.begin:
        time.sleep(0.01)
    spent: list[float] = []
    end = time.time() + given.seconds
    late = time.time() - given.begin
    while time.time() < end:
        spent.append(_timed(partial(call, len(spent))))
    return {"spent": spent, "late": late}


def _timed(call: Callable[[], Any]) -> float:
    at = time.perf_counter()
    call()
    return (time.perf_counter() - at) * 1000


def _rounded(value: float) -> float:
    return round(value, 2)


def _spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {"p50": _rounded(statistics.median(ordered)), "p95": _rounded(ordered[int(len(ordered) * 0.95)])}


# the parent -------------------------------------------------------------------------------------------
def run_part(given: argparse.Namespace) -> None:
    """What a child does: its part of one store, as JSON."""
    from ltm_core import LongTermMemory

    options: dict[str, Any] = {"external_vectors_from": INDEXED_FROM, "pgvector_graph_from": INDEXED_FROM}
    store, kind = given.store[0], given.vectors[0]
    with LongTermMemory.open(store, timezone="UTC", vectors=kind, **options) as memory:
        memory._runtime.embedder.embed_query("warm up")
        if kind != "exact":
            _made(memory._runtime.store)
        print(json.dumps(PARTS[given.part](memory, given)))


def _made(store: Any) -> None:
    """The index is whole, whichever thread made it."""
    index = store.core.attached.index
    # Of pgvector another thread may be at it: then a step returns at once.
    while index.step() or index.is_behind():
        time.sleep(0.05)


def _child(name: str, store: str, kind: str, given: argparse.Namespace, **more: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.scale", "--part", name, "--store", store, "--vectors", kind]
    for key, value in {"count": given.count, "seconds": given.seconds, **more}.items():
        command += [f"--{key}", str(value)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _answer(child: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = child.communicate()
    if child.returncode:
        raise RuntimeError(f"a part ended with code {child.returncode}")
    answer: dict[str, Any] = json.loads(out)
    return answer


def contenders(stores: list[str], kinds: list[str]) -> Iterator[tuple[str, str, str]]:
    """(label, store, vectors) of everything that can be: pgvector is PostgreSQL's. ``chroma=URL``: a folder beside a
    directory, this server beside PostgreSQL."""
    for store in stores:
        engine = "PostgreSQL" if store.startswith("postgres") else "SQLite"
        for kind in kinds:
            if kind == "pgvector" and engine == "SQLite":
                continue
            place, _, server = kind.partition("=")
            yield f"{engine}, {place.partition(':')[0]}", store, server if server and engine != "SQLite" else place


def side_by_side(given: argparse.Namespace) -> dict[str, Any]:
    """All figures of all contenders; parts in turn, so that what else the machine does hits all of them."""
    everybody = list(contenders(given.store, given.vectors or ["exact"]))
    found: dict[str, Any] = {"machine": machine(), "clients": given.clients}
    figures: dict[str, dict[str, Any]] = {label: {} for label, _, _ in everybody}
    for label, store, kind in everybody:
        if kind != "exact":
            began = time.perf_counter()
            _answer(_child("vectors", store, kind, given, count=2))
            figures[label]["making the index, s"] = round(time.perf_counter() - began, 1)
    for name in given.only or ("recall", "vectors", "client", "writing", "writer"):
        for label, store, kind in everybody:
            print(f"{name}: {label}", file=sys.stderr, flush=True)
            if name in _CLIENTS:
                figures[label] |= _together(name, store, kind, given)
            else:
                figures[label] |= _answer(_child(name, store, kind, given))
            if given.json:
                given.json.write_text(
                    text_of(found | {"engines": {k: _shown(v) for k, v in figures.items()}}), encoding="utf-8"
                )
    exact = figures[everybody[0][0]]
    for label in figures if "nearest, large user" in exact else ():
        for user in ("small user", "large user"):
            near, truth = figures[label][f"nearest, {user}"], exact[f"nearest, {user}"]
            shared = [len(set(a) & set(b)) / max(len(b), 1) for a, b in zip(near, truth, strict=True)]
            figures[label][f"recall@10, {user}"] = round(statistics.mean(shared), 3)
    return found | {"engines": {label: _shown(values) for label, values in figures.items()}}


def _shown(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if not name.startswith("nearest")}


_CLIENTS = {"client": ("contexts", "context"), "writer": ("turns", "observe")}


def _together(name: str, store: str, kind: str, given: argparse.Namespace) -> dict[str, Any]:
    begin = time.time() + given.start
    children = [_child(name, store, kind, given, number=number, begin=begin) for number in range(given.clients)]
    answers = [_answer(child) for child in children]
    spent = [ms for answer in answers for ms in answer["spent"]]
    many, one = _CLIENTS[name]
    return {
        f"{given.clients} clients, {many} a second": round(len(spent) / given.seconds, 1),
        f"{given.clients} clients, {one}": _spread(spent),
        f"clients that came late ({many}), s": _rounded(max(answer["late"] for answer in answers)),
    }


def table(found: dict[str, Any]) -> str:
    """The figures as a table, a contender a column."""
    engines = found["engines"]
    rows = list(dict.fromkeys(name for figures in engines.values() for name in figures))
    lines = ["| | " + " | ".join(engines) + " |", "|---" * (len(engines) + 1) + "|"]
    for row in rows:
        cells = []
        for figures in engines.values():
            value = figures.get(row, "")
            cells.append(f"{value['p50']} / {value['p95']}" if isinstance(value, dict) else str(value))
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


FILLING = {
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "shared_buffers": "2GB",
    "max_wal_size": "16GB",
    "autovacuum": "off",
}
ASKED = {"fsync": "off", "shared_buffers": "2GB", "maintenance_work_mem": "2GB", "max_wal_size": "8GB"}
"""What a server is told while it is filled, and while it is measured: nothing waits for the disk, as in SQLite's
usual mode."""


def compare(given: argparse.Namespace) -> None:
    """The stores that are named, or a directory and a PostgreSQL made for it, side by side; figures and a table."""
    if given.store:
        _report(side_by_side(given), given)
        return
    from ltm_core.testing.servers import ChromaServer, PostgresServer

    with ExitStack() as stack:
        place = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ltm-engines-")))
        # The server's own user passes through it.
        place.mkdir(mode=0o755, exist_ok=True)
        place.chmod(0o755)
        began = time.perf_counter()
        with PostgresServer(settings=FILLING, directory=place / "postgres") as server:
            make(place, given.engines, given.large, server.database("memory"), server.admin_url("memory"))
        made = round(time.perf_counter() - began, 1)
        server = stack.enter_context(PostgresServer(settings=ASKED, directory=place / "postgres"))
        given.store = [str(place / "sqlite"), _location(place, server.url("memory"))]
        if "chroma" in (given.vectors or ()):
            chroma = stack.enter_context(ChromaServer(directory=place / "chroma"))
            given.vectors = [f"chroma={chroma.url}" if kind == "chroma" else kind for kind in given.vectors]
        found = side_by_side(given) | {"memories": given.engines, "making both stores, s": made}
        found["MB on disk"] = {
            "SQLite": round(sum(f.stat().st_size for f in Path(given.store[0]).glob("memory.*")) / 2**20),
            "PostgreSQL": int(server.run("SELECT pg_database_size(current_database()) >> 20", database="memory")),
        }
        _report(found, given)


def _report(found: dict[str, Any], given: argparse.Namespace) -> None:
    report(found, given.json)
    print("\n" + table(found))


def make(place: Path, memories: int, large: int, url: str, admin_url: str) -> None:
    """A directory and a database with so many memories of all small users together are in ``place``, whole."""
    from benchmarks.clone import load_postgres, multiply_postgres, multiply_sqlite, template

    size, note = f"{memories} {large}", place / "size"
    if note.exists() and note.read_text() != size:
        raise SystemExit(f"{place} holds stores of another size: {note.read_text()}")
    note.write_text(size)
    each = 100
    copies = max(memories // (SMALL * each) - 1, 0)
    template(place / "sqlite", memories=each, large=large)
    load_postgres(place / "sqlite", _location(place, url), admin_url, key=place / "store.key")
    multiply_postgres(admin_url, "ltm", copies)
    multiply_sqlite(place / "sqlite", copies)


def _location(place: Path, url: str) -> str:
    return f"{url}?key_file={place / 'store.key'}"


__all__ = ["PARTS", "compare", "make", "run_part", "side_by_side", "table"]
