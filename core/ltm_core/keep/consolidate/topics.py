"""What the turns of one day, or the days of one week, are about: groups by meaning. Pure.

Average linkage on the cosine of the mean vectors, with SciPy (extra ``consolidation``), cut where the groups stand
apart best (silhouette): distances mean something else with every embedder, so no distance is fixed. Without SciPy
or without vectors a session is a topic.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 400
"""Members that are clustered at once: a day of 400 turns; the distances take 1.3 MB and some milliseconds."""
APART = 0.15
"""Silhouette from which groups are topics; below they are one. What is one topic reaches 0.05 to 0.1 by chance."""
_BEYOND = 2
"""Groups tried beyond the square root of the members."""


def topics(
    vectors: Sequence[NDArray[np.float32] | None], sessions: Sequence[Hashable], *, least: int
) -> list[list[int]]:
    """The members (indices, ascending) of each topic, the earliest topic first; each index once.

    A group of fewer than ``least`` members joins the nearest one.
    """
    n = len(vectors)
    if n <= max(1, least):
        return [list(range(n))] if n else []
    labels = _clustered(vectors) if n <= MOST else None
    return _merged_small(_by_key(sessions if labels is None else labels), vectors, least)


def has_clustering() -> bool:
    """Whether SciPy is there."""
    from importlib.util import find_spec

    return find_spec("scipy") is not None


def _clustered(vectors: Sequence[NDArray[np.float32] | None]) -> list[int] | None:
    """A label per member; None without SciPy, or when a member has no vector."""
    known = [v for v in vectors if v is not None]
    if len(known) < max(2, len(vectors)):
        return None
    matrix = np.stack(known).astype(np.float64)
    norms = np.linalg.norm(matrix, axis=1)
    if (norms <= 0).any():
        return None
    try:
        from scipy.cluster.hierarchy import fcluster, linkage
    except ImportError:
        return None
    unit = matrix / norms[:, None]
    distance = np.clip(1 - unit @ unit.T, 0, 2)
    np.fill_diagonal(distance, 0)
    tree = linkage(distance[np.triu_indices(len(unit), 1)], method="average")
    best, chosen = APART, np.ones(len(unit), dtype=np.int64)
    for count in range(2, min(len(unit), isqrt(len(unit)) + _BEYOND) + 1):
        labels = fcluster(tree, t=count, criterion="maxclust")
        value = _silhouette(distance, labels)
        if value > best + 1e-9:
            best, chosen = value, labels
    found: list[int] = chosen.tolist()
    return found


def _silhouette(distance: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """How much nearer the members are to their own group than to the next one, in [-1, 1]; alone counts 0."""
    names, own = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        return 0.0
    member = np.eye(len(names))[own]
    size = member.sum(axis=0)
    sums = distance @ member
    others = size[own] - 1
    inside = sums[np.arange(len(own)), own] / np.maximum(others, 1)
    means = sums / size
    means[np.arange(len(own)), own] = np.inf
    outside = means.min(axis=1)
    value = np.where(others > 0, (outside - inside) / np.maximum(np.maximum(outside, inside), 1e-12), 0.0)
    return float(value.mean())


def _by_key(keys: Sequence[Hashable]) -> list[list[int]]:
    groups: dict[Hashable, list[int]] = {}
    for i, key in enumerate(keys):
        groups.setdefault(key, []).append(i)
    return sorted(groups.values())


def _merged_small(
    groups: list[list[int]], vectors: Sequence[NDArray[np.float32] | None], least: int
) -> list[list[int]]:
    """Groups that are large enough; the others have joined the nearest in meaning, else in time."""
    held = [(list(g), centre([vectors[i] for i in g])) for g in groups]
    while len(held) > 1:
        held.sort(key=lambda h: (-len(h[0]), h[0]))
        small, mine = held[-1]
        if len(small) >= least:
            break
        held.pop()
        apart = [
            (1.0 if mine is None or other is None else 1 - float(mine @ other), abs(group[0] - small[0]), k)
            for k, (group, other) in enumerate(held)
        ]
        k = min(apart)[2]
        both = sorted([*held[k][0], *small])
        held[k] = (both, centre([vectors[i] for i in both]))
    return sorted(g for g, _ in held)


def centre(vectors: Sequence[NDArray[np.float32] | None]) -> NDArray[np.float32] | None:
    """The unit vector in the middle of those that are there; None without any, or when they cancel out."""
    known = [v for v in vectors if v is not None]
    if not known:
        return None
    mean = np.mean(np.stack(known), axis=0)
    norm = float(np.linalg.norm(mean))
    return None if norm <= 1e-6 else (mean / norm).astype(np.float32)


__all__ = ["centre", "has_clustering", "topics"]
