"""Learned from examples: whether a sentence ends a fact, when everything that speaks for and against it is weighed
together. Nets over the numbers of `ltm_core.write.endings.traits`, one set for each language. Weights:
``weighing.json`` of the lexicon, made by ``scripts/train_weighing.py``. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ltm_core.write.learned.gate import unpack

Array = NDArray[np.float32]
MOST = 4.0
"""Deviations from the mean beyond which it makes no difference."""


@dataclass(frozen=True, slots=True)
class Net:
    """One layer of inner numbers beside a direct path, over numbers of mean 0 and deviation 1."""

    mean: Array
    scale: Array
    hidden: Array
    hidden_bias: Array
    out: Array
    direct: Array
    bias: float

    def log_odds(self, rows: Array) -> Array:
        """Of each row, shape ``(n,)``."""
        x = np.clip((rows - self.mean) * self.scale, -MOST, MOST)
        inside = np.maximum(0, x @ self.hidden.T + self.hidden_bias)
        out: Array = inside @ self.out + x @ self.direct + np.float32(self.bias)
        return out


@dataclass(frozen=True, slots=True)
class Weighing:
    """The nets of each language; ``version`` names the training run."""

    nets: Mapping[str, tuple[Net, ...]]
    traits: tuple[str, ...]
    thresholds: Mapping[str, float]
    version: str

    def probabilities(self, rows: Array, language: str) -> Array:
        """That the sentence ends the fact, of each row, shape ``(n,)``; the mean of the nets' log-odds counts."""
        z = np.mean([net.log_odds(rows) for net in self.nets[language]], axis=0)
        out: Array = 1 / (1 + np.exp(-z))
        return out


def make_weighing(data: Mapping[str, Any]) -> Weighing:
    """The nets of the stored form of their weights."""
    return Weighing(
        nets={language: tuple(_net(n) for n in nets) for language, nets in data["nets"].items()},
        traits=tuple(data["traits"]),
        thresholds={str(k): float(v) for k, v in data["thresholds"].items()},
        version=str(data["version"]),
    )


def _net(data: Mapping[str, Any]) -> Net:
    inside = np.array(data["hidden_bias"], dtype=np.float32)
    return Net(
        mean=np.array(data["mean"], dtype=np.float32),
        scale=np.array(data["scale"], dtype=np.float32),
        hidden=unpack(data["hidden"]).reshape(len(inside), -1),
        hidden_bias=inside,
        out=np.array(data["out"], dtype=np.float32),
        direct=np.array(data["direct"], dtype=np.float32),
        bias=float(data["bias"]),
    )


@cache
def load_weighing() -> Weighing:
    """The bundled weights."""
    root = files("ltm_core.lexicon").joinpath("write")
    return make_weighing(json.loads(root.joinpath("weighing.json").read_text(encoding="utf-8")))


__all__ = ["Net", "Weighing", "load_weighing", "make_weighing"]
