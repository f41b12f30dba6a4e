"""Turns that a summary stands for: which may be retired, and how they come back."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ltm_core.keep.consolidate.extractive import LEAST_TERMS, content_terms
from ltm_core.keep.consolidate.wording import topic_of
from ltm_core.keep.redaction import spans_of
from ltm_core.text.terms import terms
from ltm_core.write.anchors.identifiers import find_identifiers
from ltm_core.write.incoming.index import index_message, index_summary, row_units, summary_units

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.lexicon import Lexicon
    from ltm_core.store.base import MessageRow, Reader, Writer
    from ltm_core.store.rows import SummaryRow
    from ltm_core.types import Anchor

_PAGE = 500


def retirable(
    rows: Sequence[MessageRow],
    *,
    anchored: Mapping[int, Sequence[Anchor]],
    supporting: Collection[str],
    lexicon: Lexicon,
    patterns: Sequence[str] = (),
    summary: SummaryRow | None = None,
    coverage: float = 0.0,
) -> list[int]:
    """The items of the turns that may be retired once their summary is recallable. Pure.

    Of each the lines of the ``summary`` that rest on it hold at least ``coverage`` of its words, or the turn says
    nothing by itself.

    Never: a turn with an anchor (explicit requests, identifiers, confirmations, stated facts), one that a fact
    rests on (``supporting``, message ids: health facts among them), one with an identifier in it, an important or
    archived one, and one that is still in a session's window.
    """
    held: dict[int, set[str]] = defaultdict(set)
    if summary is not None:
        for line in summary.lines:
            for i in line.sources:
                held[summary.sources[i].item].update(terms(line.text))
    return [
        row.item
        for row in rows
        if row.retired_at is None
        and not anchored.get(row.item)
        and row.id not in supporting
        and row.importance != "high"
        and row.archived_at is None
        and row.doc_type is None
        and not row.in_window
        and not find_identifiers(row.content, lexicon, patterns)
        and _covers(held.get(row.item, ()), row.content, coverage)
    ]


def _covers(held: Collection[str], text: str, least: float) -> bool:
    own = frozenset(terms(text))
    return content_terms(own) < LEAST_TERMS or len(own.intersection(held)) >= least * len(own)


def stood_for(reader: Reader, items: Sequence[int]) -> set[int]:
    """Those of these turns for which a recallable summary stands: what a policy may drop (with
    ``delete_messages(…, keep_summaries=True)``) without losing what the day came to."""
    wanted = set(items)
    rows = reader.summaries(sources=items) if items else []
    return {s.item for row in rows if row.recallable_at is not None for s in row.sources} & wanted


def bring_back(writer: Writer, *, config: Config) -> int:
    """Every retired turn for which no recallable summary stands is searched again; vectors follow."""
    count = 0
    while rows := writer.retired_alone(limit=_PAGE):
        for row in rows:
            back = replace(row, retired_at=None)
            writer.update_message(back)
            index_message(writer, back, row_units(back, config=config), {})
        count += len(rows)
    return count


def drop_holding(writer: Writer, patterns: Sequence[re.Pattern[str]], *, config: Config) -> int:
    """No summary holds one of the patterns. What is left of its turns is summarised again; of a summary whose turns
    a policy has dropped the other lines stay."""
    if not patterns:
        return 0
    holding = [s for s in writer.summaries() if spans_of(patterns, s.text) or spans_of(patterns, s.topic)]
    for row in holding:
        there = {m.item for m in writer.messages(items=[s.item for s in row.sources])}
        sources = tuple(s if s.item in there else replace(s, item=0) for s in row.sources)
        alone = any(not s.item for s in sources)
        writer.delete_summaries([row.item])
        lines = tuple(n for n in row.lines if not spans_of(patterns, n.shown))
        if alone and lines:
            left = writer.add_summary(
                replace(row, lines=lines, sources=sources, topic=topic_of([n.text for n in lines]))
            )
            index_summary(writer, left, summary_units(left, config=config), {})
    return len(holding)


__all__ = ["bring_back", "drop_holding", "retirable", "stood_for"]
