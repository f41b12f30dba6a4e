"""Other memories and ours on the same corpus, questions and machine, each in a process of its own.

    python -m benchmarks.peers --data FOLDER [--only ltm_core,mem0,...] [--json FILE]

FOLDER is that of ``benchmarks.recall`` (LoCoMo and MADial-Bench zh are read). Run it with an interpreter that has
ltm-core and ``benchmarks/peers-requirements.txt``. Each turn is added by itself and found by itself; all systems
get the same words (day, speaker, text) and our built-in embedder. No language model takes part.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.corpora import Conversation, Said, locomo, madial
from benchmarks.metrics import mean, recall_at
from benchmarks.peer_hosts import LangChainRetriever, LangGraphStore, LlamaIndexBlocks
from benchmarks.peer_systems import Mem0, Metered, Ours, PlainBM25, System, metered, told

SECRET = "Zugspitze-7741-Quarz"
"""A word that stands in one turn of the user who is deleted, and nowhere else."""
UPDATES = Path(__file__).parent / "peer_updates.json"
START = datetime(2025, 1, 6, 9, tzinfo=UTC)
ASKED = datetime(2025, 3, 3, 9, tzinfo=UTC)
FILLER = {
    "en": ("The weather was awful today.", "I finally watched that film.", "Traffic was terrible this morning."),
    "zh": ("今天天气真糟糕。", "我终于看了那部电影。", "今天早上堵车很厉害。"),
}


SYSTEMS: dict[str, Callable[[Path, Metered], System]] = {
    "ltm_core": Ours,
    "mem0": Mem0,
    "langchain": LangChainRetriever,
    "llamaindex": LlamaIndexBlocks,
    "langgraph": LangGraphStore,
    "bm25": PlainBM25,
}

NAMES = {
    "ltm_core": "ltm_core",
    "mem0": "mem0, `infer=False`, Chroma",
    "langchain": "LangChain VectorStoreRetrieverMemory, Chroma",
    "llamaindex": "LlamaIndex Memory + VectorMemoryBlock, Chroma",
    "langgraph": "LangGraph InMemoryStore",
    "bm25": "BM25 (rank-bm25)",
}

PACKAGES = {
    "ltm_core": "ltm-core",
    "mem0": "mem0ai",
    "langchain": "langchain-classic",
    "llamaindex": "llama-index-core",
    "langgraph": "langgraph",
    "bm25": "rank-bm25",
}


@dataclass(slots=True)
class Cost:
    """Processor seconds of one kind of call, those in the embedder apart."""

    calls: int = 0
    seconds: float = 0.0
    embedding: float = 0.0

    def own_ms(self) -> float:
        """Milliseconds per call without the embedding, which all systems share."""
        return 1000 * (self.seconds - self.embedding) / max(1, self.calls)


@dataclass(slots=True)
class Result:
    """What one system did."""

    system: str
    version: str
    turns: int = 0
    questions: int = 0
    recall: dict[str, float] = field(default_factory=dict)
    add: Cost = field(default_factory=Cost)
    search: Cost = field(default_factory=Cost)
    peak_mb: float = 0.0
    delete_seconds: float | None = None
    deleted_turns: int = 0
    still_found: int = 0
    """Occurrences of the secret in the files after deleting and closing."""
    bytes_on_disk: int = 0
    stale: dict[str, float] = field(default_factory=dict)
    current: dict[str, float] = field(default_factory=dict)
    note: str = ""
    error: str = ""


def corpus(data: Path, most: int | None = None) -> Iterator[tuple[str, Conversation]]:
    """(data set, conversation); every conversation is one user. ``most`` bounds those of LoCoMo."""
    files = sorted((data / "locomo").glob("*.json"))
    for conversation in islice((c for f in files for c in locomo(f)), most):
        yield "LoCoMo", conversation
    folder = data / "madial"
    memory = folder / "MADial-Bench-zh-memory.json"
    for dialogues in sorted(folder.glob("zh-dialogue*.jsonl")):
        for conversation in madial(memory, dialogues, owners=memory):
            yield "MADial zh", conversation


def measure(system: System, embedder: Metered, data: Path, result: Result, most: int | None) -> None:
    """Tell every conversation, then ask; the first user stays for `deletion`."""
    scores: dict[str, list[float]] = {}
    for name, conversation in corpus(data, most):
        user = f"{name}-{conversation.id}".replace(" ", "-")  # mem0 refuses blanks in ids
        where: dict[str, str] = {}
        sessions = {t.id: t.session for t in conversation.turns}
        for turn in conversation.turns:
            where.setdefault(told(turn), turn.id)
            with_cost(result.add, embedder, lambda u=user, t=turn: system.add(u, t))
        for asked in conversation.questions:
            texts = with_cost(
                result.search,
                embedder,
                lambda u=user, q=asked.text, n=conversation.now: system.search(u, q, now=n),
            )
            ids = list(dict.fromkeys(where[t] for t in texts if t in where))
            scores.setdefault(f"{name} R@10", []).append(recall_at(ids, asked.gold, 10))
            scores.setdefault(f"{name} any@5", []).append(float(bool(asked.gold & set(ids[:5]))))
            if name == "LoCoMo":
                gold = {sessions[g] for g in asked.gold}
                first = list(dict.fromkeys(sessions[i] for i in ids))[:5]
                scores.setdefault("LoCoMo session any@5", []).append(float(bool(gold & set(first))))
        result.turns += len(conversation.turns)
        result.questions += len(conversation.questions)
        print(f"  {result.system}: {user} done", file=sys.stderr, flush=True)
    result.recall = {k: mean(v) for k, v in scores.items()}


def with_cost(cost: Cost, embedder: Metered, call: Any) -> Any:
    embedded, start = embedder.seconds, time.process_time()
    try:
        return call()
    finally:
        cost.calls += 1
        cost.seconds += time.process_time() - start
        cost.embedding += embedder.seconds - embedded


def updates(system: System, result: Result) -> None:
    """Short talks in which a value changes: what is handed on when the value is asked for."""
    stale: dict[str, list[float]] = {}
    current: dict[str, list[float]] = {}
    for n, case in enumerate(json.loads(UPDATES.read_text(encoding="utf-8"))):
        user, language = f"update-{n}", case["language"]
        before, after = case["said"]
        for i, text in enumerate((before, *FILLER[language], after)):
            at = START + timedelta(days=9 * i)
            session = f"day-{i}"
            system.add(user, Said(id=f"{n}-{i}", session=session, role="user", name=None, text=text, at=at))
        served = system.served(user, case["asked"], now=ASKED)
        # The later statement may name the old value ("not 41"): only the earlier one counts as stale.
        old = [t for t in served if case["old"] in t and case["new"] not in t]
        stale.setdefault(language, []).append(float(bool(old)))
        current.setdefault(language, []).append(float(any(case["new"] in t for t in served)))
    result.stale = {k: mean(v) for k, v in stale.items()}
    result.current = {k: mean(v) for k, v in current.items()}


def deletion(system: System, folder: Path, user: str, turns: Sequence[Said], result: Result) -> None:
    """One more user is told with a secret among the turns, and deleted; then the files are searched."""
    secret = Said(
        id="secret", session="last", role="user", name=None, text=f"The code word is {SECRET}.", at=turns[-1].at
    )
    for turn in (*turns[:-20], secret, *turns[-20:]):
        system.add(user, turn)
    if not system.search(user, "What is the code word?", now=ASKED):
        raise RuntimeError("the user to delete was never told")
    start = time.perf_counter()
    system.delete(user)
    result.delete_seconds = time.perf_counter() - start
    result.deleted_turns = len(turns) + 1
    if any(SECRET in t for t in system.search(user, "What is the code word?", now=ASKED)):
        raise RuntimeError("the deleted user is still found")
    system.close()
    files = [f for f in folder.rglob("*") if f.is_file()]
    result.bytes_on_disk = sum(f.stat().st_size for f in files)
    result.still_found = sum(f.read_bytes().count(SECRET.encode()) for f in files)


def run_one(name: str, data: Path, folder: Path, most: int | None) -> Result:
    try:
        known = version(PACKAGES[name])
    except PackageNotFoundError:
        known = "from the checkout" if name == "ltm_core" else "not installed"
    result = Result(system=name, version=known)
    try:
        embedder = metered()
        embedder.embed_query("warm")
        embedder.seconds = 0.0
        system = SYSTEMS[name](folder, embedder)
        result.note = system.note
        measure(system, embedder, data, result, most)
        updates(system, result)
        turns = next(corpus(data))[1].turns[:500]
        deletion(system, folder, "leaving", turns, result)
    except Exception as error:  # noqa: BLE001 a system that does not run is a row of the table too
        result.error = f"{type(error).__name__}: {str(error)[:200]}"
    result.peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The results as Markdown."""
    yield (
        "| system | version | LoCoMo R@10 | any@5 | session any@5 | MADial zh R@10 | any@5 "
        "| add, CPU-ms | search, CPU-ms | peak MB | delete 501 turns, s | found after | stale en / zh | new en / zh |"
    )
    yield "|---|---|" + "---:|" * 12
    for r in results:
        name = f"| {NAMES[r['system']]} | {r['version']} "
        if r["error"]:
            yield name + f"| did not run: {r['error']} " + "| " * 11 + "|"
            continue
        got = r["recall"]
        recall = (
            "LoCoMo R@10",
            "LoCoMo any@5",
            "LoCoMo session any@5",
            "MADial zh R@10",
            "MADial zh any@5",
        )
        parts = [f"{100 * got[k]:.1f}" if k in got else "" for k in recall]
        parts += [f"{Cost(**r['add']).own_ms():.1f}", f"{Cost(**r['search']).own_ms():.1f}", f"{r['peak_mb']:.0f}"]
        parts += [f"{r['delete_seconds']:.2f}"]
        parts += [str(r["still_found"]) if r["bytes_on_disk"] else "no files"]
        for shares in (r["stale"], r["current"]):
            parts.append(" / ".join(f"{100 * shares[k]:.0f} %" for k in ("en", "zh")))
        yield name + "| " + " | ".join(parts) + " |"
    yield ""
    for r in results:
        if r["note"]:
            yield f"- {NAMES[r['system']]}: {r['note']}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", default=",".join(SYSTEMS), help="systems, by comma")
    parser.add_argument("--conversations", type=int, help="LoCoMo conversations that are read")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--run", choices=list(SYSTEMS), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.run:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(asdict(run_one(chosen.run, chosen.data, Path(folder), chosen.conversations))))
        return
    results = []
    quiet = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore"}
    for name in chosen.only.split(","):
        command = [sys.executable, "-m", "benchmarks.peers", "--run", name, "--data", str(chosen.data)]
        command += ["--conversations", str(chosen.conversations)] if chosen.conversations else []
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **quiet})
        results.append(json.loads(done.stdout.splitlines()[-1]))
        if chosen.json:
            chosen.json.write_text(json.dumps(results, indent=2), encoding="utf-8")
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
