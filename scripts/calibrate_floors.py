"""Renew core/ltm_core/lexicon/floors.json: the floor that ``ltm calibrate`` gives on scripts/floor_pairs.tsv.

    python scripts/calibrate_floors.py [--embedder SPEC --name PREFIX] [--write] [--pairs FILE]

Each question goes with the text it is answered by, and counts as unrelated to every other text of its language.
PREFIX is what the embedder's name must begin with for the floor to hold. ``--pairs`` also writes the pairs as the
command reads them, and `ltm calibrate FILE` then prints the same floor.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ltm_core import Calibration, LongTermMemory

ROOT = Path(__file__).resolve().parent.parent
PAIRS = ROOT / "scripts/floor_pairs.tsv"
FLOORS = ROOT / "core/ltm_core/lexicon/floors.json"
TOLD = datetime(2025, 1, 1, 12, tzinfo=UTC)
"""The day in the embedded text of every pair."""


def pairs(path: Path = PAIRS) -> list[dict[str, Any]]:
    """Rows of query, text and label; only texts of one language meet, as most are told in both."""
    told: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            language, text, questions = line.split("\t")
            told[language].append((text, questions.split("|")))
    return [
        {"query": query, "text": text, "label": int(text == answer)}
        for entries in told.values()
        for answer, queries in entries
        for query in queries
        for text, _ in entries
    ]


def calibration(embedder: object = None) -> Calibration:
    """What the product's own command finds on the pairs."""
    with LongTermMemory.open(":memory:", embedder=embedder, timezone="UTC", clock=lambda: TOLD) as memory:
        return memory.calibrate(pairs(), dry_run=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder")
    parser.add_argument("--name", default="use-multilingual-v3")
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    if chosen.pairs:
        lines = "".join(json.dumps(p, ensure_ascii=False) + "\n" for p in pairs())
        chosen.pairs.write_text(lines, encoding="utf-8")
    found = calibration(chosen.embedder)
    for row in (*found.thresholds, found.before, found.after):
        if row is not None:
            print(
                f"{row.threshold:.3f}  precision {row.precision:.3f}  recall {row.recall:.3f}  "
                f"false positives {row.false_positives:.4f}"
            )
    entry = {
        "similarity": found.similarity,
        "coverage": found.coverage,
        "mixed_similarity": found.mixed_similarity,
        "mixed_coverage": found.mixed_coverage,
        "provenance": f"scripts/calibrate_floors.py on scripts/floor_pairs.tsv "
        f"(sha256 {hashlib.sha256(PAIRS.read_bytes()).hexdigest()[:12]}, {found.related} related of {found.pairs} "
        f"pairs), {found.embedder}, {found.rule}",
    }
    print(json.dumps(entry, indent=2))
    if chosen.write:
        floors = json.loads(FLOORS.read_text(encoding="utf-8"))
        floors["embedders"][chosen.name] = entry
        FLOORS.write_text(json.dumps(floors, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
