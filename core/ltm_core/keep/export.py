"""All of one user as JSON lines: read page by page in short reads, so that nobody waits for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.keep.audit import note
from ltm_core.keep.document_lines import document_line
from ltm_core.keep.line_values import written
from ltm_core.keep.lines import FORMAT, VERSION
from ltm_core.keep.summary_lines import summary_line
from ltm_core.store.rows import FactRow
from ltm_core.twins import in_worker
from ltm_core.types import Anchor, FactChange, Session

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, SlotRow

_PAGE = 200
"""Rows read at once: of messages at most 200 times the longest one."""


class ExportLines:
    """The lines of one export; each ends with a newline. Iterate once, with ``for`` or ``async for``."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._lines)

    def __aiter__(self) -> ExportLines:
        return self

    async def __anext__(self) -> str:
        line = await in_worker(lambda: next(self._lines, None))
        if line is None:
            raise StopAsyncIteration
        return line


def export_user(runtime: Runtime, user_id: str) -> ExportLines:
    """The lines to come; that they were asked for is in the audit log already."""
    now = runtime.now()
    if not runtime.store.read_only:
        with runtime.store.write(user_id) as writer:
            if writer.user() is not None:
                note(writer, "export", now=now)
    return ExportLines(_lines(runtime, user_id, now=now))


def _lines(runtime: Runtime, user_id: str, *, now: datetime) -> Iterator[str]:
    counts: Counter[str] = Counter()
    yield _line({"type": "header", "format": FORMAT, "version": VERSION, "exported_at": written(now)})
    for values in _rows(runtime, user_id, now=now):
        counts[values["type"]] += 1
        yield _line(values)
    yield _line({"type": "end", "counts": dict(counts)})


def _rows(runtime: Runtime, user_id: str, *, now: datetime) -> Iterator[dict[str, Any]]:
    read = runtime.store.read
    with read(user_id) as reader:
        state = reader.user()
    if state is None:
        return
    yield _of(
        "user",
        timezone=state.timezone,
        paused_at=state.paused_at,
        retention=state.retention,
        created_at=state.created_at,
    )
    last = 0
    while True:
        with read(user_id) as reader:
            sessions = reader.session_rows(after_item=last, limit=_PAGE)
            slots = {s.session.id: reader.slots(s.session.id, now=now) for s in sessions}
        for row in sessions:
            yield _session(row.session, row.arrived_at)
            for slot in slots[row.session.id]:
                yield _slot(row.session.id, slot)
        if len(sessions) < _PAGE:
            break
        last = sessions[-1].item
    last = 0
    while True:
        with read(user_id) as reader:
            messages = reader.messages(after_item=last, limit=_PAGE)
            anchors = reader.message_anchors([m.item for m in messages])
        for m in messages:
            yield message_line(m, anchors.get(m.item, []))
        if len(messages) < _PAGE:
            break
        last = messages[-1].item
    yield from _cold(runtime, user_id)
    last = 0
    while True:
        with read(user_id) as reader:
            facts = reader.fact_rows(after_item=last, limit=_PAGE)
        for fact in facts:
            yield _fact(fact)
        if len(facts) < _PAGE:
            break
        last = facts[-1].item
    place = 0
    while True:
        with read(user_id) as reader:
            changes = reader.changes(after=place, limit=_PAGE)
        for change in changes:
            yield _change(change)
        if len(changes) < _PAGE:
            break
        place = int(changes[-1].cursor)
    last = 0
    while True:
        with read(user_id) as reader:
            summaries = reader.summaries(after_item=last, limit=_PAGE)
        for summary in summaries:
            yield summary_line(summary)
        if len(summaries) < _PAGE:
            break
        last = summaries[-1].item
    last = 0
    while True:
        with read(user_id) as reader:
            documents = reader.documents(alive_at=now, after_item=last, limit=_PAGE)
        for document in documents:
            yield document_line(document)
        if len(documents) < _PAGE:
            break
        last = documents[-1].item


