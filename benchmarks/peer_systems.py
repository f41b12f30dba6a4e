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
_MESSAGE = re.compile(r"<message role='\w+'>(.*?)</message>", re.DOTALL)


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


class _Plain:
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


class Mem0(_Plain):
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


class LangChainRetriever(_Plain):
    """VectorStoreRetrieverMemory over Chroma on disk; it knows no users, so each has a collection."""

    note = "no users, no deleting: a collection per user, dropped through Chroma"

    def __init__(self, folder: Path, embedder: Metered) -> None:
        self._client = import_module("chromadb").PersistentClient(str(folder / "chroma"))
        self._embeddings = as_langchain(embedder)
        self._memories: dict[str, Any] = {}

    def _of(self, user: str) -> Any:
        if user not in self._memories:
            store = import_module("langchain_chroma").Chroma(
                collection_name=_collection(user), client=self._client, embedding_function=self._embeddings
            )
            memory = import_module("langchain_classic.memory").VectorStoreRetrieverMemory
            self._memories[user] = memory(
                retriever=store.as_retriever(search_kwargs={"k": DEPTH}), return_docs=True, input_key="input"
            )
        return self._memories[user]

    def add(self, user: str, turn: Said) -> None:
        self._of(user).save_context({"input": told(turn)}, {})

    def search(self, user: str, question: str, *, now: datetime) -> list[str]:
        docs = self._of(user).load_memory_variables({"input": question})["history"]
        return [d.page_content.removeprefix("input: ") for d in docs]

    def delete(self, user: str) -> None:
        self._memories.pop(user, None)
        self._client.delete_collection(_collection(user))


class LlamaIndexBlocks(_Plain):
    """Memory with a VectorMemoryBlock over Chroma; a memory and a collection per user."""

    note = "a chat window with a vector block; no deleting: the collection is dropped through Chroma"

    def __init__(self, folder: Path, embedder: Metered) -> None:
        self._client = import_module("chromadb").PersistentClient(str(folder / "chroma"))
        self._embedder = _llamaindex_embedding(embedder)
        self._memories: dict[str, Any] = {}

    def _of(self, user: str) -> Any:
        if user not in self._memories:
            collection = self._client.get_or_create_collection(_collection(user))
            store = import_module("llama_index.vector_stores.chroma").ChromaVectorStore(chroma_collection=collection)
            memory = import_module("llama_index.core.memory")
            block = memory.VectorMemoryBlock(
                vector_store=store,
                embed_model=self._embedder,
                similarity_top_k=DEPTH,
            )
            # A window of 40 tokens: turns leave it one by one, so that each is found by itself.
            self._memories[user] = memory.Memory.from_defaults(
                session_id=user,
                token_limit=4000,
                chat_history_token_ratio=0.01,
                token_flush_size=1,
                memory_blocks=[block],
            )
        return self._memories[user]

    def add(self, user: str, turn: Said) -> None:
        message = import_module("llama_index.core.llms").ChatMessage(role="user", content=told(turn))
        self._of(user).put(message)

    def search(self, user: str, question: str, *, now: datetime) -> list[str]:
        if user not in self._memories:
            return []
        # Through Memory the question would be embedded together with the turns of the window, whatever they say.
        asked = import_module("llama_index.core.llms").ChatMessage(role="user", content=question)
        run = import_module("llama_index.core.async_utils").asyncio_run
        return self._found(run(self._of(user).memory_blocks[0].aget([asked], session_id=user)))

    def served(self, user: str, question: str, *, now: datetime) -> list[str]:
        messages = self._of(user).get(input=question)
        found = [t for m in messages if m.role.value == "system" for t in self._found(m.content or "")]
        return [*found, *(m.content for m in messages if m.role.value == "user")]

    @staticmethod
    def _found(text: str) -> list[str]:
        return [m.strip() for m in _MESSAGE.findall(text)]

    def delete(self, user: str) -> None:
        self._memories.pop(user).reset()
        self._client.delete_collection(_collection(user))


class LangGraphStore(_Plain):
    """LangGraph's InMemoryStore with an index."""

    note = "in memory only; no deleting of a namespace: key by key"

    def __init__(self, folder: Path, embedder: Metered) -> None:
        index = {"embed": as_langchain(embedder), "dims": embedder.dimension, "fields": ["text"]}
        self._store = import_module("langgraph.store.memory").InMemoryStore(index=index)

    def add(self, user: str, turn: Said) -> None:
        self._store.put(("turns", user), turn.id, {"text": told(turn)})

    def search(self, user: str, question: str, *, now: datetime) -> list[str]:
        return [i.value["text"] for i in self._store.search(("turns", user), query=question, limit=DEPTH)]

    def delete(self, user: str) -> None:
        while found := self._store.search(("turns", user), limit=1000):
            for item in found:
                self._store.delete(("turns", user), item.key)


class PlainBM25(_Plain):
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


def _collection(user: str) -> str:
    return "user-" + re.sub(r"[^a-z0-9]", "-", user.lower())


def _llamaindex_embedding(embedder: Metered) -> Any:
    base = import_module("llama_index.core.base.embeddings.base").BaseEmbedding

    def text(self: Any, value: str) -> list[float]:
        return [float(v) for v in embedder.embed_documents([value])[0]]

    def query(self: Any, value: str) -> list[float]:
        return [float(v) for v in embedder.embed_query(value)]

    async def aquery(self: Any, value: str) -> list[float]:
        return query(self, value)

    methods = {"_get_text_embedding": text, "_get_query_embedding": query, "_aget_query_embedding": aquery}
    return type("Bridged", (base,), {"__module__": __name__, **methods})(model_name=embedder.name)


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
