"""What LangChain, LlamaIndex and LangGraph bring along themselves, behind the interface of ``peer_systems``."""

from __future__ import annotations

import re
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.corpora import Said
from benchmarks.peer_systems import DEPTH, Metered, Plain, as_langchain, told

_MESSAGE = re.compile(r"<message role='\w+'>(.*?)</message>", re.DOTALL)


class LangChainRetriever(Plain):
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


class LlamaIndexBlocks(Plain):
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


class LangGraphStore(Plain):
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