def _cold(runtime: Runtime, user_id: str) -> Iterator[dict[str, Any]]:
    """The turns that files outside the store hold, as lines like the others."""
    with runtime.store.read(user_id) as reader:
        files = reader.cold_files()
    if files:
        from ltm_core.keep.archive.files import turns_in
    for file in files:
        with runtime.store.read(user_id) as reader:
            if file not in reader.cold_files():
                continue
            turns = turns_in(runtime, reader, file)
        for turn in turns:
            yield dict(turn.line)


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def _of(kind: str, /, **values: Any) -> dict[str, Any]:
    """The fields that say something, in the form of the file."""
    filled = {k: written(v) for k, v in values.items() if v is not None and v != () and v != {} and v != []}
    return {"type": kind, **filled}


def _session(session: Session, arrived_at: datetime) -> dict[str, Any]:
    return _of(
        "session",
        id=session.id,
        started_at=session.started_at,
        last_at=session.last_at,
        arrived_at=arrived_at,
        ended_at=session.ended_at,
    )


def _slot(session_id: str, slot: SlotRow) -> dict[str, Any]:
    values = _of("slot", session=session_id, name=slot.name, set_at=slot.set_at, expires_at=slot.expires_at)
    return {**values, "value": slot.value}


def message_line(row: MessageRow, anchors: list[Anchor]) -> dict[str, Any]:
    """The turn as a line of an export."""
    return _of(
        "message",
        id=row.id,
        caller_id=row.has_caller_id,
        session=row.session_id,
        role=row.role,
        name=row.name,
        content=row.content,
        at=row.at,
        timezone=row.timezone,
        recorded_at=row.recorded_at,
        act=row.act,
        language=row.language,
        importance=row.importance,
        reply_to=row.reply_to,
        agent=row.agent_id,
        task=row.task_id,
        app=row.app_id,
        doc_type=row.doc_type,
        expires_at=row.expires_at,
        archived_at=row.archived_at,
        in_window=row.in_window,
        redacted_at=row.redacted_at,
        retired_at=row.retired_at,
        metadata=dict(row.metadata),
        access_count=row.access_count or None,
        last_access_at=row.last_access_at,
        anchors=[
            _of(
                a.kind,
                text=a.text,
                start=a.evidence.start,
                end=a.evidence.end,
                reason=a.reason,
                importance=a.importance,
            )
            for a in anchors
        ],
    )


def _fact(row: FactRow) -> dict[str, Any]:
    fact = row.fact
    return _of(
        "fact",
        id=fact.id,
        session=fact.session_id,
        agent=fact.agent_id,
        task=fact.task_id,
        app=fact.app_id,
        subject=fact.subject,
        relation=fact.relation,
        object=fact.object,
        normalized=fact.object_normalized,
        text=fact.text,
        kind=fact.kind,
        is_positive=fact.is_positive,
        is_about_user=fact.is_about_user,
        modality=fact.modality,
        speaker=fact.speaker,
        asserted_by=fact.asserted_by,
        confidence=fact.confidence,
        importance=fact.importance,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        recorded_at=fact.recorded_at,
        retracted_at=fact.retracted_at,
        suppressed_at=fact.suppressed_at,
        expires_at=fact.expires_at,
        last_seen_at=fact.last_seen_at,
        last_access_at=row.last_access_at,
        support_count=fact.support_count,
        access_count=fact.access_count,
        superseded_by=fact.superseded_by,
        doc_type=fact.doc_type,
        tags=fact.tags,
        metadata=dict(fact.metadata),
        rule=fact.rule,
        evidence=[[e.message_id, e.start, e.end] for e in fact.evidence],
        sources=fact.source_message_ids,
        earlier=[
            {
                k: written(v)
                for k, v in (
                    ("known_until", e.known_until),
                    ("valid_from", e.valid_from),
                    ("valid_to", e.valid_to),
                    ("retracted_at", e.retracted_at),
                    ("suppressed_at", e.suppressed_at),
                    ("expires_at", e.expires_at),
                    ("superseded_by", e.superseded_by),
                )
                if v is not None
            }
            for e in row.earlier
        ],
    )


def _change(change: FactChange) -> dict[str, Any]:
    previous = None if change.previous is None else change.previous.id
    return _of(
        "change", op=change.op, fact=change.fact.id, previous=previous, at=change.at, reason=change.reason or None
    )
