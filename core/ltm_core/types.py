"""The values that cross the product's door: frozen, keyword-only, framework-free.

Times are aware UTC datetimes. ``similarity`` is a cosine in [0, 1], higher is nearer, and is what floors
and thresholds use; ``score`` only orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
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
class CalibrationRow:
    """What a threshold does to labelled pairs; all but the counts in [0, 1]."""

    threshold: float
    precision: float
    """Share of the pairs that pass which are related; 1 when none passes."""
    recall: float
    """Share of the related pairs that pass."""
    f1: float
    false_positives: float
    """Share of the unrelated pairs that pass."""
    passed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The floor that labelled pairs call for, and what it does to them."""

    embedder: str
    rule: str
    pairs: int
    related: int
    similarity: float
    """Cosine from which a memory counts as about the question without a shared word."""
    mixed_similarity: float
    """Cosine from which it does together with ``mixed_coverage`` of the question's words."""
    coverage: float
    mixed_coverage: float
    thresholds: tuple[CalibrationRow, ...] = ()
    """Cosine alone, threshold by threshold, the chosen one among them."""
    before: CalibrationRow | None = None
    """The whole packaged floor, with words."""
    after: CalibrationRow | None = None
    """The whole new floor, with words."""
    written: bool = False


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
class AuditEntry:
    """One row of the audit log: ids and counts, never the words of a memory."""

    at: datetime
    action: str
    actor: str | None = None
    """As given; of a user who was erased its keyed hash."""
    reason: str | None = None
    user_id: str | None = None
    """None for the store's own acts, and for a user who was erased since."""
    user_id_hmac: str = ""
    """Keyed hash of the user's id; empty for the store's own acts."""
    target: str | None = None
    """Id of what was acted on: a fact, a message, a receipt."""
    counts: Mapping[str, int] = field(default_factory=dict)
    cursor: str = ""
    """Position in the log of ``audit(since=…)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedLine:
    """One line of an import that was not taken: where and why, never what it said."""

    line: int
    """Counted from 1; the header is line 1."""
    kind: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What one call of ``import_user`` did."""

    imported: Mapping[str, int]
    """Rows written, per kind (user, session, message, slot, fact, change, document)."""
    known: Mapping[str, int]
    """Rows the store had already, per kind; they were left as they are."""
    refused: Mapping[str, int]
    """Lines that were not taken, per reason."""
    lines: tuple[RefusedLine, ...]
    """The first 1000 of them."""
    complete: bool
    """False when the file was cut off: it may be imported again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport:
    """Where a backup is, as of when, and how large."""

    path: str
    at: datetime
    bytes: int
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """What was restored, and what of it was erased again because the user had erased it since."""

    location: str
    at: datetime
    erasures_from: Literal["store", "list", "none"]
    """Who knew of the later erasures: the store that gave way, or the list beside the backup."""
    users: int
    """In the restored store."""
    counts: Mapping[str, int]
    """Erased again: users, messages_deleted, messages_redacted, facts, sessions, slots, documents_deleted,
    documents_redacted."""
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
class HealthProblem:
    """One disagreement inside a store, named by ids and numbers."""

    kind: Literal["file", "orphans", "index", "counter", "several_current"]
    """``file``: the engine finds its file damaged; ``orphans``: derived rows that belong to nothing; ``index``: a
    message or fact that is not found as its words say; ``counter``: a stored number is wrong;
    ``several_current``: two values of a relation that takes one."""
    user_id: str | None = None
    count: int = 1
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """What ``doctor`` found and mended."""

    at: datetime
    users: int
    problems: tuple[HealthProblem, ...]
    """What is wrong now: after the repair, if there was one."""
    repaired: int = 0
    seconds: float = 0.0

    @property
    def healthy(self) -> bool:
        return not self.problems


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
    documents: int = 0
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
class Document:
    """Application data of one user by namespace and key. It is no memory: no context and no fact ever shows it."""

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    similarity: float | None = None
    """To the query it was found by: the cosine of its nearest text, or, where no vector can be compared, the
    share of the query's terms it holds. None when nothing of it is indexed, or there was no query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWrite:
    """One document to put; ``value`` None deletes it. See `LongTermMemory.put_document`."""

    namespace: Sequence[str]
    key: str
    value: Mapping[str, Any] | None
    index: bool | Sequence[str] = True
    ttl: float | timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetPreview:
    """What ``forget_matching(dry_run=True)`` would erase."""

    facts: tuple[Fact, ...]
    messages: tuple[str, ...]
    documents: tuple[tuple[tuple[str, ...], str], ...] = ()
    """(namespace, key) of documents in which the words would be overwritten."""


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
