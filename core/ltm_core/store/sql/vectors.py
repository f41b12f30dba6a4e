"""Vectors as they lie on disk: unit length, little-endian float16."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ltm_core.errors import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

STORED = np.dtype("<f2")


def encode(vector: NDArray[np.float32], dimension: int) -> bytes:
    """The bytes to store; InvalidInputError for another dimension or a value that is not finite."""
    v = np.asarray(vector, dtype=np.float32)
    if v.shape != (dimension,):
        raise InvalidInputError(f"a vector has shape {v.shape}, the store's embedder has dimension {dimension}")
    # Scaled by the largest value first: squares of large ones overflow, of small ones vanish.
    peak = float(np.max(np.abs(v), initial=0.0))
    if not math.isfinite(peak):
        raise InvalidInputError(f"a vector of dimension {dimension} holds NaN or infinity")
    if peak > 0:
        v = v / np.float32(peak)
        v = v / np.sqrt(np.dot(v, v))
    return v.astype(STORED).tobytes()


def decode(stored: bytes) -> NDArray[np.float32]:
    """The vector as it is used: float32."""
    return np.frombuffer(stored, dtype=STORED).astype(np.float32)
