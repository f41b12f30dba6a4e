"""What tests of the write path share: the default embedder, loaded once, and what is kept of messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ltm_core.embed.base import Embedder
from ltm_core.embed.resolve import resolve_embedder
from ltm_core.memory import LongTermMemory

KeptOf = Callable[[Path], tuple[Mapping[str, int], Mapping[str, int]]]


@pytest.fixture(scope="session")
def encoder() -> Embedder:
    return resolve_embedder(None)


@pytest.fixture
def kept_of(tmp_path: Path, encoder: Embedder) -> KeptOf:
    """Counts the messages of a file, each told by a user of its own, by kind: all, and those of which a fact is
    kept."""

    def count(path: Path) -> tuple[Mapping[str, int], Mapping[str, int]]:
        told, kept = Counter[str](), Counter[str]()
        with LongTermMemory.open(tmp_path / "kept", embedder=encoder, timezone="UTC") as memory:
            for n, line in enumerate(path.read_text("utf-8").splitlines()):
                message = json.loads(line)
                memory.observe(user_id=f"u{n}", session_id="s", user=message["text"])
                told[message["kind"]] += 1
                kept[message["kind"]] += bool(list(memory.facts(user_id=f"u{n}")))
        return told, kept

    return count
