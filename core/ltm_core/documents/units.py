"""The indexed units of a document, and their vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ltm_core.documents.paths import joined, texts
from ltm_core.store.base import DocumentUnit
from ltm_core.text.chunks import chunk
from ltm_core.text.tokens import estimate_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.config import Config
    from ltm_core.runtime import Runtime


def spans(value: Mapping[str, Any], fields: Sequence[str], config: Config) -> list[tuple[int, int, str]]:
    """(start, end, text) of each unit, at most ``max_chunks_per_message`` of them."""
    parts = texts(value, fields)
    whole, starts = joined(parts)
    found: list[tuple[int, int, str]] = []
    for part, begin in zip(parts, starts, strict=True):
        left = config.max_chunks_per_message - len(found)
        if left <= 0:
            break
        pieces = chunk(
            part,
            max_tokens=config.chunk_tokens,
            max_sentences=config.chunk_sentences,
            max_chunks=left,
            count=estimate_tokens,
        )
        found += [(begin + p.start, begin + p.end, whole[begin + p.start : begin + p.end]) for p in pieces[:left]]
    return found


def with_vectors(
    pieces: Sequence[tuple[int, int, str]], vectors: Mapping[str, NDArray[np.float32]]
) -> list[DocumentUnit]:
    """The units to write; one whose text has no vector yet gets it from ``maintain``."""
    return [DocumentUnit(start=a, end=b, vector=vectors.get(text)) for a, b, text in pieces]


def fill(runtime: Runtime, user_id: str, *, limit: int) -> int:
    """Up to ``limit`` units of the user's documents that had no vector have one; returns how many."""
    if not runtime.has_vectors:
        return 0
    with runtime.store.write(user_id) as writer:
        waiting = writer.units_without_vector(limit=limit)
        rows = {d.item: d for d in writer.documents(items=sorted({w[1] for w in waiting}))} if waiting else {}
    wholes = {item: joined(texts(d.value, d.fields))[0] for item, d in rows.items()}
    wanted = {unit: wholes[item][start:end] for unit, item, start, end in waiting if item in wholes}
    matrix = runtime.embed(list(wanted.values()))
    if matrix is None:
        return 0
    with runtime.store.write(user_id) as writer:
        # A document that was replaced meanwhile has other units.
        still = {w[0] for w in writer.units_without_vector(limit=limit)}
        vectors = {unit: matrix[i] for i, unit in enumerate(wanted) if unit in still}
        writer.set_unit_vectors(vectors)
    return len(vectors)
