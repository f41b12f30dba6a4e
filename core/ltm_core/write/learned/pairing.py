"""Learned from examples: does this sentence end that fact? A net over both vectors, each seen through a projection of
its own, and what the two have in common (`ltm_core.write.known.news.PAIRED`). Part of ``news.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ltm_core.write.learned.gate import unpack

Array = NDArray[np.float32]
MOST = 6.0
"""Log-odds beyond which it makes no difference."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The net with its weights."""

    sentence: Array
    sentence_bias: Array
    fact: Array
    fact_bias: Array
    hidden: Array
    hidden_bias: Array
    out: Array
    direct: Array
    bias: float

    def logits(self, sentence: NDArray[Any], facts: NDArray[Any], seen: NDArray[Any]) -> Array:
        """Log-odds, within `MOST`, that the sentence ends each fact; ``seen`` is what they have in common."""
        p = np.tanh(self.sentence @ np.asarray(sentence, dtype=np.float32) + self.sentence_bias)
        q = np.tanh(np.asarray(facts, dtype=np.float32) @ self.fact.T + self.fact_bias)
        x = np.hstack([np.broadcast_to(p, q.shape), q, p * q, seen.astype(np.float32)])
        inside = np.maximum(0, x @ self.hidden.T + self.hidden_bias)
        out: Array = np.clip(inside @ self.out + x @ self.direct + np.float32(self.bias), -MOST, MOST)
        return out


def make_pairing(data: Mapping[str, Any]) -> Pairing:
    """The net of the stored form of its weights."""
    own, known = (np.array(data[f"{name}_bias"], dtype=np.float32) for name in ("sentence", "fact"))
    inside = np.array(data["hidden_bias"], dtype=np.float32)
    return Pairing(
        sentence=unpack(data["sentence"]).reshape(len(own), -1),
        sentence_bias=own,
        fact=unpack(data["fact"]).reshape(len(known), -1),
        fact_bias=known,
        hidden=unpack(data["hidden"]).reshape(len(inside), -1),
        hidden_bias=inside,
        out=np.array(data["out"], dtype=np.float32),
        direct=np.array(data["direct"], dtype=np.float32),
        bias=float(data["bias"]),
    )
