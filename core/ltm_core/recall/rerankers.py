"""From what the user gave to a reranker. No framework is imported: their objects are known by their methods."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ltm_core.errors import ConfigError, MissingExtraError, UnavailableError
from ltm_core.forklock import ForkSafeLock
from ltm_core.recall.protocols import Reranker

OPTIONS = (
    '"cross-encoder:<model or folder>", a LangChain BaseCrossEncoder, a LlamaIndex rerank postprocessor, '
    "a sentence-transformers CrossEncoder, or an object with name and rerank"
)
_LLAMAINDEX_SCHEMA = "llama_index.core.schema"
_BATCH = 16
"""Pairs per call of a cross-encoder: on a CPU larger batches only pad short texts to the longest."""


def resolve_reranker(given: object) -> Reranker | None:
    """The reranker that ``given`` stands for; None for None. Loads no model.

    ConfigError, which lists what is possible; MissingExtraError for a cross-encoder without its package.
    """
    if given is None:
        return None
    if isinstance(given, str):
        kind, _, rest = given.strip().partition(":")
        if kind.lower() == "cross-encoder" and rest.strip():
            return CrossEncoderReranker(rest.strip())
        raise ConfigError(f"unknown reranker; possible are: {OPTIONS}")
    if isinstance(given, type):
        raise ConfigError(f"reranker must be an object, not the class {given.__name__}; possible are: {OPTIONS}")
    if _has(given, "rerank") and isinstance(getattr(given, "name", None), str):
        return given  # type: ignore[return-value]
    if _has(given, "postprocess_nodes"):
        return LlamaIndexReranker(given)
    for method in ("score", "predict"):
        if _has(given, method):
            return PairReranker(given, method)
    raise ConfigError(f"cannot use {type(given).__name__} as reranker; possible are: {OPTIONS}")


class CrossEncoderReranker:
    """A CrossEncoder of sentence-transformers, by name (``owner/model``) or folder, loaded at the first call.

    Code inside the model is never run. Calls from several threads take turns.
    """

    def __init__(self, model: str, *, device: str | None = None, local_files_only: bool = False) -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtraError("a cross-encoder", "sentence-transformers")
        self._source = model
        self._device = device
        self._local_files_only = local_files_only
        self._lock = ForkSafeLock()
        self._model: Any = None
        folder = Path(model).expanduser()
        self.name = f"cross-encoder:{folder.resolve().name if folder.is_dir() else model}"

    def __repr__(self) -> str:
        return f"CrossEncoderReranker({self.name!r})"

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """The model's score of each text; UnavailableError when it cannot be loaded."""
        with self._lock:  # the tokenizer is not safe to share between threads
            if self._model is None:
                self._model = self._load()
            pairs = [(query, text) for text in texts]
            return _numbers(self._model.predict(pairs, batch_size=_BATCH, show_progress_bar=False))

    def _load(self) -> Any:
        from sentence_transformers import CrossEncoder

        try:
            return CrossEncoder(
                str(Path(self._source).expanduser()),
                device=self._device,
                local_files_only=self._local_files_only,
                trust_remote_code=False,
            )
        except (OSError, ValueError, RuntimeError, ImportError) as error:
            raise UnavailableError(f"{self.name} could not be loaded: {type(error).__name__}") from error


class PairReranker:
    """An object that scores pairs of texts: LangChain's ``score``, a CrossEncoder's ``predict``."""

    def __init__(self, inner: object, method: str) -> None:
        self.name = f"{type(inner).__name__}"
        self._score: Any = getattr(inner, method)

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return _numbers(self._score([(query, text) for text in texts]))


class LlamaIndexReranker:
    """A node postprocessor of LlamaIndex. What it leaves out (its ``top_n``) is below all it returns."""

    def __init__(self, inner: Any) -> None:
        self.name = f"{type(inner).__name__}"
        self._inner = inner

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        # Its object comes from LlamaIndex, so that is loaded already, and nothing is imported here.
        schema: Any = sys.modules.get(_LLAMAINDEX_SCHEMA)
        if schema is None:
            raise UnavailableError(f"{self.name} has postprocess_nodes, but LlamaIndex is not loaded")
        nodes = [
            schema.NodeWithScore(node=schema.TextNode(text=text, id_=str(place)), score=0.0)
            for place, text in enumerate(texts)
        ]
        ranked = self._inner.postprocess_nodes(nodes, query_str=query)
        known = {int(n.node.node_id): float(n.score) for n in ranked if n.score is not None}
        lowest = min(known.values(), default=0.0)
        return [known.get(place, lowest - 1.0) for place in range(len(texts))]


def _numbers(given: Any) -> list[float]:
    """One number per pair; a model with one output may answer rows of one."""
    values = given.tolist() if hasattr(given, "tolist") else list(given)
    return [float(v[0] if isinstance(v, list | tuple) and len(v) == 1 else v) for v in values]


def _has(candidate: object, name: str) -> bool:
    return callable(getattr(candidate, name, None))


__all__ = ["CrossEncoderReranker", "LlamaIndexReranker", "PairReranker", "resolve_reranker"]
