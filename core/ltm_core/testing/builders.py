"""Rows for tests, each with every field that the test does not name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ltm_core.store.base import ChunkWrite, MessageRow, Writer
from ltm_core.store.rows import SummaryLine, SummaryRow, SummarySource
from ltm_core.types import Evidence, Fact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSION = 16
T0 = datetime(2026, 3, 1, 9, 0, 0, 123_456, tzinfo=UTC)


def at(minutes: float) -> datetime:
    """That many minutes after `T0`."""
    return T0 + timedelta(minutes=minutes)


def message(id: str, content: str = "I play the oboe.", **fields: Any) -> MessageRow:
    """A turn of session "s1"."""
    values: dict[str, Any] = {"session_id": "s1", "role": "user", "at": T0, "recorded_at": T0}
    return MessageRow(id=id, content=content, **{**values, **fields})


def fact(id: str, object: str = "oboe", **fields: Any) -> Fact:
    """A current fact of user "ana"."""
    values: dict[str, Any] = {
        "user_id": "ana",
        "subject": "user",
        "relation": "plays",
        "object_normalized": object,
        "text": f"user plays {object}",
        "valid_from": T0,
        "recorded_at": T0,
        "last_seen_at": T0,
        "evidence": (Evidence(message_id="m1", start=0, end=4),),
        "source_message_ids": ("m1",),
    }
    return Fact(id=id, object=object, **{**values, **fields})


def summary(id: str, text: str, sources: Sequence[MessageRow], **fields: Any) -> SummaryRow:
    """A summary of these turns, in one line that rests on all of them."""
    values: dict[str, Any] = {
        "level": "day",
        "begins": T0.replace(hour=0, minute=0, second=0, microsecond=0),
        "ends": T0.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1),
        "timezone": "UTC",
        "topic": text,
        "language": "en",
        "made_by": "test",
        "said_at": T0,
        "recorded_at": T0,
    }
    return SummaryRow(
        id=id,
        lines=(SummaryLine(text=text, on=T0.date(), speaker="user", by="user", sources=tuple(range(len(sources)))),),
        sources=tuple(SummarySource(item=m.item, session_id=m.session_id, message_id=m.id) for m in sources),
        **{**values, **fields},
    )


def vector(seed: int) -> NDArray[np.float32]:
    """A unit vector of `DIMENSION`; the same seed gives the same one."""
    import numpy as np

    v = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    unit: NDArray[np.float32] = v / np.linalg.norm(v)
    return unit


def chunk(terms: Mapping[str, int], seed: int | None = None, *, start: int = 0, end: int = 4) -> ChunkWrite:
    """An indexed unit; without a seed it has no vector."""
    return ChunkWrite(start=start, end=end, terms=terms, vector=None if seed is None else vector(seed))


def say(writer: Writer, id: str, content: str = "I play the oboe.", *, seed: int = 1, **fields: Any) -> MessageRow:
    """A turn stored and indexed as one chunk whose terms are its words."""
    row = writer.add_message(message(id, content, **fields))
    terms: dict[str, int] = {}
    for word in content.lower().split():
        terms[word] = terms.get(word, 0) + 1
    writer.set_chunks(
        "message",
        row.item,
        [chunk(terms, seed, end=len(content))],
        at=row.at,
        session_id=row.session_id,
        agent_id=row.agent_id,
        task_id=row.task_id,
        app_id=row.app_id,
        role=row.role,
        act=row.act,
        importance=row.importance,
        expires_at=row.expires_at,
    )
    return row
