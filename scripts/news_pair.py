"""Training of the net that compares a sentence with a fact (`ltm_core.write.learned.pairing`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from learning import Adam, short
from news_data import Embedded, Pair
from numpy.typing import NDArray

from ltm_core.write.known.news import PAIRED, News, Sentence, with_turn
from ltm_core.write.learned.gate import pack

WIDTH = 48
"""Numbers of each projection, and inside the net."""
EPOCHS = 10
NETS = 3
"""Nets whose log-odds are averaged."""
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
    weights: Array
    said: list[str]
    told: list[str]


def examples(
    pairs: Sequence[Pair],
    embed: Embedded,
    models: Sequence[News],
    turn: Mapping[int, tuple[float, str]],
    *,
    seed: int,
) -> Examples:
    """Every pair, and each sentence beside facts of other topics; compared by models that have not seen the pair.
    ``turn``: per pair its likeliest sentence, and the log-odds that it tells of a change."""
    rng = np.random.default_rng(seed)
    told, news = [pairs[i] for i in turn], list(turn.values())
    said = embed([text for _, text in news])
    known = embed([p.held[0].text for p in told])
    languages, topics = (np.array([getattr(p, name) for p in told]) for name in ("language", "topic"))
    seen, left, right, y, folds, weights = [], [], [], [], [], []
    texts: list[tuple[str, str]] = []
    for i, p in enumerate(told):
        same = np.where((languages == p.language) & (topics != p.topic))[0]
        likely, text = news[i]
        sentence = Sentence(text, "", "", np.zeros(0, np.float32), said[i], likely)
        beside = (i, *rng.choice(same, OTHERS, replace=False))
        facts = [replace(told[j].held[0], vector=known[j]) for j in beside]
        common = models[p.fold].in_common(sentence, facts)
        seen += list(with_turn(common, likely))
        for j in beside:
            left.append(said[i]), right.append(known[j]), texts.append((text, told[j].held[0].text))
            y.append(float(j == i and p.label != "N")), folds.append(p.fold)
            weights.append(p.weight if j == i else 1.0)
    return Examples(
        np.array(left, np.float32),
        np.array(right, np.float32),
        np.array(seen, np.float32),
        np.array(y),
        np.array(folds),
        np.array(weights),
        [said for said, _ in texts],
        [told for _, told in texts],
    )


def fit_pairings(of: Examples, which: Array) -> list[dict[str, Any]]:
    """The weights of all nets as they are shipped."""
    return [fit_pairing(of, which, seed=k) for k in range(NETS)]


def fit_pairing(of: Examples, which: Array, *, seed: int, batch: int = 128) -> dict[str, Any]:
    """The weights as they are shipped. A fifth of each vector, three in ten inner numbers are left out by chance."""
    rng = np.random.default_rng(seed)
    dim, count = of.sentences.shape[1], len(PAIRED)
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
            e = ((1 / (1 + np.exp(-np.clip(z, -30, 30))) - of.y[b]) * of.weights[b] / len(b)).astype(np.float32)
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
        "sentence": pack((s * SCALE).reshape(-1)), "sentence_bias": short(sb), "fact": pack((f * SCALE).reshape(-1)),
        "fact_bias": short(fb), "hidden": pack(h.reshape(-1)), "hidden_bias": short(hb), "out": short(out),
        "direct": short(direct), "bias": round(float(bias[0]), 4),
    }  # fmt: skip
