"""What a filter sees of a memory."""

from __future__ import annotations

from typing import Any

from ltm_core.store.base import MessageRow
from ltm_core.store.rows import SummaryRow
from ltm_core.types import Fact


def message_record(row: MessageRow) -> dict[str, Any]:
    """What a filter sees of a message; metadata never hides a field of ours."""
    return {
        **row.metadata,
        "id": row.id,
        "kind": "message",
        "role": row.role,
        "name": row.name,
        "doc_type": row.doc_type,
        "session_id": row.session_id,
        "agent_id": row.agent_id,
        "task_id": row.task_id,
        "app_id": row.app_id,
        "act": row.act,
        "language": row.language,
        "importance": row.importance,
        "at": row.at,
        "recorded_at": row.recorded_at,
        "expires_at": row.expires_at,
        "tags": (),
        "subject": None,
        "relation": None,
    }


def summary_record(row: SummaryRow) -> dict[str, Any]:
    """What a filter sees of a summary: it belongs to no session and has no metadata."""
    return {
        "id": row.id,
        "kind": "summary",
        "role": row.role,
        "name": None,
        "doc_type": None,
        "session_id": None,
        "agent_id": row.agent_id,
        "task_id": row.task_id,
        "app_id": row.app_id,
        "language": row.language,
        "importance": "low",
        "at": row.said_at,
        "recorded_at": row.recorded_at,
        "expires_at": row.expires_at,
        "tags": (),
        "subject": None,
        "relation": None,
    }


def fact_record(fact: Fact) -> dict[str, Any]:
    """What a filter sees of a fact; metadata never hides a field of ours."""
    names = (
        "id kind subject relation object doc_type session_id agent_id task_id app_id importance modality speaker "
        "asserted_by confidence is_positive valid_from valid_to recorded_at last_seen_at expires_at tags"
    )
    return {
        **fact.metadata,
        **{n: getattr(fact, n) for n in names.split()},
        "at": fact.valid_from,
        "role": "user",
    }


__all__ = ["fact_record", "message_record", "summary_record"]
