"""What the training scripts share: sparse n-grams, logistic models, a small net, and their calibration; in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    out: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(x, -30, 30)))
    return out


def logit(p: Array) -> Array:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    out: Array = np.log(p / (1 - p))
    return out


@dataclass(frozen=True, slots=True)
class Grams:
    """The hashed n-grams of texts as a sparse matrix: the buckets of every row, one after the other."""

    buckets: Array
    starts: Array
    """Where each row begins in ``buckets``; one more at the end."""
    size: int
    """How many buckets there are."""

    @classmethod
    def of(cls, rows: list[tuple[int, ...]], size: int) -> Grams:
        sizes = [0, *(len(r) for r in rows)]
        return cls(np.array([b for r in rows for b in r], dtype=np.int64), np.cumsum(sizes), size)

    def take(self, which: Array) -> Grams:
        return Grams.of([tuple(self.buckets[self.starts[i] : self.starts[i + 1]]) for i in which], self.size)

    @property
    def _scale(self) -> Array:
        return 1 / np.sqrt(np.maximum(1, np.diff(self.starts)))

    def dot(self, w: Array) -> Array:
        """Every row times the weights."""
        sums = np.concatenate([[0.0], np.cumsum(w[self.buckets])])
        out: Array = (sums[self.starts[1:]] - sums[self.starts[:-1]]) * self._scale
        return out

    def back(self, error: Array) -> Array:
        """The transposed matrix times one number per row."""
        spread = np.repeat(error * self._scale, np.diff(self.starts))
        return np.bincount(self.buckets, weights=spread, minlength=self.size)


@dataclass(slots=True)
class Adam:
    """Steps down a gradient; ``decay`` shrinks the weights beside it."""

    rate: float
    decay: float = 0.0
    first: Array | float = 0.0
    second: Array | float = 0.0
    step: int = 0

    def __call__(self, w: Array, gradient: Array) -> None:
        self.step += 1
        self.first = 0.9 * self.first + 0.1 * gradient
        self.second = 0.999 * self.second + 0.001 * gradient * gradient
        mean, square = self.first / (1 - 0.9**self.step), self.second / (1 - 0.999**self.step)
        w -= self.rate * (mean / (np.sqrt(square) + 1e-8) + self.decay * w)


def fit(
    x: Array,
    y: Array,
    *,
    l2: float,
    grams: Grams | None = None,
    steps: int = 250,
    rate: float = 0.1,
    weight: Array | None = None,
) -> NDArray[np.float64]:
    """Weights (of the n-grams, if there are any, then of ``x``, bias last) of a logistic regression; Adam on the
    full batch, classes balanced unless the rows have weights of their own."""
    x = np.hstack([x, np.ones((len(x), 1))]).astype(np.float32)
    first = grams.size if grams is not None else 0
    w = np.zeros(first + x.shape[1])
    down = Adam(rate)
    if weight is None:
        weight = np.where(y > 0.5, 0.5 / max(y.mean(), 1e-6), 0.5 / max(1 - y.mean(), 1e-6))
    for _ in range(steps):
        z = (x @ w[first:].astype(np.float32)).astype(np.float64)
        if grams is not None:
            z += grams.dot(w[:first])
        error = weight * (sigmoid(z) - y)
        g = (x.T @ error.astype(np.float32)).astype(np.float64)
        g = g if grams is None else np.concatenate([grams.back(error), g])
        g /= len(y)
        g[:-1] += l2 * w[:-1] / len(y)
        down(w, g)
    return w


def predict(a: Array, x: Array, grams: Grams | None = None) -> NDArray[np.float64]:
    """Probabilities by the weights that `fit` found."""
    first = grams.size if grams is not None else 0
    z = x @ a[first:-1] + a[-1]
    return sigmoid(z if grams is None else z + grams.dot(a[:first]))


@dataclass(slots=True)
class Net:
    """One hidden layer beside a direct linear path, one number out."""

    hidden: Array
    hidden_bias: Array
    out: Array
    direct: Array
    bias: Array

    @classmethod
    def mean(cls, nets: Sequence[Net]) -> Net:
        """One net whose number is the mean of those of several."""
        return cls(
            np.concatenate([net.hidden for net in nets]),
            np.concatenate([net.hidden_bias for net in nets]),
            (np.concatenate([net.out for net in nets]) / len(nets)).astype(np.float32),
            np.mean([net.direct for net in nets], axis=0),
            np.mean([net.bias for net in nets], axis=0),
        )

    def score(self, x: Array) -> Array:
        inner = np.maximum(0, x @ self.hidden.T + self.hidden_bias)
        z: Array = inner @ self.out + x @ self.direct + self.bias[0]
        return z


def fit_net(
    x: Array,
    y: Array,
    weight: Array,
    *,
    units: int,
    epochs: int,
    seed: int,
    sometimes: Array,
    decay: float = 0.01,
    batch: int = 128,
) -> Net:
    """A net by Adam in small batches. ``sometimes`` marks the columns that half of the rows are shown without; of
    the others a fifth is left out at random, and of the inner numbers three in ten."""
    rng = np.random.default_rng(seed)
    width = x.shape[1]
    limit = 1 / np.sqrt(width)
    net = Net(
        rng.uniform(-limit, limit, (units, width)).astype(np.float32), np.zeros(units, np.float32),
        rng.uniform(-1, 1, units).astype(np.float32) / np.float32(np.sqrt(units)), np.zeros(width, np.float32),
        np.zeros(1, np.float32),
    )  # fmt: skip
    down = [Adam(0.003, decay) for _ in range(5)]
    parts = (net.hidden, net.hidden_bias, net.out, net.direct, net.bias)
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for at in range(0, len(order), batch):
            b = order[at : at + batch]
            shown = x[b] * (rng.random((len(b), width), dtype=np.float32) < 0.8) / np.float32(0.8)
            alone = rng.random(len(b)) < 0.5
            shown[np.ix_(alone, sometimes)] = 0
            inner = np.maximum(0, shown @ net.hidden.T + net.hidden_bias)
            kept = (rng.random(inner.shape, dtype=np.float32) < 0.7) / np.float32(0.7)
            z = (inner * kept) @ net.out + shown @ net.direct + net.bias[0]
            e = (weight[b] * (1 / (1 + np.exp(-np.clip(z, -30, 30))) - y[b]) / len(b)).astype(np.float32)
            back = np.outer(e, net.out) * kept * (inner > 0)
            steps = (back.T @ shown, back.sum(0), (inner * kept).T @ e, shown.T @ e, e.sum(keepdims=True))
            for w, g, go in zip(parts, steps, down, strict=True):
                go(w, g)
    return net


def calibrated(z: Array, y: Array) -> tuple[float, float]:
    """Slope and shift that make log-odds of unseen rows honest."""
    slope, shift = 1.0, 0.0
    for _ in range(4000):
        e = sigmoid(slope * z + shift) - y
        slope -= 0.05 * float((e * z).mean())
        shift -= 0.05 * float(e.mean())
    return round(slope, 4), round(shift, 4)


def short(weights: Array) -> list[float]:
    """Weights as they are written, four digits behind the point."""
    return [round(float(x), 4) for x in weights]
