"""What was said, in which session, by whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from ltm_core.types.names import Act, Metadata, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose memory, and which labels inside it.

    ``user_id`` is the wall. The others are labels: on read ``None`` means any, a value means that one or
    unlabelled.
    """

    user_id: str
    session_id: str | None = None
    agent_id: str | None = None
    task_id: str | None = None
    app_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn as a host gives it. ``content`` may be empty; ``id`` makes writing it again harmless."""

    role: Role
    content: str
    at: datetime | str | None = None
    id: str | None = None
    name: str | None = None
    metadata: Metadata = field(default_factory=dict, hash=False)
    """Of this turn alone, added to what ``observe`` was given for all of them; facts do not get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """One turn as the store holds it."""

    id: str
    """The caller's id, or a UUIDv7 when none was given."""
    role: Role
    content: str
    at: datetime
    timezone: str
    session_id: str
    name: str | None = None
    act: Act = "other"
    reply_to: str | None = None
    doc_type: str | None = None
    agent_id: str | None = None
    task_id: str | None = None
    app_id: str | None = None
    metadata: Metadata = field(default_factory=dict)
    recorded_at: datetime
    redacted: bool = False
    retired: bool = False
    """A summary stands for it: it is no longer searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation of one user. ``started_at`` and ``last_at`` are the times of its turns, however late they
    arrived; ``ended_at`` is set by ``end_session`` or by the sweep of sessions in which nothing arrived."""

    id: str
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None
    message_count: int


__all__ = [
    "Message",
    "Scope",
    "Session",
    "StoredMessage",
]
