"""What tests of the write path share: the default embedder, loaded once, and what is kept of messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core.embed.base import Embedder
from ltm_core.embed.resolve import resolve_embedder
from ltm_core.memory import LongTermMemory
from ltm_core.types import Fact, Message

KeptOf = Callable[[Path], tuple[Mapping[str, int], Mapping[str, int]]]
InOneSession = Callable[[Sequence[str]], tuple[list[Fact], list[str]]]


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


@pytest.fixture
def current_after(tmp_path: Path, encoder: Embedder) -> Callable[[Sequence[str]], list[Fact]]:
    """What is current and positive after the user's turns, each in a session ten days after the one before."""

    def tell(turns: Sequence[str]) -> list[Fact]:
        begin = datetime(2025, 3, 3, 2, tzinfo=UTC)
        with LongTermMemory.open(tmp_path / "current", embedder=encoder, timezone="UTC") as memory:
            for n, words in enumerate(turns):
                memory.observe(user_id="u", session_id=f"s{n}", user=words, at=begin + timedelta(days=10 * n))
            return [f for f in memory.facts(user_id="u") if f.is_positive]

    return tell


@pytest.fixture
def in_one_session(tmp_path: Path, encoder: Embedder) -> InOneSession:
    """What is current after the turns of one session, a minute apart ("A:" begins the assistant's), and what the last
    one stated."""

    def tell(turns: Sequence[str]) -> tuple[list[Fact], list[str]]:
        begin, stated = datetime(2025, 3, 3, 2, tzinfo=UTC), list[str]()
        with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="Asia/Shanghai") as memory:
            for n, words in enumerate(turns):
                said = Message(
                    role="assistant" if words.startswith("A:") else "user",
                    content=words.removeprefix("A:"),
                    at=begin + timedelta(minutes=n),
                )
                seen = memory.observe(user_id="u", session_id="s", messages=[said])
                stated = [a.text for a in seen.anchors if a.kind == "stated_fact"]
            return list(memory.facts(user_id="u")), stated

    return tell
