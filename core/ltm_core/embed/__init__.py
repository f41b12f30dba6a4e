"""Texts to vectors: the seam, its guard, and how a specification becomes an embedder."""

from __future__ import annotations

from ltm_core.embed.base import Embedder, checked, identity, is_embedder
from ltm_core.embed.bridges import from_langchain, from_llamaindex
from ltm_core.embed.cache import CachedEmbedder
from ltm_core.embed.resolve import resolve_embedder

__all__ = [
    "CachedEmbedder",
    "Embedder",
    "checked",
    "from_langchain",
    "from_llamaindex",
    "identity",
    "is_embedder",
    "resolve_embedder",
]
