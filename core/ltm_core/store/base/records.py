"""What a store keeps, as plain values, and the small numbers by which it names kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ltm_core.types import Act, Importance, Metadata, Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


OwnerKind: TypeAlias = Literal["message", "fact", "summary"]
OWNER_CODES: Mapping[OwnerKind, int] = {"message": 0, "fact": 1, "summary": 2}
ROLE_CODES: Mapping[Role, int] = {"user": 0, "assistant": 1, "system": 2, "tool": 3}
ACT_CODES: Mapping[Act, int] = {"statement": 0, "question": 1, "request": 2, "other": 3}
IMPORTANCE_CODES: Mapping[Importance, int] = {"low": 0, "medium": 1, "high": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class UserState:
    """The row of one user."""

    user_id: str
    revision: int
    timezone: str | None = None
    paused_at: datetime | None = None
    retention: str | None = None
    """Name of the user's retention class; None is the ordinary one."""
    consolidated_at: datetime | None = None
    """When the user's turns were last looked at for summaries."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class MessageRow:
    """One stored turn. ``item`` is 0 until it is written; ``sequence`` orders equal instants."""

    item: int = 0
    id: str
    has_caller_id: bool = False
    session_id: str
    sequence: int = 0
    role: Role
    name: str | None = None
    content: str
    at: datetime
    timezone: str = "UTC"
    recorded_at: datetime
    act: Act = "other"
    language: str = "other"
    importance: Importance = "low"
    reply_to: str | None = None
    agent_id: str | None = None
    task_id: str | None = None
    app_id: str | None = None
    doc_type: str | None = None
    expires_at: datetime | None = None
    archived_at: datetime | None = None
    in_window: bool = True
    """False once the session's window was cleared; the turn stays in episodic memory."""
    redacted_at: datetime | None = None
    retired_at: datetime | None = None
    """Set once a summary stands for the turn: it is kept and read, but no longer searched."""
    metadata: Metadata = field(default_factory=dict)
    access_count: int = 0
    """How often it was recalled, as counted by `Writer.touch_messages`; other writes leave it as it is."""
    last_access_at: datetime | None = None
    content_mac: bytes = field(default=b"", compare=False, repr=False)
    """`Reader.content_mac` of the words as they were said; set by the store when empty. A turn whose words were
    overwritten keeps it, so that it is recognised when it is told again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMark:
    """One place in a session's order, without its words: a stored turn, or one that was erased (``item`` 0)."""

    item: int
    role: Role
    content_mac: bytes
    has_caller_id: bool = False
    is_cold: bool = False
    """Whether a file outside the store holds its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWrite:
    """One indexed unit of an owner: its span, its terms with counts, its vector when there is one."""

    start: int
    end: int
    terms: Mapping[str, int]
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRow:
    """A short-lived value of one session."""

    name: str
    value: Any
    set_at: datetime
    expires_at: datetime | None


Namespace: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRow:
    """One document of a user: application data by namespace and key, no memory. ``item`` is 0 until written."""

    item: int = 0
    namespace: Namespace
    key: str
    value: Metadata
    created_at: datetime
    updated_at: datetime
    ttl: timedelta | None = None
    """How long it lives after it was written or, where a read says so, read."""
    expires_at: datetime | None = None
    fields: tuple[str, ...] = ()
    """Paths of the value whose texts are indexed; empty when none are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentUnit:
    """One indexed span of a document's texts, with its vector when there is one."""

    start: int
    end: int
    vector: NDArray[np.float32] | None = None


CONSOLIDATE_JOB = "consolidate"
"""Turns of a user are due for summaries; while it waits or is worked off, the user is not looked at again."""
LogKind: TypeAlias = Literal["audit", "changes"]
"""What grows with every write: the audit log, and the feed of changes."""
DROPPED = "dropped"
"""The kind of tombstone of a turn that a policy dropped; what somebody asked to forget has others."""
CHANGES_DROPPED = "changes_dropped"
"""The setting that says up to which place the feed was dropped."""
SCRUB_JOB = "scrub"
"""Kind of the job by which freed bytes are overwritten."""
RESTORE_JOB = "restore_turns"
"""Left by a writer that removed a summary and did not bring back the retired turns it stood for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work to be done later, as a row. ``payload`` is small JSON without memory text (ids and numbers)."""

    id: int = 0
    kind: str
    user_id: str | None = None
    payload: Metadata = field(default_factory=dict)
    attempts: int = 0
    run_after: datetime
    status: Literal["ready", "dead"] = "ready"
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """One user's chunks as parallel arrays of length n, sorted by item."""

    item: NDArray[np.int64]
    owner: NDArray[np.int64]
    """Item of the message or fact the chunk belongs to."""
    kind: NDArray[np.int8]
    """`OWNER_CODES`."""
    at: NDArray[np.int64]
    """Event time, microseconds since 1970 UTC."""
    session: NDArray[np.int64]
    """Keyed hash of the session id; 0 when unlabelled. `Reader.label` gives the hash of a label."""
    agent: NDArray[np.int64]
    task: NDArray[np.int64]
    app: NDArray[np.int64]
    role: NDArray[np.int8]
    act: NDArray[np.int8]
    importance: NDArray[np.int8]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    length: NDArray[np.float32]
    """Number of terms (with repeats), for BM25."""
    expires: NDArray[np.int64]
    """Microseconds since 1970 UTC; the largest int64 when it does not expire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSets:
    """The set of vectors that is searched, and the one beside it while the embedder changes."""

    present: str | None
    """Identity of the embedder whose vectors are searched."""
    second: str | None = None
    switched: bool = False
    """True when the second set is the former one, kept for a roll-back."""
    done: int = 0
    """Chunks and units of documents that the second set has."""
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFaults:
    """In what the derived rows of one user differ from the truth; all empty when they agree."""

    orphans: Mapping[str, int] = field(default_factory=dict)
    """Rows per table that belong to nothing."""
    owners: tuple[tuple[OwnerKind, int], ...] = ()
    """Messages and facts (items) whose chunks, postings or vectors are not whole."""
    counters: tuple[str, ...] = ()
    """Stored numbers that are not what they count."""

    def __bool__(self) -> bool:
        return bool(self.orphans or self.owners or self.counters)


__all__ = [
    "ACT_CODES",
    "CHANGES_DROPPED",
    "CONSOLIDATE_JOB",
    "DROPPED",
    "IMPORTANCE_CODES",
    "OWNER_CODES",
    "RESTORE_JOB",
    "ROLE_CODES",
    "SCRUB_JOB",
    "ChunkWrite",
    "DocumentRow",
    "DocumentUnit",
    "IndexFaults",
    "Job",
    "LogKind",
    "MessageRow",
    "Namespace",
    "OwnerKind",
    "Rows",
    "SlotRow",
    "TurnMark",
    "UserState",
    "VectorSets",
]
