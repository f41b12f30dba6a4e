"""Figures of several workers: added up, also after one of them was killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")

WORKER = """
import sys
from ltm_core import LongTermMemory
from ltm_core.serve.metrics import Metrics
from ltm_core.testing.embedders import HashEmbedder
memory = LongTermMemory.open(sys.argv[1], embedder=HashEmbedder(), timezone="UTC")
metrics = Metrics(memory)
memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
for _ in range(2):
    result = memory.context("Where do I live?", user_id="ana")
    metrics.saw("context", result)
metrics.took("context", 200, 0.01)
for line in sys.stdin:
    metrics.took("context", 200, 0.01)
    sys.stdout.write(metrics.text().decode())
    print("end", flush=True)
"""


class Worker:
    """A process with figures of its own; killed at the end of the block."""

    def __init__(self, store: Path, figures: Path) -> None:
        environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(figures), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(store)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def figures(self) -> dict[str, float]:
        """What this worker tells of all of them, by the whole name of the series."""
        told: Any = self.process
        told.stdin.write("\n")
        told.stdin.flush()
        found = {}
        while (line := told.stdout.readline().strip()) != "end":
            assert line or told.poll() is None, "the worker died"
            if line and not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                found[name] = float(value)
        return found


@pytest.mark.slow
def test_workers_count_together_and_the_dead_use_no_memory(tmp_path: Path) -> None:
    figures, store = tmp_path / "figures", tmp_path / "store"
    figures.mkdir()
    with Worker(store, figures) as one:
        alone = one.figures()
        with Worker(store, figures) as two:
            two.figures()
            both = one.figures()
        assert both["ltm_recall_cache_asked_total"] == 2 * alone["ltm_recall_cache_asked_total"] == 4
        assert both["ltm_recall_cache_hits_total"] == 2 * alone["ltm_recall_cache_hits_total"] == 2
        assert both['ltm_recalls_total{found="yes"}'] == 4 and both['ltm_recalls_total{found="no"}'] == 0
        assert both['ltm_webhook_deliveries_total{taken="no"}'] == 0
        assert both["ltm_embedding_seconds_total"] > alone["ltm_embedding_seconds_total"] > 0
        assert both["ltm_resident_bytes"] > 1.5 * alone["ltm_resident_bytes"] > 10 * 2**20
        after = one.figures()
    assert after["ltm_resident_bytes"] < 1.5 * alone["ltm_resident_bytes"]
    assert after["ltm_recall_cache_asked_total"] == 4, "what it counted stays"
