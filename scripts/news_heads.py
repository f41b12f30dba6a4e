"""The models of single sentences: does it tell of a change, does it tell the new value, what is it about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from learning import Grams, Net, calibrated, fit, fit_net, logit, predict, short, sigmoid
from news_data import Embedded
from numpy.typing import NDArray

from ltm_core.lexicon import default_lexicon
from ltm_core.write.known.news import Sentence, features
from ltm_core.write.learned.gate import BUCKETS, pack
from ltm_core.write.read.units import Unit, mean_vector

STEPS = 150
"""Of descent: more of them no longer change the figures."""
UNITS = 48
"""Inner numbers of a net."""
NETS = 3
"""Nets whose log-odds are averaged; shipped as one."""
EPOCHS = 8
SHARE = 0.65
"""Weight of the nets in the mean with the n-grams."""
SCALE = 8.0
"""Of unit-length vectors beside cues that are 0 or 1."""


def inputs(rows: Sequence[Unit], embed: Embedded) -> tuple[Grams, NDArray[Any], NDArray[Any], list[Sentence]]:
    function = default_lexicon().gate.function
    embed([s.read.clause.text for u in rows for s in u.spoken])
    seen = []
    for u in rows:
        vector = mean_vector(list(embed([s.read.clause.text for s in u.spoken])))
        seen.append(u.sentence(vector))
    grams = Grams.of([features(s, function) for s in seen], BUCKETS)
    return grams, np.stack([s.cues for s in seen]), np.stack([s.vector for s in seen if s.vector is not None]), seen


@dataclass(slots=True)
class Trained:
    grams: NDArray[Any]
    net: Net

    @classmethod
    def of(
        cls,
        y: NDArray[Any],
        grams: Grams,
        cues: NDArray[Any],
        vectors: NDArray[Any],
        *,
        weight: NDArray[Any] | None = None,
        nets: int = NETS,
    ) -> Trained:
        """The classes count alike. With ``nets`` of 0 the half of the vector is linear, as few examples want it."""
        weight = np.where(y > 0.5, 0.5 / max(y.mean(), 1e-6), 0.5 / max(1 - y.mean(), 1e-6)) * (
            1.0 if weight is None else weight
        )
        a = fit(cues, y, l2=0.15 if nets else 0.3, grams=grams, steps=STEPS, weight=weight)
        if not nets:
            b = fit(np.hstack([vectors * 4, cues]), y, l2=3.0, steps=STEPS)
            b[: vectors.shape[1]] *= 4 / SCALE
            none = np.zeros(0)
            return cls(a, Net(np.zeros((0, len(b) - 1)), none, none, b[:-1], b[-1:]))
        x = np.hstack([vectors * SCALE, cues]).astype(np.float32)
        always = np.zeros(0, dtype=np.int64)
        made = [fit_net(x, y, weight, units=UNITS, epochs=EPOCHS, seed=k + 1, sometimes=always) for k in range(nets)]
        net = Net.mean(made)
        for part in (net.out, net.direct, net.bias):
            part *= 2 * SHARE
        return cls(2 * (1 - SHARE) * a, net)

    def logits(self, grams: Grams, cues: NDArray[Any], vectors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        return logit(predict(self.grams, cues, grams)), self.net.score(np.hstack([vectors * SCALE, cues]))

    def data(self, dim: int, calibration: dict[str, tuple[float, float]]) -> dict[str, Any]:
        net = self.net
        data = {
            "grams": pack(self.grams[:BUCKETS]),
            "gram_cues": short(self.grams[BUCKETS:-1]),
            "gram_bias": round(float(self.grams[-1]), 4),
            "vector": pack(net.direct[:dim] * SCALE),
            "vector_cues": short(net.direct[dim:]),
            "vector_bias": round(float(net.bias[0]), 4),
        }
        if not len(net.out):
            return data | {"calibration": calibration}
        return data | {
            "hidden": pack((net.hidden[:, :dim] * SCALE).reshape(-1)),
            "hidden_cues": pack(net.hidden[:, dim:].reshape(-1)),
            "hidden_bias": short(net.hidden_bias),
            "out": short(net.out),
            "calibration": calibration,
        }


def cross(
    title: str,
    chosen: Sequence[Unit],
    y: NDArray[Any],
    folds: NDArray[Any],
    embed: Embedded,
    weight: NDArray[Any] | None = None,
) -> tuple[Trained, dict[str, tuple[float, float]], NDArray[Any]]:
    """The head trained on all rows, its calibration, and its calibrated log-odds for rows it has not seen."""
    grams, cues, vectors, _ = inputs(chosen, embed)
    weight = np.ones(len(y)) if weight is None else weight
    za, zb = np.zeros(len(y)), np.zeros(len(y))
    for k in np.unique(folds):
        inside, outside = np.where(folds != k)[0], np.where(folds == k)[0]
        t = Trained.of(y[inside], grams.take(inside), cues[inside], vectors[inside], weight=weight[inside])
        za[outside], zb[outside] = t.logits(grams.take(outside), cues[outside], vectors[outside])
    mean = (za + zb) / 2
    calibration = {"mean": calibrated(mean, y), "grams": calibrated(za, y)}
    for name, z in (("mean", mean), ("grams", za)):
        p = sigmoid(calibration[name][0] * z + calibration[name][1])
        for threshold in (0.5, 0.7, 0.9):
            hit = int(((p >= threshold) & (y > 0)).sum())
            print(
                f"{title} {name:<6} at {threshold}: P {hit / max(1, int((p >= threshold).sum())):.3f} "
                f"R {hit / max(1, int(y.sum())):.3f} of {int(y.sum())}/{len(y)}"
            )
    z = calibration["mean"][0] * mean + calibration["mean"][1]
    return Trained.of(y, grams, cues, vectors, weight=weight), calibration, z


def fit_topics(x: NDArray[Any], names: Sequence[str]) -> tuple[list[str], NDArray[Any]]:
    labels = sorted(set(names))
    onehot = np.eye(len(labels))[[labels.index(n) for n in names]]
    x = np.hstack([x * 6, np.ones((len(x), 1))])
    w = np.zeros((x.shape[1], len(labels)))
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 121):
        z = x @ w
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        g = x.T @ (p - onehot) / len(x)
        g[:-1] += 1.0 * w[:-1] / len(x)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w -= 0.05 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    w[:-1] *= 6
    return labels, w
