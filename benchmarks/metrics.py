"""Figures with their uncertainty: means, and intervals from resampling whole conversations."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

Scores = Mapping[str, Sequence[float]]
"""Conversation id to one value per question."""


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def pooled(scores: Scores) -> float:
    """Mean over all questions."""
    return mean([v for values in scores.values() for v in values])


def interval(scores: Scores, *, rounds: int = 1000, seed: int = 7) -> tuple[float, float]:
    """The 95 % bootstrap interval of `pooled`, drawing conversations with replacement.

    With fewer than five conversations the questions are drawn instead.
    """
    if len(scores) < 5:
        scores = {f"{n}/{i}": [v] for n, values in scores.items() for i, v in enumerate(values)}
    names = [n for n in scores if scores[n]]
    if not names:
        return (float("nan"), float("nan"))
    source = random.Random(seed)
    drawn = []
    for _ in range(rounds):
        chosen = [source.choice(names) for _ in names]
        drawn.append(mean([v for n in chosen for v in scores[n]]))
    drawn.sort()
    return drawn[int(0.025 * rounds)], drawn[int(0.975 * rounds) - 1]


def recall_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> float:
    """Share of ``gold`` among the first ``k`` distinct ids."""
    return len(gold & set(list(dict.fromkeys(ranked))[:k])) / len(gold)
