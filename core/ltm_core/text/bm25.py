"""BM25 over term postings that somebody else has read."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

K1 = 1.5
B = 0.75

# Rows (indices into ``lengths``, each at most once) and how often the term occurs in each.
Posting = tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]


def idf(doc_count: int, doc_frequency: int) -> float:
    """Robertson-Sparck Jones weight in Lucene's form ln(1 + (N - df + 0.5) / (df + 0.5)), never negative."""
    return log(1.0 + (max(doc_count, doc_frequency) - doc_frequency + 0.5) / (doc_frequency + 0.5))


def length_norm(lengths: NDArray[np.float32], average: float) -> NDArray[np.float32]:
    """What the length of each text adds to the term count it is divided by; ``average`` 0 counts as 1."""
    average = average if average > 0 else 1.0
    return lengths * np.float32(K1 * B / average) + np.float32(K1 * (1 - B))


def bm25(
    postings: Sequence[Posting],
    *,
    lengths: NDArray[np.float32],
    doc_count: int,
    average_length: float,
    query_weights: Sequence[float] | None = None,
) -> NDArray[np.float32]:
    """One score per row of ``lengths``; 0 where no term occurs.

    Sum over terms of weight * idf * tf / (tf + k1 * (1 - b + b * length / average)): BM25 as Lucene 8+
    computes it, without the constant factor k1 + 1.
    """
    if query_weights is not None and len(query_weights) != len(postings):
        raise ValueError(f"{len(postings)} postings but {len(query_weights)} weights")
    scores = np.zeros(len(lengths), dtype=np.float32)
    if not len(lengths):
        return scores
    norm = length_norm(lengths, average_length)
    for i, (rows, tf) in enumerate(postings):
        if not len(rows):
            continue
        weight = idf(doc_count, len(rows)) * (1.0 if query_weights is None else query_weights[i])
        counts = tf.astype(np.float32)
        scores[rows] += np.float32(weight) * counts / (counts + norm[rows])
    return scores
