"""Which known fact a sentence with news means, and whether it ends it: invented memories and the models over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from news_data import Embedded, Pair
from numpy.typing import NDArray

from ltm_core.write.known.news import MATCH, News, Sentence

POOLS = (1, 3, 10, 30)
"""Sizes of invented memories in which the fact meant is looked for."""
ALIKE = 20
"""Facts of the same topic among which one that the words do not name is looked for."""


@dataclass(slots=True)
class Pool:
    """What is known in an invented memory against one sentence: comparisons, and which is meant (-1: none)."""

    pair: int
    compared: NDArray[Any]
    meant: int
    weight: float = 1.0


def pools(
    pairs: Sequence[Pair],
    embed: Embedded,
    models: Sequence[News],
    turn: Mapping[int, tuple[float, str]],
    *,
    seed: int,
) -> list[Pool]:
    """Invented memories: the fact of a pair, or none, among facts of other topics. What a pair leaves alone means
    none, although its fact is there. ``turn``: per pair its likeliest sentence, and the log-odds that it tells of a
    change."""
    rng = np.random.default_rng(seed)
    held = [
        [replace(h, vector=v) for h, v in zip(p.held, embed([h.text for h in p.held]), strict=True)] for p in pairs
    ]
    languages, topics = (np.array([getattr(p, name) for p in pairs]) for name in ("language", "topic"))
    found = []
    for i, p in enumerate(pairs):
        if i not in turn:
            continue
        (likely, text), news = turn[i], models[p.fold]
        said = Sentence(text, "", "", np.zeros(0, np.float32), embed([text])[0], likely)
        others = np.where((languages == p.language) & (topics != p.topic))[0]
        # another thing of the same kind, which the words do not name
        same = np.where((languages == p.language) & (topics == p.topic))[0]
        same = rng.permutation(same[same != i])[:ALIKE]
        alike = []
        if len(same) and news.shares_words(news.compare(said, held[i][0])):
            beside = news.compare_all(said, [held[j][0] for j in same])
            alike = [int(j) for j, row in zip(same, beside, strict=True) if not news.shares_words(row)]
        for size in POOLS:
            for present in (True, False) if p.label != "N" else (True,):
                some = list(rng.choice(others, size - present, replace=False)) if size - present else []
                if some and alike and present:
                    some[0] = rng.choice(alike)
                chosen = ([held[i][0]] if present else []) + [held[j][0] for j in some]
                is_meant = present and p.label != "N"
                found.append(Pool(i, news.compare_all(said, chosen), 0 if is_meant else -1, p.weight))
    return found


def fit_match(found: Sequence[Pool], use: Sequence[int]) -> NDArray[Any]:
    """Weights of the comparisons, the bias last, of a softmax over what is known and "none" (at 0)."""
    x = np.concatenate([p.compared for p in found]).astype(np.float32)
    sizes = np.array([len(p.compared) for p in found])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    meant = np.array([start + p.meant for p, start in zip(found, starts, strict=True) if p.meant >= 0])
    weights = np.array([p.weight for p in found])
    each = np.repeat(weights, sizes)
    mask = np.array([float(k in use) for k in range(len(MATCH))])
    w = np.zeros(len(MATCH) + 1)
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 301):
        error = softmax(x @ w[:-1].astype(np.float32) + np.float32(w[-1]), starts, sizes)
        error[meant] -= 1
        error *= each
        g = np.append((error @ x) * mask, error.sum()) / weights.sum()
        g[:-1] += 0.002 * w[:-1]
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w -= 0.05 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w


def softmax(z: NDArray[Any], starts: NDArray[Any], sizes: NDArray[Any]) -> NDArray[Any]:
    """Shares within each memory, one after the other in ``z``; what is missing to 1 is for "none"."""
    top = np.maximum(np.maximum.reduceat(z, starts), 0.0)
    e = np.exp(z - np.repeat(top, sizes))
    out: NDArray[Any] = e / np.repeat(np.add.reduceat(e, starts) + np.exp(-top), sizes)
    return out


def decide(found: Sequence[Pool], w: NDArray[Any]) -> list[tuple[float, bool, bool]]:
    """For every pool: the probability of ending the likeliest fact, whether that is right, whether one is meant."""
    out = []
    for p in found:
        share = softmax(p.compared @ w[:-1] + w[-1], np.zeros(1, dtype=np.int64), np.array([len(p.compared)]))
        best = int(share.argmax())
        out.append((float(share[best]), best == p.meant, p.meant >= 0))
    return out


def ended(title: str, decided: Sequence[tuple[float, bool, bool]], threshold: float) -> None:
    """Prints how many of the facts ended from a probability on are the ones meant, and how many of those that is."""
    over = [d for d in decided if d[0] >= threshold]
    right = sum(d[1] for d in over)
    precision, recall = right / max(1, len(over)), right / max(1, sum(d[2] for d in decided))
    print(f"{title} at {threshold}: P {precision:.3f} R {recall:.3f}")
