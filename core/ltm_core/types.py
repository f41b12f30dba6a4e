"""The values that cross the product's door: frozen, keyword-only, framework-free.

Times are aware UTC datetimes. ``similarity`` is a cosine in [0, 1], higher is nearer, and is what floors
and thresholds use; ``score`` only orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, TypeAlias, TypeVar

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
Act: TypeAlias = Literal["statement", "question", "request", "other"]
Tier: TypeAlias = Literal["working", "semantic", "episodic"]
Importance: TypeAlias = Literal["high", "medium", "low"]
FactKind: TypeAlias = Literal["fact", "preference", "solution", "procedure", "status"]
Modality: TypeAlias = Literal["asserted", "habitual", "temporary", "past", "planned"]
AssertedBy: TypeAlias = Literal["user", "app", "assistant_confirmed"]
AnchorKind: TypeAlias = Literal[
    "explicit_request",
    "identifier",
    "confirmation",
    "cross_session_reference",
    "stated_fact",
    "scheduled_archive",
]
MessageState: TypeAlias = Literal["stored", "duplicate", "edited", "erased", "queued"]
ChangeOp: TypeAlias = Literal[
    "add", "reinforce", "supersede", "close", "retract", "suppress", "unsuppress", "erase", "skip", "restore"
]
Metadata: TypeAlias = Mapping[str, Any]
TokenCounter: TypeAlias = Callable[[str], int]

T = TypeVar("T")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation of one user. ``started_at`` and ``last_at`` are the times of its turns, however late they
    arrived; ``ended_at`` is set by ``end_session`` or by the sweep of sessions in which nothing arrived."""

    id: str
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None
    message_count: int


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
class Anchor:
    """An event that made something worth keeping, with the words that show it and the rule that fired."""

    kind: AnchorKind
    text: str
    """What is kept: the statement, the identifier, the confirmed solution."""
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
class ContextItem:
    """One thing recalled, with the reasons for it."""

    text: str
    tier: Tier
    at: datetime
    score: float = 0.0
    similarity: float | None = None
    """Cosine in [0, 1] to the query; None when no vector was compared."""
    signals: Mapping[str, float] = field(default_factory=dict)
    source_id: str = ""
    """Id of the fact (semantic) or of the message (working, episodic)."""
    source_message_ids: tuple[str, ...] = ()
    session_id: str | None = None
    role: Role | None = None
    speaker: str | None = None
    is_current: bool = True
    reasons: tuple[str, ...] = ()


Recalled: TypeAlias = ContextItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """One candidate that is not in the context, and why."""

    source_id: str
    tier: Tier
    reason: str
    tokens: int = 0
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What goes into the next prompt. ``token_count <= max_tokens`` by the counter in use."""

    text: str
    token_count: int
    max_tokens: int
    working: tuple[ContextItem, ...] = ()
    semantic: tuple[ContextItem, ...] = ()
    episodic: tuple[ContextItem, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    messages: tuple[Message, ...] = ()
    """With ``format="messages"``: one leading system message of memories, then the working turns."""
    language: str = "en"
    query: str = ""
    notes: tuple[str, ...] = ()
    """What the recall did: ranges read from the question, legs that were skipped, tokens per tier."""

    @property
    def items(self) -> tuple[ContextItem, ...]:
        return self.working + self.semantic + self.episodic

    def __bool__(self) -> bool:
        return bool(self.text)

    def explain(self) -> str:
        """A readable account: every item with its signals and reasons, every drop with its cause."""
        from ltm_core.recall.explain import explain

        return explain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof of an erasure: rows removed or overwritten per table, and what the byte scan found."""

    id: str
    user_id_hmac: str
    what: str
    at: datetime
    counts: Mapping[str, int]
    bytes_clean: bool
    files_scanned: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What one run of ``maintain`` did, or would do."""

    at: datetime
    dry_run: bool
    sessions_closed: int = 0
    slots_expired: int = 0
    items_expired: int = 0
    archived: int = 0
    jobs_done: int = 0
    embedded: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts and sizes of one user, or of the store when no user was named."""

    users: int
    sessions: int
    messages: int
    facts: int
    current_facts: int
    chunks: int
    vectors: int
    terms: int
    jobs: int
    bytes_on_disk: int
    embedder: str
    schema_version: int
    durability: str
    dead_jobs: int = 0
    """Of ``jobs``, those that failed too often and wait for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkReport:
    """What one call of ``work`` did with the queue."""

    jobs_done: int = 0
    jobs_retried: int = 0
    """Failed, and due again later."""
    jobs_dead: int = 0
    """Failed for the last time, or once too often: dead letters."""
    changes: Mapping[str, int] = field(default_factory=dict)
    """What became of the model's facts, by `FactChange.op`."""
    rejected: Mapping[str, int] = field(default_factory=dict)
    """The model's facts that were refused, by reason; see ``write.supported`` and ``write.refine``."""
    stopped: bool = False
    """The model could not be reached: the rest of the queue waits."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A job that failed too often. No words of any memory."""

    id: int
    kind: str
    user_id: str | None
    attempts: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is known of one user at this moment."""

    user_id: str
    timezone: str | None
    paused: bool
    about_user: Mapping[str, tuple[Fact, ...]]
    """Current facts about the user, by relation, oldest first."""
    about_others: Mapping[str, tuple[Fact, ...]]
    """Current facts about other people and things, by subject."""
    assistant: tuple[Fact, ...]
    """How the assistant is called and how it is to speak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetPreview:
    """What ``forget_matching(dry_run=True)`` would erase."""

    facts: tuple[Fact, ...]
    messages: tuple[str, ...]


class Page(Generic[T]):
    """A page of results that iterates over all of them.

    ``items`` is this page and ``next_cursor`` is None on the last one. Iterating fetches the following pages
    when they are reached. ``len`` counts this page only.
    """

    __slots__ = ("_fetch", "items", "next_cursor")

    def __init__(
        self,
        items: tuple[T, ...],
        next_cursor: str | None = None,
        fetch: Callable[[str], Page[T]] | None = None,
    ) -> None:
        self.items = items
        self.next_cursor = next_cursor
        self._fetch = fetch

    def __iter__(self) -> Iterator[T]:
        page: Page[T] = self
        while True:
            yield from page.items
            if page.next_cursor is None or page._fetch is None:
                return
            page = page._fetch(page.next_cursor)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return bool(self.items)

    def __getitem__(self, index: int) -> T:
        return self.items[index]

    def __repr__(self) -> str:
        return f"Page({len(self.items)} items, next_cursor={self.next_cursor!r})"
