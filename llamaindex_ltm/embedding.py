"""An embedder of ours as the host's embedding, so that documents and memories share one model."""

from __future__ import annotations

from typing import Any, Self

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr

from ltm_core.embed.none import NoEmbedder
from ltm_core.embed.resolve import resolve_embedder
from ltm_core.errors import ConfigError
from ltm_core.twins import in_worker

_GIVEN = "given"
"""Stands for an embedder that was given as an object, and cannot be made again from a text."""


class LTMEmbedding(BaseEmbedding):
    """The embedder that ``embedder`` names for ``LongTermMemory.open``, or that is one; None is the built-in.

    The built-in one needs no key, no server and no download, for Chinese, English and 14 other languages.
    Vectors have length 1; those of blank texts are zeros. The other way, a LlamaIndex embedding is given to
    ``LongTermMemory.open(embedder=...)`` as it is. ``Settings`` is not touched: pass this as ``embed_model=``.
    """

    spec: str = "use"
    """What `from_dict` makes it from again."""

    _embedder: Any = PrivateAttr()

    def __init__(self, embedder: Any = None, **data: Any) -> None:
        spec = data.pop("spec", None)
        if embedder is None:
            embedder = spec
        if embedder == _GIVEN:
            raise ConfigError("this embedding was made from an object: make it from that again")
        made = resolve_embedder(embedder)
        if made.name == NoEmbedder.name:
            raise ConfigError("this embedder makes no vectors: an index cannot be built with it")
        data["model_name"] = made.name
        # An address in it holds no password: those are refused.
        given = embedder if isinstance(embedder, str) else _GIVEN
        super().__init__(spec="use" if embedder is None else given, **data)
        self._embedder = made

    @classmethod
    def class_name(cls) -> str:
        """The name it is serialised under."""
        return "LTMEmbedding"

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return int(self._embedder.dimension)

    def _get_query_embedding(self, query: str) -> list[float]:
        row: list[float] = self._embedder.embed_query(query).tolist()
        return row

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await in_worker(lambda: self._get_query_embedding(query))

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await in_worker(lambda: self._get_text_embedding(text))

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = self._embedder.embed_documents(texts).tolist()
        return rows

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await in_worker(lambda: self._get_text_embeddings(texts))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        source = self._embedder.inner if self.spec == _GIVEN else self.spec
        return _restored, (type(self), source, {"embed_batch_size": self.embed_batch_size})


def _restored(cls: type[LTMEmbedding], embedder: Any, options: dict[str, Any]) -> LTMEmbedding:
    return cls(embedder, **options)


__all__ = ["LTMEmbedding"]
