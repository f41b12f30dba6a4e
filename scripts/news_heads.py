"""The models of single sentences: does it tell of a change, does it tell the new value, what is it about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from learning import Grams, calibrated, fit, logit, predict, sigmoid
from news_data import Embedded
from numpy.typing import NDArray

from ltm_core.lexicon import default_lexicon
from ltm_core.write.gate import BUCKETS, pack
from ltm_core.write.news import Sentence, features
from ltm_core.write.overtaken import Unit, mean_vector

STEPS = 150
"""Of descent: more of them no longer change the figures."""


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
    vector: NDArray[Any]

    @classmethod
    def of(cls, y: NDArray[Any], grams: Grams, cues: NDArray[Any], vectors: NDArray[Any]) -> Trained:
        a = fit(cues, y, l2=0.3, grams=grams, steps=STEPS)
        b = fit(np.hstack([vectors * 4, cues]), y, l2=3.0, steps=STEPS)
        b[: vectors.shape[1]] *= 4
        return cls(a, b)

    def logits(self, grams: Grams, cues: NDArray[Any], vectors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        p = predict(self.grams, cues, grams)
        q = predict(self.vector, np.hstack([vectors, cues]))
        return logit(p), logit(q)

    def data(self, dim: int, calibration: dict[str, tuple[float, float]]) -> dict[str, Any]:
        return {
            "grams": pack(self.grams[:BUCKETS]),
            "gram_cues": [round(float(x), 4) for x in self.grams[BUCKETS:-1]],
            "gram_bias": round(float(self.grams[-1]), 4),
            "vector": pack(self.vector[:dim]),
            "vector_cues": [round(float(x), 4) for x in self.vector[dim:-1]],
            "vector_bias": round(float(self.vector[-1]), 4),
            "calibration": calibration,
        }


def cross(
    title: str, chosen: Sequence[Unit], y: NDArray[Any], folds: NDArray[Any], embed: Embedded
) -> tuple[Trained, dict[str, tuple[float, float]], NDArray[Any]]:
    """The head trained on all rows, its calibration, and its calibrated log-odds for rows it has not seen."""
    grams, cues, vectors, _ = inputs(chosen, embed)
    za, zb = np.zeros(len(y)), np.zeros(len(y))
    for k in np.unique(folds):
        inside, outside = np.where(folds != k)[0], np.where(folds == k)[0]
        t = Trained.of(y[inside], grams.take(inside), cues[inside], vectors[inside])
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
    return Trained.of(y, grams, cues, vectors), calibration, z


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
