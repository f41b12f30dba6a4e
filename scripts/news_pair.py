"""Training of the net that compares a sentence with a fact (`ltm_core.write.pairing`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from learning import Adam
from news_data import Embedded, Pair
from numpy.typing import NDArray

from ltm_core.write.gate import pack
from ltm_core.write.news import SEEN, Held, News, Sentence

WIDTH = 48
"""Numbers of each projection, and inside the net."""
EPOCHS = 18
OTHERS = 3
"""Facts of other topics beside which each sentence is learned: it ends none of them."""
SCALE = 8.0
Array = NDArray[Any]


@dataclass(slots=True)
class Examples:
    """Sentences, facts, what they have in common, and whether the one ends the other."""

    sentences: Array
    facts: Array
    seen: Array
    y: Array
    folds: Array


def examples(pairs: Sequence[Pair], embed: Embedded, models: Sequence[News], *, seed: int) -> Examples:
    """Every pair, and each sentence beside facts of other topics; compared by models that have not seen the pair."""
    rng = np.random.default_rng(seed)
    told = [p for p in pairs if p.told]
    said = embed([p.told[0].text for p in told])
    known = embed([p.held[0].text for p in told])
    seen, left, right, y, folds = [], [], [], [], []
    for i, p in enumerate(told):
        same = [j for j, q in enumerate(told) if q.language == p.language and q.topic != p.topic]
        sentence = Sentence(p.told[0].text, "", "", np.zeros(0, np.float32), said[i])
        for j in (i, *rng.choice(same, OTHERS, replace=False)):
            h = told[j].held[0]
            fact = Held(h.text, h.object, h.relation, known[j])
            seen.append(models[p.fold].in_common(sentence, fact))
            left.append(said[i]), right.append(known[j])
            y.append(float(j == i and p.label != "N")), folds.append(p.fold)
    return Examples(
        np.array(left, np.float32),
        np.array(right, np.float32),
        np.array(seen, np.float32),
        np.array(y),
        np.array(folds),
    )


def fit_pairing(of: Examples, which: Array, *, seed: int, batch: int = 128) -> dict[str, Any]:
    """The weights as they are shipped. A fifth of each vector, three in ten inner numbers are left out by chance."""
    rng = np.random.default_rng(seed)
    dim, count = of.sentences.shape[1], len(SEEN)
    wide = 3 * WIDTH + count

    def start(rows: int, columns: int) -> Array:
        limit = 1 / np.sqrt(columns)
        return rng.uniform(-limit, limit, (rows, columns)).astype(np.float32)

    s, f, h = start(WIDTH, dim), start(WIDTH, dim), start(WIDTH, wide)
    sb, fb, hb = (np.zeros(WIDTH, np.float32) for _ in range(3))
    out, direct, bias = start(1, WIDTH)[0], np.zeros(wide, np.float32), np.zeros(1, np.float32)
    parts = (s, sb, f, fb, h, hb, out, direct, bias)
    down = [Adam(0.002, 0.02) for _ in parts]
    for _ in range(EPOCHS):
        order = rng.permutation(which)
        for at in range(0, len(order), batch):
            b = order[at : at + batch]
            m, k = (v[b] * SCALE * (rng.random((len(b), dim), dtype=np.float32) < 0.8) / np.float32(0.8)
                    for v in (of.sentences, of.facts))  # fmt: skip
            p, q = np.tanh(m @ s.T + sb), np.tanh(k @ f.T + fb)
            x = np.hstack([p, q, p * q, of.seen[b]])
            inner = np.maximum(0, x @ h.T + hb)
            kept = (rng.random(inner.shape, dtype=np.float32) < 0.7) / np.float32(0.7)
            z = (inner * kept) @ out + x @ direct + bias[0]
            e = ((1 / (1 + np.exp(-np.clip(z, -30, 30))) - of.y[b]) / len(b)).astype(np.float32)
            back = np.outer(e, out) * kept * (inner > 0)
            dx = back @ h + np.outer(e, direct)
            dp = (dx[:, :WIDTH] + dx[:, 2 * WIDTH : 3 * WIDTH] * q) * (1 - p * p)
            dq = (dx[:, WIDTH : 2 * WIDTH] + dx[:, 2 * WIDTH : 3 * WIDTH] * p) * (1 - q * q)
            steps = (
                dp.T @ m, dp.sum(0), dq.T @ k, dq.sum(0), back.T @ x, back.sum(0), (inner * kept).T @ e, x.T @ e,
                e.sum(keepdims=True),
            )  # fmt: skip
            for w, g, go in zip(parts, steps, down, strict=True):
                go(w, g)
    return {
        "sentence": pack((s * SCALE).reshape(-1)), "sentence_bias": _short(sb), "fact": pack((f * SCALE).reshape(-1)),
        "fact_bias": _short(fb), "hidden": pack(h.reshape(-1)), "hidden_bias": _short(hb), "out": _short(out),
        "direct": _short(direct), "bias": round(float(bias[0]), 4),
    }  # fmt: skip


def untrained() -> dict[str, Any]:
    """Weights that say nothing, before there are any."""
    none = {"scale": 1.0, "int8": ""}
    zeros = {key: [0.0] for key in ("sentence_bias", "fact_bias", "hidden_bias", "out", "direct")}
    return {"sentence": none, "fact": none, "hidden": none, "bias": 0.0, **zeros}


def _short(weights: Array) -> list[float]:
    return [round(float(w), 4) for w in weights]
