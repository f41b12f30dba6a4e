"""The best of what was ranked, each with its evidence and the part of its text that was found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ltm_core.recall.lexical import Lexical
from ltm_core.recall.rank import Ranked
from ltm_core.recall.structure import Structure
from ltm_core.store.base import OWNER_CODES, OwnerKind, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One message, fact or summary that the question may mean."""

    item: int
    kind: OwnerKind
    score: float
    """In [0, 1]; orders only."""
    similarity: float | None
    signals: dict[str, float]
    start: int
    end: int
    """The best chunk, in the text of the owner."""


def best_hits(
    rows: Rows,
    structure: Structure,
    ranked: Ranked,
    words: Lexical,
    cosine: NDArray[np.float32] | None,
    *,
    kind: OwnerKind,
    limit: int,
) -> list[Hit]:
    """The ``limit`` best messages or facts that pass the floor; of equal scores the later one first."""
    of_kind = structure.kind == OWNER_CODES[kind]
    wanted = np.flatnonzero(ranked.supported & of_kind & (ranked.score > 0))
    if len(wanted) > 4 * limit:
        wanted = wanted[np.argpartition(-ranked.score[wanted], 4 * limit)[: 4 * limit]]
    at = structure.at[wanted]
    order = wanted[np.lexsort((-structure.items[wanted], -at, -ranked.score[wanted]))][:limit]
    if not len(order):
        return []
    best = max(float(words.chunk.max(initial=0.0)), 1e-9)
    chunk = _best_chunks(order, structure, words.rows, best, cosine)
    signals = {name: values[order].tolist() for name, values in ranked.signals.items()}
    near = [math.nan] * len(order) if ranked.cosine is None else ranked.cosine[order].tolist()
    columns = (structure.items[order], ranked.score[order], rows.start[chunk], rows.end[chunk])
    return [
        Hit(
            item=item,
            kind=kind,
            score=score,
            similarity=None if math.isnan(near[i]) else min(1.0, max(0.0, near[i])),
            signals={name: round(values[i], 4) for name, values in signals.items()},
            start=start,
            end=end,
        )
        for i, (item, score, start, end) in enumerate(zip(*(c.tolist() for c in columns), strict=True))
    ]


def _best_chunks(
    order: NDArray[np.int64],
    structure: Structure,
    keywords: NDArray[np.float32],
    best_keywords: float,
    cosine: NDArray[np.float32] | None,
) -> NDArray[np.int64]:
    """Per owner its row that is nearest to the question by words and meaning together, the first of equals."""
    counts = structure.chunks[order]
    ends = np.cumsum(counts)
    within = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
    own = structure.by_owner[np.repeat(structure.starts[order], counts) + within]
    value = keywords[own] / best_keywords
    if cosine is not None:
        value = value + np.nan_to_num(cosine[own], nan=0.0)
    owner = np.repeat(np.arange(len(order)), counts)
    ranked = np.lexsort((within, -value, owner))
    chosen: NDArray[np.int64] = own[ranked[ends - counts]]
    return chosen


__all__ = ["Hit", "best_hits"]
