"""Searching the files when it is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ltm_core.keep.archive.files import turns_in
from ltm_core.keep.archive.move import limits_of
from ltm_core.keep.archive.reader import ColdReader
from ltm_core.recall.service import Moment, read_search

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ltm_core.recall.request import RecallRequest
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader
    from ltm_core.types import ContextItem

REASON = "from the archive"


def search_cold(
    runtime: Runtime, reader: Reader, request: RecallRequest, query_vector: NDArray[Any] | None
) -> Moment | None:
    """The candidates among the turns that files hold, ranked among themselves; None where there are none.

    Files outside the range that the request names are not read. CorruptError for a file that is gone or damaged.
    """
    files = [
        f
        for f in reader.cold_files()
        if (request.since is None or f.last_at >= request.since)
        and (request.until is None or f.first_at < request.until)
    ]
    if not files or "episodic" not in request.tiers:
        return None
    turns = [t for f in files for t in turns_in(runtime, reader, f)]
    cold = ColdReader(reader, turns, limits_of(runtime.config))
    return read_search(
        cast("Reader", cold),
        request,
        config=runtime.config,
        query_vector=query_vector,
        embedder_name=runtime.embedder.name,
        floor=runtime.floor,
    )


def merged(warm: list[ContextItem], cold: list[ContextItem], top_k: int) -> list[ContextItem]:
    """The best of both, by score: each part was ranked over its own rows."""
    marked = [replace(i, reasons=(*i.reasons, REASON)) for i in cold]
    return sorted([*warm, *marked], key=lambda i: -i.score)[:top_k]


__all__ = ["REASON", "merged", "search_cold"]
