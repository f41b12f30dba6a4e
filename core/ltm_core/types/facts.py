"""What is true of the user, why it is believed, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ltm_core.types.names import (
    AnchorKind,
    AssertedBy,
    ChangeOp,
    FactKind,
    Importance,
    MessageState,
    Metadata,
    Modality,
    SpanState,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The words that support a fact: a character span in a stored message."""

    message_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One atomic statement with its validity in time.

    Current means: not superseded, not closed, not retracted, not suppressed, not expired, and already valid.
    """

    id: str
    """UUIDv7; export and copy keep it."""
    user_id: str
    session_id: str | None = None
    agent_id: str | None = None
    task_id: str | None = None
    app_id: str | None = None
    subject: str
    """``user``, ``assistant``, ``speaker:<name>``, or an entity such as ``sister`` or ``order:ORD-1``."""
    relation: str
    object: str
    object_normalized: str
    text: str
    """The statement in the words and language of its source."""
    kind: FactKind = "fact"
    is_positive: bool = True
    is_about_user: bool = True
    modality: Modality = "asserted"
    speaker: str | None = None
    asserted_by: AssertedBy = "user"
    confidence: float = 1.0
    importance: Importance = "medium"
    valid_from: datetime
    valid_to: datetime | None = None
    recorded_at: datetime
    retracted_at: datetime | None = None
    suppressed_at: datetime | None = None
    expires_at: datetime | None = None
    last_seen_at: datetime
    support_count: int = 1
    access_count: int = 0
    superseded_by: str | None = None
    evidence: tuple[Evidence, ...] = ()
    source_message_ids: tuple[str, ...] = ()
    doc_type: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    rule: str = ""
    """The rule or model that wrote it."""
    is_current: bool = True
    """As of the time the fact was read for (now, or ``as_of``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSpan:
    """One value of a slot and the time for which it held."""

    fact: Fact
    since: datetime
    until: datetime | None
    """None: no end is known."""
    state: SpanState
    """``holds``, or how it ended."""
    replaced_by: str | None = None
    """Id of the fact that took its place."""
    replacement: Fact | None = None
    """That fact, when it is still stored."""
    replaces: tuple[str, ...] = ()
    """Ids of the facts whose place it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotTimeline:
    """What one subject and relation were over time: preferences that changed, homes, jobs."""

    subject: str
    relation: str
    spans: tuple[FactSpan, ...]
    """In the order in which they began."""

    @property
    def changed(self) -> bool:
        """Whether any of it is over, taken back or not to be brought up."""
        return any(s.state != "holds" for s in self.spans)

    def text(self, language: str = "en", timezone: str | None = None) -> str:
        """One line per span with its days in ``timezone`` (default UTC), in English or Chinese."""
        from ltm_core.recall.drift import told

        return told(self, language=language, timezone=timezone)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedFact:
    """A fact that a walk from one person or thing comes to."""

    fact: Fact
    distance: int
    """Steps from the start: 1 for a fact that names it."""
    via: tuple[str, ...]
    """Ids of the facts that lead here, this one last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An event that made something worth keeping, with the words that show it and the rule that fired."""

    kind: AnchorKind
    text: str
    """What is kept: the statement, the identifier, the confirmed solution. Of a reference to an earlier conversation
    its words and, behind a dash, the identifier or the sentence they mean, where one is known: "the quote from last
    week — Q-2025-118"."""
    evidence: Evidence
    reason: str
    importance: Importance = "medium"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """One decision about a fact. ``previous`` is the fact that was closed, retracted or reinforced."""

    op: ChangeOp
    fact: Fact
    previous: Fact | None = None
    reason: str = ""
    at: datetime
    cursor: str = ""
    """Position in the feed of ``changes(since=…)``; empty when it was not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStatus:
    """What became of one message given to ``observe``."""

    id: str
    status: MessageState


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one call of ``observe`` did, in the order of the messages."""

    messages: tuple[MessageStatus, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    changes: tuple[FactChange, ...] = ()
    skipped: tuple[str, ...] = ()
    """Why statements were not kept as facts: ids and rules, never the words."""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that were added or reinforced."""
        return tuple(c.fact for c in self.changes if c.op in ("add", "supersede", "reinforce"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is known of one user at this moment."""

    user_id: str
    timezone: str | None
    paused: bool
    retention: str
    """Class of the user: "ordinary", "deep" or one of the configuration; see ``set_retention``."""
    about_user: Mapping[str, tuple[Fact, ...]]
    """Current facts about the user, by relation, oldest first."""
    about_others: Mapping[str, tuple[Fact, ...]]
    """Current facts about other people and things, by subject."""
    assistant: tuple[Fact, ...]
    """How the assistant is called and how it is to speak."""


__all__ = [
    "Anchor",
    "Evidence",
    "Fact",
    "FactChange",
    "FactSpan",
    "MessageStatus",
    "Observation",
    "Profile",
    "RelatedFact",
    "SlotTimeline",
]
