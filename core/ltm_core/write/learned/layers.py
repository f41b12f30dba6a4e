"""What the nets that read word by word are made of: pieces of a text with their vectors, linear layers, convolutions
that give each piece its neighbours. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ltm_core.write.learned.gate import unpack

Array = NDArray[np.float32]
REACH = 3
"""Pieces that a convolution sees at once."""
CONVOLUTIONS = ("near", "far")
"""Names of the convolutions, in their order; the names are part of the weights' format."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text as the embedder reads it: numbers of its pieces, and a vector for each, of shape ``(n, 512)``."""

    ids: NDArray[np.int64]
    vectors: Array

    def first(self, most: int) -> Pieces:
        """The beginning of it."""
        return self if len(self.ids) <= most else Pieces(self.ids[:most], self.vectors[:most])


Cut: TypeAlias = Callable[[str], Pieces]
"""What cuts a text into the pieces that the nets read."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A linear layer: ``(out, in)`` weights and ``(out,)`` biases."""

    weight: Array
    bias: Array

    def __call__(self, x: Array) -> Array:
        out: Array = x @ self.weight.T + self.bias
        return out


Layers: TypeAlias = Mapping[str, Layer]


def make_layers(data: Mapping[str, Any], names: Iterable[str]) -> Layers:
    """The layers of the stored form of their weights."""
    bias = {name: np.array(data[name]["bias"], dtype=np.float32) for name in names}
    return {name: Layer(unpack(data[name]["weight"]).reshape(len(b), -1), b) for name, b in bias.items()}


def with_neighbours(x: Array, layers: Layers) -> Array:
    """The pieces, each with what the convolutions see around it."""
    for name in CONVOLUTIONS:
        edge = np.zeros((1, x.shape[1]), np.float32)
        row = np.concatenate([edge, x, edge])
        window = np.concatenate([row[k : k + len(x)] for k in range(REACH)], axis=1)
        x = x + np.maximum(0, layers[name](window))
    return x


def total(x: Array) -> Array:
    """All pieces together, so that long texts weigh no more than short ones."""
    out: Array = x.sum(axis=0) / np.float32(np.sqrt(len(x)))
    return out


def softmax(z: Array) -> Array:
    """Shares along the last axis."""
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    out: Array = e / e.sum(axis=-1, keepdims=True)
    return out
