"""Other memories behind one small interface, each used as its documentation says, all with our embedder.

The packages are those of ``peers-requirements.txt``; they are imported only when their system is made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import Said
from ltm_core.embed import Embedder, resolve_embedder

DEPTH = 10
"""Memories asked for: what is cut at 10 is measured at 10."""


def told(turn: Said) -> str:
    """The turn as a careful user of a text store would write it: day and speaker beside the words."""
    return f"[{turn.at.date().isoformat()}] {turn.name or turn.role}: {turn.text}"


class Metered:
    """The built-in embedder, with the processor time spent in it."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.name = inner.name
        self.dimension = inner.dimension
        self.max_tokens = inner.max_tokens
        self.seconds = 0.0

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._timed(self.inner.embed_documents, texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._timed(self.inner.embed_query, text)

    def _timed(self, call: Callable[[Any], NDArray[np.float32]], argument: Any) -> NDArray[np.float32]:
        start = process_time()
        try:
            return call(argument)
        finally:
            self.seconds += process_time() - start


def metered() -> Metered:
    return Metered(resolve_embedder(None))


class System(Protocol):
    """One memory of several users."""

    note: str
    """What it is not meant for, in a few words."""
    can_delete: bool
    """Whether it offers to delete one user."""

    def add(self, user: str, turn: Said) -> None: ...
    def search(self, user: str, question: str, *, now: datetime) -> list[str]:
        """Texts, best first; the caller knows which turn each one is."""
        ...

    def served(self, user: str, question: str, *, now: datetime) -> list[str]:
        """What would be handed to a model as holding now, for the same question."""
        ...

    def delete(self, user: str) -> None: ...
    def close(self) -> None: ...


class Ours:
    """ltm_core, opened with its defaults."""

    note = "the product of this repository"
    can_delete = True

    def __init__(self, folder: Path, embedder: Metered) -> None:
        from ltm_core import LongTermMemory

        self._memory = LongTermMemory.open(folder / "ltm", embedder=embedder, timezone="UTC")
        self._me: dict[str, str | None] = {}
        self._told: dict[tuple[str, str], str] = {}

    def add(self, user: str, turn: Said) -> None:
        from ltm_core import Message

        # In a talk of two named people the first one is the user, as in a group chat.
        me = self._me.setdefault(user, turn.name)
        self._told[user, turn.id] = told(turn)
        message = Message(role=turn.role, content=turn.text, at=turn.at, id=turn.id, name=turn.name)
        self._memory.observe(user_id=user, session_id=turn.session, messages=[message], me=me)

    def search(self, user: str, question: str, *, now: datetime) -> list[str]:
        # A fact stands for the turns it rests on, so more are asked for than are cut at.
        hits = self._memory.search(question, user_id=user, top_k=3 * DEPTH, at=now)
        ids = dict.fromkeys(i for h in hits for i in h.source_message_ids)
        return [self._told[user, i] for i in ids][:DEPTH]

    def served(self, user: str, question: str, *, now: datetime) -> list[str]:
        return [i.text for i in self._memory.context(question, user_id=user, at=now).items if i.is_current]

    def delete(self, user: str) -> None:
        self._memory.forget_user(user)

    def close(self) -> None:
        self._memory.close()


class Embeddings:
    """Our embedder with the methods that LangChain, LangGraph and mem0 call."""

    def __init__(self, embedder: Metered) -> None:
        self._embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(v) for v in row] for row in self._embedder.embed_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        return [float(v) for v in self._embedder.embed_query(text)]


def as_langchain(embedder: Metered) -> Any:
    base = import_module("langchain_core.embeddings").Embeddings
    return type("Bridged", (Embeddings, base), {})(embedder)


class Plain:
    """Of a memory that keeps texts as they are, everything found is handed on."""

    can_delete = True

    def search(self, user: str, question: str, *, now: datetime) -> list[str]:
        raise NotImplementedError

    def served(self, user: str, question: str, *, now: datetime) -> list[str]:
        return self.search(user, question, now=now)

    def delete(self, user: str) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is open."""


class Mem0(Plain):
    """mem0 without a language model: ``infer=False``, Chroma on disk."""

    note = "conflicts are for its LLM, which is off here"

    def __init__(self, folder: Path, embedder: Metered) -> None:
        # Read at import: no telemetry, nothing in the home directory.
        os.environ.update(MEM0_TELEMETRY="False", ANONYMIZED_TELEMETRY="False", MEM0_DIR=str(folder / "mem0"))
        self._memory = import_module("mem0").Memory.from_config(
            {
                "embedder": {
                    "provider": "langchain",
                    "config": {"model": as_langchain(embedder), "embedding_dims": embedder.dimension},
                },
                "vector_store": {
                    "provider": "chroma",
                    "config": {"collection_name": "peers", "path": str(folder / "chroma")},
                },
                # Built in any case, never called with infer=False.
                "llm": {"provider": "openai", "config": {"api_key": "unused"}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, user: str, turn: Said) -> None:
        self._memory.add(told(turn), user_id=user, infer=False)

    def search(self, user: str, question: str, *, now: datetime) -> list[str]:
        found = self._memory.search(question, filters={"user_id": user}, top_k=DEPTH)["results"]
        return [r["memory"] for r in found]

    def delete(self, user: str) -> None:
        self._memory.delete_all(user_id=user)


class PlainBM25(Plain):
    """rank-bm25 over words (Chinese: characters in pairs), made anew at the first question after a change."""

    note = "an index in memory, no store"
    _WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]+")

    def __init__(self, folder: Path, embedder: Metered) -> None:
        self._texts: dict[str, list[str]] = {}
        self._indexes: dict[str, Any] = {}

    @classmethod
    def _tokens(cls, text: str) -> list[str]:
        out: list[str] = []
        for word in cls._WORD.findall(text.lower()):
            out += [word] if word.isascii() or len(word) == 1 else [word[i : i + 2] for i in range(len(word) - 1)]
        return out

    def add(self, user: str, turn: Said) -> None:
        self._texts.setdefault(user, []).append(told(turn))
        self._indexes.pop(user, None)

    def search(self, user: str, question: str, *, now: datetime) -> list[str]:
        texts = self._texts.get(user, [])
        if not texts:
            return []
        if user not in self._indexes:
            self._indexes[user] = import_module("rank_bm25").BM25Okapi([self._tokens(t) for t in texts])
        scores = self._indexes[user].get_scores(self._tokens(question))
        return [texts[i] for i in np.argsort(-scores, kind="stable")[:DEPTH]]

    def delete(self, user: str) -> None:
        self._texts.pop(user, None)
        self._indexes.pop(user, None)
