"""Learned from examples: whose life does a text tell, read word by word? Weights: ``whose.json`` of the lexicon, made
by ``scripts/train_whose.py``.

"Glenn lost two fingers to a bandsaw" and "Granddad lost two fingers to a bandsaw" differ in one word, which a vector
of the whole hardly shows. The net reads the pieces of the text with the vectors of the default embedder's table; two
short convolutions give each piece its neighbours, a few weighings choose the pieces that say of whom it is. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from ltm_core.write.learned.layers import (
    CONVOLUTIONS,
    Array,
    Layers,
    Pieces,
    make_layers,
    softmax,
    total,
    with_neighbours,
)

MOST_PIECES = 64
"""Pieces of a text that are read: two or three sentences."""
FAR = 20.0
"""Pieces from the beginning after which it makes less and less difference where one stands."""
LAYERS = {
    "piece": ("vector", "width"), **dict.fromkeys(CONVOLUTIONS, ("window", "width")),
    "weighs": ("width", "weighings"), "hidden": ("everything", "inner"), "out": ("inner", "classes"),
}  # fmt: skip
"""The layers by name, with what goes in and what comes out; the names are part of the weights' format."""
OWN, OTHERS, QUOTED = range(3)
"""The classes: the user's own life, another's, words that are only quoted."""


@dataclass(frozen=True, slots=True)
class Whose:
    """Nets whose probabilities are averaged, with their weights; ``version`` names the training run."""

    nets: tuple[Layers, ...]
    version: str

    def probabilities(self, text: Pieces) -> Array:
        """Of the classes, in their order; the first `MOST_PIECES` pieces are read."""
        vectors = text.vectors[:MOST_PIECES]
        out: Array = np.mean([self._read(vectors, layer) for layer in self.nets], axis=0)
        return out

    @staticmethod
    def _read(vectors: Array, layer: Layers) -> Array:
        x = with_neighbours(np.tanh(layer["piece"](np.hstack([vectors, places(len(vectors))]))), layer)
        weights = softmax(layer["weighs"](x).T)
        parts = [total(x), x.max(axis=0), (weights @ x).reshape(-1)]
        return softmax(layer["out"](np.maximum(0, layer["hidden"](np.concatenate(parts)))))


def places(n: int) -> Array:
    """Where each of ``n`` pieces stands, shape ``(n, 2)``: near the beginning, and how far from it."""
    at = np.arange(n, dtype=np.float32)
    return np.stack([1 / (1 + at), np.minimum(at / FAR, 2)], axis=1)


def make_whose(data: Mapping[str, Any]) -> Whose:
    """The nets of the stored form of their weights."""
    return Whose(tuple(make_layers(net, LAYERS) for net in data["nets"]), data["version"])


@cache
def load_whose() -> Whose:
    """The bundled weights."""
    root = files("ltm_core.lexicon").joinpath("write")
    return make_whose(json.loads(root.joinpath("whose.json").read_text(encoding="utf-8")))


__all__ = ["MOST_PIECES", "OTHERS", "OWN", "QUOTED", "Whose", "load_whose", "make_whose"]
