"""Checked lines as the rows they stand for, and the same with personal data masked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ltm_core.store.base import MessageRow, SlotRow
from ltm_core.store.rows import FactRow, SessionRow
from ltm_core.types import Anchor, Evidence, Fact, FactChange, Session
from ltm_core.write.incoming.redact import redact, redact_value

if TYPE_CHECKING:
    from ltm_core.keep.lines import Line


def session_of(line: Line) -> SessionRow:
    """The session; a last turn before the first one is put right."""
    v = line.values
    return SessionRow(
        session=Session(
            id=v["id"],
            started_at=v["started_at"],
            last_at=max(v["last_at"], v["started_at"]),
            ended_at=v.get("ended_at"),
            message_count=0,
        ),
        arrived_at=v["arrived_at"],
    )


def slot_of(line: Line) -> tuple[str, SlotRow]:
    """(session id, slot)."""
    v = line.values
    return v["session"], SlotRow(name=v["name"], value=v["value"], set_at=v["set_at"], expires_at=v.get("expires_at"))


def message_of(line: Line) -> tuple[MessageRow, tuple[Anchor, ...]]:
    """The turn and its anchors."""
    v = line.values
    row = MessageRow(
        access_count=v.get("access_count", 0),
        last_access_at=v.get("last_access_at"),
        id=v["id"],
        has_caller_id=v["caller_id"],
        session_id=v["session"],
        role=v["role"],
        name=v.get("name"),
        content=v["content"],
        at=v["at"],
        timezone=v["timezone"],
        recorded_at=v["recorded_at"],
        act=v["act"],
        language=v["language"],
        importance=v["importance"],
        reply_to=v.get("reply_to"),
        agent_id=v.get("agent"),
        task_id=v.get("task"),
        app_id=v.get("app"),
        doc_type=v.get("doc_type"),
        expires_at=v.get("expires_at"),
        archived_at=v.get("archived_at"),
        in_window=v["in_window"],
        redacted_at=v.get("redacted_at"),
        retired_at=v.get("retired_at"),
        metadata=v.get("metadata", {}),
    )
    anchors = tuple(replace(a, evidence=replace(a.evidence, message_id=row.id)) for a in v.get("anchors", ()))
    return row, anchors


def fact_of(line: Line, *, user_id: str) -> FactRow:
    """The fact with its earlier times."""
    v = line.values
    fact = Fact(
        id=v["id"],
        user_id=user_id,
        session_id=v.get("session"),
        agent_id=v.get("agent"),
        task_id=v.get("task"),
        app_id=v.get("app"),
        subject=v["subject"],
        relation=v["relation"],
        object=v["object"],
        object_normalized=v["normalized"],
        text=v["text"],
        kind=v["kind"],
        is_positive=v["is_positive"],
        is_about_user=v["is_about_user"],
        modality=v["modality"],
        speaker=v.get("speaker"),
        asserted_by=v["asserted_by"],
        confidence=v["confidence"],
        importance=v["importance"],
        valid_from=v["valid_from"],
        valid_to=v.get("valid_to"),
        recorded_at=v["recorded_at"],
        retracted_at=v.get("retracted_at"),
        suppressed_at=v.get("suppressed_at"),
        expires_at=v.get("expires_at"),
        last_seen_at=v["last_seen_at"],
        support_count=v["support_count"],
        access_count=v["access_count"],
        superseded_by=v.get("superseded_by"),
        evidence=v.get("evidence", ()),
        source_message_ids=v.get("sources", ()),
        doc_type=v.get("doc_type"),
        tags=v.get("tags", ()),
        metadata=v.get("metadata", {}),
        rule=v["rule"],
    )
    earlier = {e.known_until: e for e in v.get("earlier", ())}
    return FactRow(
        fact=fact,
        earlier=tuple(earlier[t] for t in sorted(earlier)),
        last_access_at=v.get("last_access_at"),
    )


def change_of(line: Line, *, user_id: str) -> FactChange:
    """The change, its facts by id alone."""
    v = line.values

    def named(id: str) -> Fact:
        return Fact(
            id=id,
            user_id=user_id,
            subject="",
            relation="",
            object="",
            object_normalized="",
            text="",
            valid_from=v["at"],
            recorded_at=v["at"],
            last_seen_at=v["at"],
            is_current=False,
        )

    previous = v.get("previous")
    return FactChange(
        op=v["op"],
        fact=named(v["fact"]),
        previous=None if previous is None else named(previous),
        reason=v.get("reason", ""),
        at=v["at"],
    )


def masked_message(row: MessageRow, anchors: Sequence[Anchor]) -> tuple[MessageRow, tuple[Anchor, ...], bool]:
    """The turn and its anchors with personal data masked, and whether the words changed. Positions in changed
    words mean nothing any more: their anchors span the whole turn."""
    content = redact(row.content)[0]
    changed = content != row.content
    name = None if row.name is None else redact(row.name)[0]
    masked = tuple(replace(a, text=redact(a.text)[0]) for a in anchors)
    if changed:
        masked = tuple(replace(a, evidence=replace(a.evidence, start=0, end=len(content))) for a in masked)
    row = replace(row, content=content, name=name, metadata=redact_value(row.metadata), content_mac=b"")
    return row, masked, changed


def masked_fact(row: FactRow, lengths: Mapping[str, int]) -> FactRow:
    """The fact with personal data masked; ``lengths`` of the messages whose words were."""
    fact = row.fact
    evidence = (
        Evidence(message_id=e.message_id, start=0, end=lengths[e.message_id]) if e.message_id in lengths else e
        for e in fact.evidence
    )
    return replace(
        row,
        fact=replace(
            fact,
            subject=redact(fact.subject)[0],
            object=redact(fact.object)[0],
            object_normalized=redact(fact.object_normalized)[0],
            text=redact(fact.text)[0],
            evidence=tuple(dict.fromkeys(evidence)),
            tags=tuple(redact(t)[0] for t in fact.tags),
            metadata=redact_value(fact.metadata),
        ),
    )
