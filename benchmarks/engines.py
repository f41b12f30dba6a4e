"""The same memories in several engines, asked side by side: SQLite, PostgreSQL, and an index of vectors beside one.

    python -m benchmarks.scale --store DIR --store 'postgresql://…?key_file=…' --vectors exact --vectors pgvector
        [--count 60] [--clients 8] [--seconds 8] [--json FILE]

The stores were made by `benchmarks.clone`, or are made by ``--engines MEMORIES``: a directory, and a PostgreSQL of
its own. Each part runs in a process of its own. Milliseconds by the clock: median and 95th percentile.
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
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clone import LARGE, SMALL
from benchmarks.fill import fill, vectors_like
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
        "observe": _spread(single),
        "observe, large user": _spread(large),
    }


@part
def client(memory: Any, given: argparse.Namespace) -> dict[str, Any]:
    """One of several processes: small users in turn, each eighth question the large one's, after a common start."""
    users = [f"user-{(given.number * 13 + i) % SMALL}" for i in range(SMALL)]
    asked = questions(100 + given.number)
    for user in users[:5]:
        memory.context(next(asked), user_id=user)
    while time.time() < given.begin:
        time.sleep(0.01)
    spent: list[float] = []
    end = time.time() + given.seconds
    late = time.time() - given.begin
    while time.time() < end:
        user = LARGE if len(spent) % 8 == 7 else users[len(spent) % SMALL]
        question = next(asked)
        spent.append(_timed(partial(memory.context, question, user_id=user)))
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
    while index.step() or getattr(index, "_is_behind", bool)():
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
    """(label, store, vectors) of everything that can be: pgvector is PostgreSQL's."""
    for store in stores:
        engine = "PostgreSQL" if store.startswith("postgres") else "SQLite"
        for kind in kinds:
            if kind != "pgvector" or engine == "PostgreSQL":
                yield f"{engine}, {kind.partition(':')[0]}", store, kind


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
    for name in given.only or ("recall", "vectors", "client", "writing"):
        for label, store, kind in everybody:
            print(f"{name}: {label}", file=sys.stderr, flush=True)
            if name == "client":
                figures[label] |= _together(store, kind, given)
            else:
                figures[label] |= _answer(_child(name, store, kind, given))
    exact = figures[everybody[0][0]]
    for label in figures if "nearest, large user" in exact else ():
        for user in ("small user", "large user"):
            near, truth = figures[label][f"nearest, {user}"], exact[f"nearest, {user}"]
            shared = [len(set(a) & set(b)) / max(len(b), 1) for a, b in zip(near, truth, strict=True)]
            figures[label][f"recall@10, {user}"] = round(statistics.mean(shared), 3)
    for label in figures:
        for user in ("small user", "large user"):
            figures[label].pop(f"nearest, {user}", None)
    return found | {"engines": figures}


def _together(store: str, kind: str, given: argparse.Namespace) -> dict[str, Any]:
    begin = time.time() + given.start
    children = [_child("client", store, kind, given, number=number, begin=begin) for number in range(given.clients)]
    answers = [_answer(child) for child in children]
    spent = [ms for answer in answers for ms in answer["spent"]]
    return {
        f"{given.clients} clients, contexts a second": round(len(spent) / given.seconds, 1),
        f"{given.clients} clients, context": _spread(spent),
        "clients that came late, s": _rounded(max(answer["late"] for answer in answers)),
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


def compare(given: argparse.Namespace) -> None:
    """The stores that are named, or a directory and a PostgreSQL made for it, side by side; figures and a table."""
    if given.store:
        _report(side_by_side(given), given)
        return
    from ltm_core.testing.servers import PostgresServer

    settings = {"fsync": "off", "shared_buffers": "1GB", "maintenance_work_mem": "512MB", "max_wal_size": "8GB"}
    with tempfile.TemporaryDirectory(prefix="ltm-engines-") as folder, PostgresServer(settings=settings) as server:
        url = server.new_database()
        place = given.keep or Path(folder)
        began = time.perf_counter()
        given.store = make(place, given.engines, given.large, url, server.admin_url(_name(url)))
        made = round(time.perf_counter() - began, 1)
        found = side_by_side(given) | {"memories": given.engines, "making both stores, s": made}
        found["MB on disk"] = {
            "SQLite": round(sum(f.stat().st_size for f in Path(given.store[0]).iterdir()) / 2**20),
            "PostgreSQL": int(server.run("SELECT pg_database_size(current_database()) >> 20", database=_name(url))),
        }
        _report(found, given)


def _name(url: str) -> str:
    return url.rpartition("/")[2]


def _report(found: dict[str, Any], given: argparse.Namespace) -> None:
    text = json.dumps(found, indent=2, ensure_ascii=False)
    print(text + "\n\n" + table(found))
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")


def make(place: Path, memories: int, large: int, url: str, admin_url: str) -> list[str]:
    """A directory and a database with so many memories of all small users together; their locations."""
    from benchmarks.clone import load_postgres, multiply_postgres, multiply_sqlite, template

    each = 100
    copies = max(memories // (SMALL * each) - 1, 0)
    template(place / "sqlite", memories=each, large=large)
    location = f"{url}?key_file={place / 'store.key'}"
    load_postgres(place / "sqlite", location, admin_url, key=place / "store.key")
    multiply_postgres(admin_url, "ltm", copies)
    multiply_sqlite(place / "sqlite", copies)
    return [str(place / "sqlite"), location]


__all__ = ["PARTS", "compare", "make", "run_part", "side_by_side", "table"]
