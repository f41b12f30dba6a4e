"""Vectors as they lie on disk: unit length, little-endian float16."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltm_core.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

STORED = np.dtype("<f2")


def encode(vector: NDArray[np.float32], dimension: int) -> bytes:
    """The bytes to store; InvalidInputError for another dimension or a value that is not finite."""
    v = np.asarray(vector, dtype=np.float32)
    if v.shape != (dimension,):
        raise InvalidInputError(f"a vector has shape {v.shape}, the store's embedder has dimension {dimension}")
    norm = float(np.sqrt(np.dot(v, v)))
    if not np.isfinite(norm):
        # Large finite values overflow the product too; scaling first tells them from real infinities.
        peak = float(np.max(np.abs(v)))
        if not np.isfinite(peak):
            raise InvalidInputError(f"a vector of dimension {dimension} holds NaN or infinity")
        v = v / peak
        norm = float(np.sqrt(np.dot(v, v)))
    if norm > 0:
        v = v / norm
    return v.astype(STORED).tobytes()


def decode(blobs: Sequence[bytes], dimension: int) -> NDArray[np.float32]:
    """A matrix with one row per blob."""
    flat = np.frombuffer(b"".join(blobs), dtype=STORED)
    return flat.astype(np.float32).reshape(len(blobs), dimension)
