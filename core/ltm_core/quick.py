"""Twenty things somebody says, and a question about each: does an installation remember at all?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

from ltm_core.memory import LongTermMemory

if TYPE_CHECKING:
    from ltm_core.embed.base import Embedder

ENOUGH = 18
"""Questions of the twenty that a sound installation answers. The built-in embedder finds 19 (which food to avoid is
not found from an allergy), words alone without an embedder 16."""
_BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Something said, a turn a day, and a question that is answered when all ``words`` are in the context."""

    id: str
    lang: str
    said: tuple[str, ...]
    question: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of a pair."""

    pair: Pair
    found: bool
    context: str


def pairs() -> tuple[Pair, ...]:
    """Those that come with the package: ten in Chinese, ten in English."""
    text = files("ltm_core").joinpath("quick.jsonl").read_text(encoding="utf-8")
    rows = (json.loads(line) for line in text.splitlines())
    return tuple(
        Pair(id=r["id"], lang=r["lang"], said=tuple(r["said"]), question=r["question"], words=tuple(r["words"]))
        for r in rows
    )


def ask(asked: Sequence[Pair], *, embedder: Embedder | None = None) -> Iterator[Answer]:
    """Everything is told to one new memory, each language as a user of its own; then every question is asked in a
    session in which nothing was said. Nothing is left on the disk."""
    now = [_BEGAN]
    with (
        tempfile.TemporaryDirectory(prefix="ltm-quick-") as place,
        LongTermMemory.open(place, clock=lambda: now[0], embedder=embedder, timezone="UTC") as memory,
    ):
        for pair in asked:
            for words in pair.said:
                memory.observe(user_id=pair.lang, session_id=now[0].date().isoformat(), user=words)
                now[0] += timedelta(days=1)
        for pair in asked:
            context = memory.context(pair.question, user_id=pair.lang, session_id="questions")
            told = context.text.casefold()
            yield Answer(pair=pair, found=all(w.casefold() in told for w in pair.words), context=context.text)


__all__ = ["ENOUGH", "Answer", "Pair", "ask", "pairs"]
