"""A summary takes the place of what it rests on, if it is found by its own topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.keep.consolidate.retire import retirable
from ltm_core.recall.request import RecallRequest
from ltm_core.recall.service import recall_search
from ltm_core.runtime import log
from ltm_core.types import Scope, SummaryMade
from ltm_core.when import stored_zone

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader, Writer
    from ltm_core.store.rows import SummaryRow

MOST_TOLD = 1000
"""Summaries that a report names."""
FOUND_IN = 8
"""Among so many results a summary must be when its topic is searched for: the default of `search`."""


@dataclass(slots=True, kw_only=True)
class Done:
    """What one run made, or would make."""

    made: list[SummaryMade] = field(default_factory=list)
    summaries: int = 0
    retired: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    """failed: the model's summary could not be used; rejected: its sentences that were dropped; missed: summaries
    that were not found by their own topic."""


class _MissedError(Exception):
    """The summary was not found; the transaction is undone."""


def settle(runtime: Runtime, user_id: str, row: SummaryRow, done: Done, *, now: datetime) -> bool:
    """What the summary stands for gives way, and it is looked for by its own topic, in one transaction: when it is
    not found, all is as it was. False when the summary is gone."""
    vector = runtime.embed_query(row.topic)
    retired = 0
    try:
        with runtime.store.write(user_id) as writer:
            if not writer.set_recallable(row.item, now=now):
                return False
            retired = _give_way(runtime, writer, row, now=now)
            if not _is_found(runtime, writer, row, vector, now=now):
                raise _MissedError
    except _MissedError:
        retired = 0
        done.counts["missed"] += 1
        log.warning("a %s summary is not found by its own topic: its turns stay as they are", row.level)
        if row.level == "week":
            # The days say the same and are found: both would be one too many.
            with runtime.store.write(user_id) as writer:
                _delete(writer, [row])
            return False
    done.retired += retired
    if len(done.made) < MOST_TOLD:
        done.made.append(_told(user_id, row, retired))
    return True


def _is_found(
    runtime: Runtime, reader: Reader, row: SummaryRow, vector: NDArray[np.float32] | None, *, now: datetime
) -> bool:
    request = RecallRequest(
        scope=Scope(user_id=reader.user_id, agent_id=row.agent_id, task_id=row.task_id, app_id=row.app_id),
        query=row.topic,
        now=now.astimezone(stored_zone(row.timezone)),
        tiers=("episodic",),
        exclude_message_ids=tuple(s.message_id for s in row.sources),
        # Asked of its own time: what was said of the same topic at other times is no rival.
        since=row.begins,
        until=row.ends,
        top_k=FOUND_IN,
    )
    found = recall_search(
        reader,
        request,
        config=runtime.config,
        query_vector=vector,
        embedder_name=runtime.embedder.name,
        floor=runtime.floor,
    )
    return any(i.source_id == row.id for i in found)


def _give_way(runtime: Runtime, writer: Writer, row: SummaryRow, *, now: datetime) -> int:
    """The days that a week holds are gone; turns that may be are retired. Returns how many."""
    items = {s.item for s in row.sources}
    if row.level == "week":
        within = writer.summaries(sources=sorted(items), level="day")
        _delete(writer, [d for d in within if {s.item for s in d.sources} <= items])
    if not runtime.config.retire_sources:
        return 0
    rows = writer.messages(items=sorted(items))
    facts = writer.facts(evidence_of=[r.id for r in rows])
    going = retirable(
        rows,
        anchored=writer.message_anchors([r.item for r in rows]),
        supporting={i for f in facts for i in f.source_message_ids},
        lexicon=runtime.lexicon,
        patterns=runtime.config.identifier_patterns,
        summary=row,
        coverage=runtime.config.retire_coverage,
    )
    return writer.retire_messages(going, now=now)


def _delete(writer: Writer, rows: Sequence[SummaryRow]) -> None:
    """Gone; their turns are not due again, because another summary stands for them."""
    state = writer.user()
    writer.delete_summaries([r.item for r in rows])
    writer.set_consolidated(None if state is None else state.consolidated_at)


def _told(user_id: str, row: SummaryRow, retired: int) -> SummaryMade:
    return SummaryMade(
        user_id=user_id,
        summary_id=row.id,
        level=row.level,
        begins=row.begins,
        ends=row.ends,
        turns=len(row.sources),
        retired=retired,
    )


__all__ = ["FOUND_IN", "MOST_TOLD", "Done", "settle"]
