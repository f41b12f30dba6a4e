"""Embedders for benchmarks, with vectors kept on disk between runs."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ltm_core.embed import Embedder


class Kept:
    """An embedder whose vectors are computed once and kept in ``folder``."""

    def __init__(self, inner: Embedder, folder: Path | None) -> None:
        self.inner = inner
        self.name = inner.name
        self.dimension = inner.dimension
        self.max_tokens = inner.max_tokens
        key = blake2b(inner.name.encode(), digest_size=8).hexdigest()
        self._path = folder / f"{key}.npz" if folder else None
        self._known: dict[str, NDArray[np.float32]] = {}
        self._grown = False
        if self._path is not None and self._path.exists():
            with np.load(self._path) as stored:
                self._known = dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.asarray(self.inner.embed_query(text), dtype=np.float32)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        keys = [blake2b(t.encode("utf-8", "replace"), digest_size=16).hexdigest() for t in texts]
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in self._known}
        if missing:
            vectors = np.asarray(self.inner.embed_documents(list(missing.values())), dtype=np.float32)
            self._known.update(zip(missing, vectors, strict=True))
            self._grown = True
        return np.stack([self._known[k] for k in keys])

    def save(self) -> None:
        if self._path is not None and self._grown:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._path, keys=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
            self._grown = False


def encoder(name: str, folder: Path | None) -> Kept | None:
    """The embedder of a specification such as ``default``; None for ``none``."""
    if name == "none":
        return None
    from ltm_core.embed import resolve_embedder

    return Kept(resolve_embedder(None if name == "default" else name), folder)
