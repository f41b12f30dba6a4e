"""Remember the vectors of recent queries without remembering the queries."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ltm_core.embed.base import Embedder
from ltm_core.forklock import ForkSafeLock
from ltm_core.spans import stage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SIZE = 256  # a query is asked again within its own turn, by another tier or adapter: few are enough


class CachedEmbedder:
    """Another embedder whose last ``size`` query vectors are kept; documents pass through.

    No text is kept: the key is a hash under a random key of this object, so the cache tells nothing
    about a text to someone who does not have it already. The vectors are derived from texts; call
    ``clear`` when texts are erased. Least recently used go first. Failures are not kept. Thread-safe.
    """

    def __init__(self, inner: Embedder, *, size: int = _SIZE) -> None:
        self.inner = inner
        self.size = size
        self._key = secrets.token_bytes(32)
        self._lock = ForkSafeLock()
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self.seconds = 0.0
        """Time spent in the inner embedder so far, for metrics; calls that overlap count each."""

    def __repr__(self) -> str:
        return f"CachedEmbedder({self.inner!r}, size={self.size})"

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def dimension(self) -> int:
        return self.inner.dimension

    @property
    def max_tokens(self) -> int:
        return self.inner.max_tokens

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        started = time.perf_counter()
        try:
            with stage("embed", texts=len(texts)):
                return self.inner.embed_documents(texts)
        finally:
            self.seconds += time.perf_counter() - started

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """As the inner embedder's; the array is the caller's own."""
        # surrogatepass: every str has a key of its own, also one that cannot be written as UTF-8.
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=20).digest()
        with self._lock:
            known = self._vectors.get(key)
            if known is not None:
                self._vectors.move_to_end(key)
                return known.copy()
        started = time.perf_counter()
        with stage("embed", texts=1):
            vector = self.inner.embed_query(text)
        self.seconds += time.perf_counter() - started
        with self._lock:
            self._vectors[key] = vector.copy()
            self._vectors.move_to_end(key)
            while len(self._vectors) > self.size:
                self._vectors.popitem(last=False)
        return vector

    def clear(self) -> None:
        """Forget all vectors."""
        with self._lock:
            self._vectors.clear()
