"""Which known fact a sentence with news means, and whether it ends it: invented memories and the models over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from news_data import Embedded, Pair
from numpy.typing import NDArray

from ltm_core.write.news import MATCH, Held, News, Sentence

POOLS = (1, 3, 10, 30)
"""Sizes of invented memories in which the fact meant is looked for."""


@dataclass(slots=True)
class Pool:
    """What is known in an invented memory against one sentence: comparisons, and which is meant (-1: none)."""

    pair: int
    compared: NDArray[Any]
    meant: int


def pools(
    pairs: Sequence[Pair], embed: Embedded, models: Sequence[News], turn: dict[int, float], *, seed: int
) -> list[Pool]:
    """Invented memories: the fact of a pair, or none, among facts of other topics. What a pair leaves alone means
    none, although its fact is there."""
    rng = np.random.default_rng(seed)
    held = [
        [replace(h, vector=v) for h, v in zip(p.held, embed([h.text for h in p.held]), strict=True)] for p in pairs
    ]
    found = []
    for i, p in enumerate(pairs):
        if not p.told or i not in turn:
            continue
        text = p.told[0].text
        said = Sentence(text, "", "", np.zeros(0, np.float32), embed([text])[0], turn[i])
        named = news_shared(models[p.fold], said, held[i][0])
        others, alike = [], []
        for j, q in enumerate(pairs):
            if q.language == p.language and q.topic != p.topic:
                others.append(j)
            elif q.language == p.language and named and j != i and not news_shared(models[p.fold], said, held[j][0]):
                alike.append(j)  # another thing of the same kind, which the words do not name
        news = models[p.fold]
        for size in POOLS:
            for present in (True, False) if p.label != "N" else (True,):
                some = list(rng.choice(others, size - present, replace=False)) if size - present else []
                if some and alike and present:
                    some[0] = rng.choice(alike)
                chosen = ([held[i][0]] if present else []) + [held[j][0] for j in some]
                compared = np.stack([news.compare(said, h) for h in chosen])
                is_meant = present and p.label != "N"
                found.append(Pool(i, compared, 0 if is_meant else -1))
    return found


def news_shared(news: News, said: Sentence, held: Held) -> bool:
    return news.shares_words(news.compare(said, held))


def fit_match(found: Sequence[Pool], use: Sequence[int]) -> NDArray[Any]:
    """Weights of the comparisons, the bias last, of a softmax over what is known and "none" (at 0)."""
    most = max(len(p.compared) for p in found)
    x = np.zeros((len(found), most, len(MATCH)))
    there = np.zeros((len(found), most), dtype=bool)
    for i, p in enumerate(found):
        x[i, : len(p.compared)], there[i, : len(p.compared)] = p.compared, True
    mask = np.array([float(k in use) for k in range(len(MATCH))])
    y = np.array([p.meant for p in found])
    w = np.zeros(len(MATCH) + 1)
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 301):
        share = softmax(x @ w[:-1] + w[-1], there)
        error = share.copy()
        hit = y >= 0
        error[np.where(hit)[0], y[hit]] -= 1
        g = np.append(np.einsum("ij,ijk->k", error, x) * mask, error.sum()) / len(found)
        g[:-1] += 0.002 * w[:-1]
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w -= 0.05 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w


def softmax(z: NDArray[Any], there: NDArray[Any]) -> NDArray[np.float64]:
    z = np.where(there, z, -np.inf)
    top = np.maximum(z.max(axis=1), 0.0)
    e = np.exp(z - top[:, None])
    out: NDArray[np.float64] = e / (e.sum(axis=1) + np.exp(-top))[:, None]
    return out


def decide(found: Sequence[Pool], w: NDArray[Any]) -> list[tuple[float, bool, bool]]:
    """For every pool: the probability of ending the likeliest fact, whether that is right, whether one is meant."""
    out = []
    for p in found:
        share = softmax((p.compared @ w[:-1] + w[-1])[None], np.ones((1, len(p.compared)), dtype=bool))[0]
        best = int(share.argmax())
        out.append((float(share[best]), best == p.meant, p.meant >= 0))
    return out


def ended(title: str, decided: Sequence[tuple[float, bool, bool]], threshold: float) -> None:
    """Prints how many of the facts ended from a probability on are the ones meant, and how many of those that is."""
    over = [d for d in decided if d[0] >= threshold]
    right = sum(d[1] for d in over)
    precision, recall = right / max(1, len(over)), right / max(1, sum(d[2] for d in decided))
    print(f"{title} at {threshold}: P {precision:.3f} R {recall:.3f}")
