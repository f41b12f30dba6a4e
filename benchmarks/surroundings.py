"""What surrounds the latency: the machine, the import, the cache and the disk."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

HEAVY = ("torch", "chromadb", "langchain", "langchain_core", "llama_index", "numpy", "pydantic", "rich", "typer")


def import_figures(runs: int = 9) -> dict[str, Any]:
    """Import over a bare start of the interpreter, and which heavy modules it brought (there should be none)."""

    def start(code: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started

    start("from ltm_core import LongTermMemory")
    bare, package, door = [], [], []
    for _ in range(runs):
        bare.append(start("pass"))
        package.append(start("import ltm_core"))
        door.append(start("from ltm_core import LongTermMemory"))
    code = f"import sys; from ltm_core import LongTermMemory; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    return {
        "bare start ms": round(statistics.median(bare) * 1000, 1),
        "import ltm_core ms over it": round((statistics.median(package) - statistics.median(bare)) * 1000, 1),
        "with LongTermMemory": round((statistics.median(door) - statistics.median(bare)) * 1000, 1),
        "heavy modules loaded": loaded,
    }


def cache_figures(store: Path, users: Sequence[str], megabytes: int) -> dict[str, Any]:
    """The most bytes the vector cache held while many users asked in turn, against its bound."""
    from ltm_core import LongTermMemory

    most = 0
    with LongTermMemory.open(store, timezone="UTC", vector_cache_mb=megabytes) as memory:
        for user in users:
            memory.context("Who bought the telescope?", user_id=user)
            most = max(most, memory._runtime.store._snapshots().used)  # type: ignore[attr-defined]
    return {"users": len(users), "bound MB": megabytes, "most held MB": round(most / 2**20, 2)}


def bytes_per_memory(store: Path) -> dict[str, Any]:
    """Bytes of all files per turn and fact that is in them, whoever's; the part that vectors take; and how much of
    their pages is filled."""
    size = sum(p.stat().st_size for p in store.rglob("*") if p.is_file())
    with closing(sqlite3.connect(f"file:{store / 'memory.sqlite3'}?mode=ro", uri=True)) as conn:
        counts = [conn.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("messages", "facts")]
        found: dict[str, Any] = {"memories": sum(counts), "bytes per memory": size // sum(counts)}
        try:
            pages, used = conn.execute(
                "SELECT sum(pgsize), sum(payload) FROM dbstat WHERE name = 'vectors' AND aggregate = TRUE"
            ).fetchone()
        except sqlite3.OperationalError:  # a build of SQLite without its table of pages
            return found
    return found | {"of them vectors": round(pages / size, 2), "filled pages of vectors": round(used / pages, 2)}


def machine() -> dict[str, str]:
    import numpy

    return {
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
