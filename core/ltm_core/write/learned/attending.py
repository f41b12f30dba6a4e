"""Learned from examples: does this sentence end that fact, word by word? A net in which the pieces of each text look
for those of the other that they speak of, and weigh what they find. Part of ``news.json``.

Both texts are read as pieces with vectors of the default embedder's table; two short convolutions give each piece its
neighbours. After A. Parikh et al., "A Decomposable Attention Model for Natural Language Inference" (2016), with the
vectors of both whole texts and what they have in common (`ltm_core.write.known.news.PAIRED`) beside it. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from ltm_core.write.learned.pairing import MOST

MOST_PIECES = 40
"""Pieces of a text that are read; what is said in one sentence seldom has more."""
SAME = 2.0
"""Added to what a piece finds in the other text where both are the same piece."""
LAYERS = {
    "sentence": ("vector", "width"), "fact": ("vector", "width"), "asks": ("width", "width"),
    "answers": ("width", "width"), "found": ("compared", "width"), "met": ("compared", "width"),
    "whole_sentence": ("vector", "whole"), "whole_fact": ("vector", "whole"), "hidden": ("everything", "inner"),
    "out": ("inner", "one"), **dict.fromkeys(CONVOLUTIONS, ("window", "width")),
}  # fmt: skip
"""The layers by name, with what goes in and what comes out; the names are part of the weights' format."""


@dataclass(frozen=True, slots=True)
class Attending:
    """The net with its weights."""

    layers: Layers
    scale: float
    """By which the vectors of pieces are multiplied before they are read."""
    whole_scale: float
    """The same for the vectors of whole texts."""

    def log_odds(
        self, sentence: Pieces, fact: Pieces, said: NDArray[Any], held: NDArray[Any], seen: NDArray[Any]
    ) -> float:
        """Log-odds, within `MOST`, that the sentence ends the fact. ``said`` and ``held``: the vectors of the whole
        texts, of length 1; ``seen``: what they have in common."""
        layer = self.layers
        one, two = sentence.first(MOST_PIECES), fact.first(MOST_PIECES)
        p, q = self._read(one, "sentence"), self._read(two, "fact")
        same = (one.ids[:, None] == two.ids[None, :]).astype(np.float32)
        width = np.float32(np.sqrt(p.shape[1]))
        weights = layer["asks"](p) @ layer["answers"](q).T / width + np.float32(SAME) * same
        found = _compared(p, softmax(weights) @ q, same.max(axis=1))
        met = _compared(q, softmax(weights.T) @ p, same.max(axis=0))
        u = np.maximum(0, layer["found"](found))
        v = np.maximum(0, layer["met"](met))
        a = np.tanh(layer["whole_sentence"](np.asarray(said, np.float32) * np.float32(self.whole_scale)))
        b = np.tanh(layer["whole_fact"](np.asarray(held, np.float32) * np.float32(self.whole_scale)))
        parts = [total(u), u.max(axis=0), total(v), v.max(axis=0), a, b, a * b, np.asarray(seen, np.float32)]
        inner = np.maximum(0, layer["hidden"](np.concatenate(parts)))
        return float(np.clip(layer["out"](inner)[0], -MOST, MOST))

    def _read(self, text: Pieces, by: str) -> Array:
        """The pieces, each with its neighbours."""
        x = np.tanh(self.layers[by](text.vectors * np.float32(self.scale)))
        return with_neighbours(x, self.layers)


def _compared(own: Array, found: Array, same: Array) -> Array:
    """Each piece beside what it found in the other text."""
    return np.concatenate([own, found, own * found, np.abs(own - found), same[:, None]], axis=1)


def make_attending(data: Mapping[str, Any]) -> Attending:
    """The net of the stored form of its weights."""
    return Attending(make_layers(data["layers"], LAYERS), float(data["scale"]), float(data["whole_scale"]))
