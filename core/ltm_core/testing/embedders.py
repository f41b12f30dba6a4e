"""Embedders for tests: a fast deterministic one, a failing one, a slow one."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ltm_core.errors import UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.embed.base import Embedder


class HashEmbedder:
    """Bags of character bigrams and trigrams, hashed: texts that share wording are near, no model.

    Deterministic across processes and machines. Rows have length 1; a blank text gives zeros. It knows
    nothing about meaning.
    """

    max_tokens = 512

    def __init__(self, dimension: int = 64, *, name: str = "hash/1") -> None:
        self.dimension = dimension
        self.name = name

    def __repr__(self) -> str:
        return f"HashEmbedder(dimension={self.dimension})"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            padded = f" {' '.join(text.lower().split())} "
            if not padded.strip():
                continue
            for size in (2, 3):
                for start in range(len(padded) - size + 1):
                    gram = padded[start : start + size].encode("utf-8", "replace")
                    number = int.from_bytes(hashlib.blake2b(gram, digest_size=8).digest(), "big")
                    row[number % self.dimension] += 1.0 if number >> 63 else -1.0
            length = float(np.linalg.norm(row))
            if length:
                row /= length
        return rows

    def embed_query(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.embed_documents([text])[0]
        return row


class FailingEmbedder(HashEmbedder):
    """Raises for the first ``failures`` calls (None = always), then works like HashEmbedder.

    ``calls`` counts all calls; ``error`` makes the exception to raise.
    """

    def __init__(
        self,
        failures: int | None = None,
        *,
        dimension: int = 64,
        error: Callable[[], Exception] = lambda: UnavailableError("scripted failure"),
    ) -> None:
        super().__init__(dimension)
        self.failures = failures
        self.error = error
        self.calls = 0

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        if self.failures is None or self.calls <= self.failures:
            raise self.error()
        return super().embed_documents(texts)


class SlowEmbedder:
    """Another embedder, each call of which takes ``seconds`` longer."""

    def __init__(self, seconds: float, inner: Embedder | None = None) -> None:
        self.seconds = seconds
        self.inner: Embedder = HashEmbedder() if inner is None else inner
        self.name = self.inner.name
        self.max_tokens = self.inner.max_tokens

    @property
    def dimension(self) -> int:
        return self.inner.dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        time.sleep(self.seconds)
        return self.inner.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        time.sleep(self.seconds)
        return self.inner.embed_query(text)
