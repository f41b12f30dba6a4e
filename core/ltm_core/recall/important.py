"""What matters most when nothing is asked: facts and messages by importance, the later first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltm_core.recall.filters import Filter, matches
from ltm_core.recall.gather import Found, labelled
from ltm_core.recall.hits import Hit
from ltm_core.recall.records import fact_record, message_record
from ltm_core.recall.request import RecallRequest
from ltm_core.store.base import IMPORTANCE_CODES, OWNER_CODES, ROLE_CODES, Reader
from ltm_core.store.times import to_us

if TYPE_CHECKING:
    from ltm_core.config import Config

_RELEVANCE = {"high": 1.0, "medium": 0.7, "low": 0.4}


def most_important(
    found: Found,
    reader: Reader,
    request: RecallRequest,
    config: Config,
    *,
    filters: Filter | None,
    excluded: frozenset[int],
) -> None:
    """Current facts join ``found`` by importance, and of the user's messages the important ones."""
    if "semantic" in request.tiers:
        facts = (f for f in reader.facts(current_at=request.now) if labelled(f, request))
        for fact in sorted(facts, key=lambda f: (-_RELEVANCE[f.importance], -f.last_seen_at.timestamp()))[
            : config.semantic_candidates
        ]:
            if matches(filters, fact_record(fact)):
                found.facts.setdefault(fact.id, (fact, _hit("fact", _RELEVANCE[fact.importance])))
    if "episodic" in request.tiers:
        rows = reader.snapshot().rows
        wanted = (
            (rows.kind == OWNER_CODES["message"])
            & (rows.role == ROLE_CODES["user"])
            & (rows.importance >= IMPORTANCE_CODES["medium"])
            & (rows.expires > to_us(request.now))
            & ~np.isin(rows.owner, list(excluded))
        )
        where = np.flatnonzero(wanted)
        order = where[np.lexsort((-rows.at[where], -rows.importance[where]))]
        items = list(dict.fromkeys(int(i) for i in rows.owner[order]))[: config.context_episodes]
        by_item = {r.item: r for r in reader.messages(items=items)} if items else {}
        for item in items:
            row = by_item.get(item)
            shown = row is not None and bool(row.content.strip()) and labelled(row, request)
            if row is not None and shown and matches(filters, message_record(row)):
                hit = _hit("message", _RELEVANCE[row.importance], item=item, end=len(row.content))
                found.messages.append((row, hit))


def _hit(kind: str, relevance: float, *, item: int = 0, end: int = 0) -> Hit:
    return Hit(
        item=item,
        kind="fact" if kind == "fact" else "message",
        score=relevance,
        similarity=None,
        signals={},
        start=0,
        end=end,
    )


__all__ = ["most_important"]
