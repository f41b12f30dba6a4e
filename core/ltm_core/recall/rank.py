"""From signals to one relevance per chunk, and from chunks to the messages and facts they belong to.

Min-max fusion with weights per language: reciprocal rank fusion lost to it in every measured pair of unequal legs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ltm_core.recall.data import Floor, Weights
from ltm_core.recall.lexical import Lexical
from ltm_core.recall.structure import Structure, neighbour_values
from ltm_core.store.base import ACT_CODES, OWNER_CODES, ROLE_CODES, OwnerKind, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

DAY_MICROSECONDS = 86_400_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One message or fact that the question may mean."""

    item: int
    kind: OwnerKind
    row: int
    """Its best chunk."""
    relevance: float
    """In [0, 1]; orders only."""
    similarity: float | None
    signals: dict[str, float]
    start: int
    end: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """Parallel to the rows."""

    score: NDArray[np.float32]
    supported: NDArray[np.bool_]
    """The row or a neighbour of it passes the floor."""
    parts: dict[str, NDArray[np.float32]]


def relevance(
    rows: Rows,
    structure: Structure,
    words: Lexical,
    cosine: NDArray[np.float32] | None,
    *,
    weights: Weights,
    floor: Floor,
    visible: NDArray[np.bool_],
    inside: NDArray[np.bool_] | None = None,
    only_time: bool = False,
    current_session: int = 0,
) -> Relevance:
    """Every row's relevance in [0, 1]; 0 for rows that are not ``visible``.

    ``inside`` marks the rows in the time range that the question names; with ``only_time`` the question names
    nothing else, and all of those count as about it.
    """
    parts = _parts(structure, words, cosine, visible)
    shares = {name: getattr(weights, name) for name in parts}
    total = sum(shares.values()) or 1.0
    score = np.zeros(len(rows.item), dtype=np.float32)
    for name, values in parts.items():
        score += np.float32(shares[name] / total) * values
    score = _smooth(score, structure, weights.smoothing)
    if only_time:
        score = np.maximum(score, np.float32(0.5))
    # The part that is not the user's own words, or that only asks, keeps a share.
    score *= np.where(rows.role == ROLE_CODES["user"], np.float32(1), np.float32(weights.assistant))
    asks = (rows.act == ACT_CODES["question"]) & structure.is_message
    score *= np.where(asks, np.float32(weights.question), np.float32(1))
    if inside is not None:
        score *= np.where(inside, np.float32(1), np.float32(weights.time))
    if current_session:
        score += np.float32(weights.current_session) * (rows.session == current_session) * (1 - score)
    if words.exact.any():
        share = np.float32(weights.identifier)
        score = score * (1 - share) + share * words.exact
    score = np.clip(np.where(visible, score, np.float32(0)), 0, 1)
    passes = _passes(words, cosine, floor)
    if only_time and inside is not None:
        passes |= inside
    passes &= visible
    near = passes | (_lend(passes, structure.before) | _lend(passes, structure.after))
    return Relevance(score=score, supported=near & visible, parts=parts)


def _parts(
    structure: Structure, words: Lexical, cosine: NDArray[np.float32] | None, visible: NDArray[np.bool_]
) -> dict[str, NDArray[np.float32]]:
    """Each leg, scaled to [0, 1] over the visible rows. Facts stand alone: their window is themselves."""
    fact = ~structure.is_message
    row, window, session = (_scaled(leg, visible, zero=True) for leg in (words.row, words.window, words.session))
    parts = {"bm25": row, "window": np.where(fact, row, window), "session": np.where(fact, row, session)}
    if cosine is not None and not np.isnan(cosine).all():
        known = np.nan_to_num(cosine, nan=-1.0)
        around = (
            2 * known
            + np.where(structure.before >= 0, known[structure.before], known)
            + np.where(structure.after >= 0, known[structure.after], known)
        ) / 4
        compared = visible & ~np.isnan(cosine)
        parts["cosine"] = _scaled(known, compared, zero=False)
        parts["cosine_window"] = _scaled(around, compared, zero=False)
    return parts


