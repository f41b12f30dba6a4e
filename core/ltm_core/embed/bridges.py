"""Embedding objects of other frameworks, recognised by their methods; no framework is imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ltm_core.embed.base import MAX_NAME_LENGTH
from ltm_core.embed.prepare import shorten
from ltm_core.errors import ConfigError, UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.embed.base import Embedder

_MAX_TOKENS = 512
# Where frameworks keep the model's name, in the order of trust.
_NAME_ATTRIBUTES = ("model_name", "model", "model_id", "deployment", "repo_id")


def bridge(candidate: object) -> Embedder | None:
    """The candidate as an embedder if it is a LangChain or LlamaIndex embedding, else None."""
    if is_langchain(candidate):
        return from_langchain(candidate)
    if is_llamaindex(candidate):
        return from_llamaindex(candidate)
    return None


def is_langchain(candidate: object) -> bool:
    """Whether it has the methods of LangChain's ``Embeddings``."""
    return _has_methods(candidate, "embed_documents", "embed_query")


def is_llamaindex(candidate: object) -> bool:
    """Whether it has the methods of LlamaIndex's ``BaseEmbedding``."""
    return _has_methods(candidate, "get_text_embedding_batch", "get_query_embedding")


def from_langchain(embeddings: object, *, name: str | None = None, max_tokens: int = _MAX_TOKENS) -> Embedder:
    """A LangChain ``Embeddings`` as an embedder. See ``BridgedEmbedder`` for name and dimension."""
    if not is_langchain(embeddings):
        raise ConfigError(f"{type(embeddings).__name__} has no embed_documents and embed_query")
    return BridgedEmbedder(embeddings, "embed_documents", "embed_query", name, max_tokens)


def from_llamaindex(embedding: object, *, name: str | None = None, max_tokens: int = _MAX_TOKENS) -> Embedder:
    """A LlamaIndex ``BaseEmbedding`` as an embedder. See ``BridgedEmbedder`` for name and dimension."""
    if not is_llamaindex(embedding):
        raise ConfigError(f"{type(embedding).__name__} has no get_text_embedding_batch and get_query_embedding")
    return BridgedEmbedder(embedding, "get_text_embedding_batch", "get_query_embedding", name, max_tokens)


class BridgedEmbedder:
    """Calls another object's two methods.

    ``name`` is the class and the model's name, where the object tells it; give ``name=`` for classes
    that do not (two different models of such a class would look the same). ``dimension`` is found by
    embedding one word at the first reading of it, and kept.
    """

    def __init__(
        self, inner: object, documents_method: str, query_method: str, name: str | None, max_tokens: int
    ) -> None:
        self.inner = inner
        self.max_tokens = max_tokens
        self.name = name or _derived_name(inner)
        self._embed_documents: Any = getattr(inner, documents_method)
        self._embed_query: Any = getattr(inner, query_method)
        self._dimension = 0

    def __repr__(self) -> str:
        return f"BridgedEmbedder({self.name!r})"

    @property
    def dimension(self) -> int:
        if not self._dimension:
            self._dimension = len(self._row(self._embed_query("dimension")))
        return self._dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text, as the object returned them."""
        import numpy as np

        ready = [shorten(text, self.max_tokens) for text in texts]
        with np.errstate(over="ignore"):
            return np.asarray(self._embed_documents(ready), dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._row(self._embed_query(shorten(text, self.max_tokens, keep_end=True)))

    def _row(self, given: Any) -> NDArray[np.float32]:
        import numpy as np

        with np.errstate(over="ignore"):
            row = np.asarray(given, dtype=np.float32)
        if row.ndim != 1 or not row.size:
            raise UnavailableError(f"embedder {self.name!r} did not return one vector")
        return row


def _has_methods(candidate: object, *names: str) -> bool:
    return all(callable(getattr(candidate, name, None)) for name in names)


def _derived_name(inner: object) -> str:
    kind = type(inner).__name__
    for attribute in _NAME_ATTRIBUTES:
        value = getattr(inner, attribute, None)
        if isinstance(value, str) and value.strip() and value.strip().lower() != "unknown":
            printable = "".join(char if char.isprintable() else " " for char in value.strip())
            return f"{kind}:{printable}"[:MAX_NAME_LENGTH]
    return kind[:MAX_NAME_LENGTH]
