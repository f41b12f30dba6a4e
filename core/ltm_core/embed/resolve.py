"""From what the user gave to an embedder."""

from __future__ import annotations

from typing import Any, cast

from ltm_core.embed.base import Embedder, checked, is_embedder
from ltm_core.errors import ConfigError

OPTIONS = (
    'None or "use" (built in, Chinese and English), "none" (keywords only), '
    '"sentence-transformers:<model or folder>", "openai:<base url>#<model>[?dimensions=<n>]", '
    "a LangChain Embeddings object, a LlamaIndex BaseEmbedding object, or an object with "
    "name, dimension, max_tokens, embed_documents and embed_query"
)


def resolve_embedder(spec: str | Embedder | object | None = None) -> Embedder:
    """The embedder that ``spec`` stands for, guarded by ``checked``. Loads no model and calls no server.

    Raises ConfigError, which lists what is possible, for anything else.
    """
    if spec is None:
        return _built_in()
    if isinstance(spec, str):
        return _named(spec.strip())
    if isinstance(spec, type):
        raise ConfigError(f"embedder must be an object, not the class {spec.__name__}; possible are: {OPTIONS}")
    if is_embedder(spec):
        return checked(cast(Embedder, spec))
    from ltm_core.embed.bridges import bridge

    bridged = bridge(spec)
    if bridged is None:
        raise ConfigError(f"cannot use {type(spec).__name__} as embedder; possible are: {OPTIONS}")
    return checked(bridged)


def _built_in() -> Embedder:
    from ltm_core.embed.use import UniversalSentenceEncoder

    return checked(UniversalSentenceEncoder())


def _named(spec: str) -> Embedder:
    kind, colon, rest = spec.partition(":")
    kind = kind.lower()
    if not colon and kind in ("default", "use"):
        return _built_in()
    if not colon and kind == "none":
        from ltm_core.embed.none import NoEmbedder

        return checked(NoEmbedder())
    made: Any = None
    if rest and kind == "sentence-transformers":
        from ltm_core.embed.sentence_transformer import SentenceTransformerEmbedder

        made = SentenceTransformerEmbedder(rest)
    elif rest and kind == "openai":
        from ltm_core.embed.openai_compatible import OpenAICompatibleEmbedder

        made = OpenAICompatibleEmbedder.from_spec(rest)
    if made is None:
        # The spec is not repeated: someone may have put a key into it.
        raise ConfigError(f"unknown embedder; possible are: {OPTIONS}")
    return checked(made)