def _scaled(values: NDArray[np.float32], among: NDArray[np.bool_], *, zero: bool) -> NDArray[np.float32]:
    seen = values[among]
    if not len(seen):
        return np.zeros_like(values)
    low = np.float32(0) if zero else seen.min()
    reach = seen.max() - low
    if reach <= 0:
        return np.zeros_like(values) if zero else among.astype(np.float32)
    return np.clip((values - low) / reach, 0, 1).astype(np.float32)


def _smooth(score: NDArray[np.float32], structure: Structure, share: float) -> NDArray[np.float32]:
    lent = neighbour_values(score, structure.before) + neighbour_values(score, structure.after)
    lent = np.where(structure.is_message, lent, 2 * score)
    return ((score + np.float32(share) * lent) / np.float32(1 + 2 * share)).astype(np.float32)


def _passes(words: Lexical, cosine: NDArray[np.float32] | None, floor: Floor) -> NDArray[np.bool_]:
    passes = (words.exact > 0) | (words.coverage >= np.float32(floor.coverage))
    if cosine is not None:
        with np.errstate(invalid="ignore"):  # NaN: no vector was compared, and NaN passes nothing
            passes |= cosine >= np.float32(floor.similarity)
            passes |= (cosine >= np.float32(floor.mixed_similarity)) & (
                words.coverage >= np.float32(floor.mixed_coverage)
            )
    return passes


def _lend(passes: NDArray[np.bool_], where: NDArray[np.int32]) -> NDArray[np.bool_]:
    return np.where(where >= 0, passes[where], False) if len(passes) else passes


def best_hits(
    rows: Rows,
    structure: Structure,
    found: Relevance,
    words: Lexical,
    cosine: NDArray[np.float32] | None,
    *,
    kind: OwnerKind,
    limit: int,
) -> list[Hit]:
    """The ``limit`` most relevant messages or facts that pass the floor, best first, each by its best chunk.

    Equal relevance: the later one first.
    """
    wanted = np.flatnonzero(found.supported & (rows.kind == OWNER_CODES[kind]) & (found.score > 0))
    order = wanted[np.lexsort((-rows.item[wanted], -rows.at[wanted], -found.score[wanted]))]
    _, first = np.unique(structure.owner[order], return_index=True)
    chosen = order[np.sort(first)[:limit]]
    return [_hit(int(r), rows, found, words, cosine, kind) for r in chosen]


def _hit(
    r: int, rows: Rows, found: Relevance, words: Lexical, cosine: NDArray[np.float32] | None, kind: OwnerKind
) -> Hit:
    similarity = None if cosine is None or np.isnan(cosine[r]) else float(min(1.0, max(0.0, float(cosine[r]))))
    signals = {name: round(float(values[r]), 4) for name, values in found.parts.items()}
    signals["coverage"] = round(float(words.coverage[r]), 4)
    if words.exact[r] > 0:
        signals["identifier"] = round(float(words.exact[r]), 4)
    return Hit(
        item=int(rows.owner[r]),
        kind=kind,
        row=r,
        relevance=float(found.score[r]),
        similarity=similarity,
        signals=signals,
        start=int(rows.start[r]),
        end=int(rows.end[r]),
        at=int(rows.at[r]),
    )


def recency(at: int, now: int, *, decay_per_day: float) -> float:
    """``decay_per_day`` to the power of the days since ``at``; 1 for now and the future."""
    return float(decay_per_day ** (max(0, now - at) / DAY_MICROSECONDS))


def use(access_count: int) -> float:
    """In [0, 1): 0 when never recalled, one half at the first, near 1 after many."""
    return access_count / (access_count + 1.0)


def in_ranges(at: NDArray[np.int64], ranges: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which instants lie in any of the half-open ranges."""
    inside = np.zeros(len(at), dtype=np.bool_)
    for since, until in ranges:
        inside |= (at >= since) & (at < until)
    return inside


__all__ = ["Hit", "Relevance", "best_hits", "in_ranges", "recency", "relevance", "use"]
