"""What a store must be able to do. SQLite and PostgreSQL implement the same few protocols.

A store knows users, rows and transactions; it decides nothing. One `Reader` sees one user at one moment, one
`Writer` changes one user in one all-or-nothing transaction, and `Operations` is the only door that looks across
users (sweeps, jobs, statistics): it never returns the content of a memory.

Items: everything of one user (messages, facts, chunks, …) draws its number from one per-user counter, so an
item number is unique inside the user, grows with insertion and is never reused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from ltm_core.store.rows import AuditRow, EarlierTimes, FactRow, SessionRow
from ltm_core.types import (
    Act,
    Anchor,
    Fact,
    FactChange,
    Importance,
    Metadata,
    Receipt,
    Role,
    Session,
    Stats,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OwnerKind: TypeAlias = Literal["message", "fact"]
OWNER_CODES: Mapping[OwnerKind, int] = {"message": 0, "fact": 1}
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
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
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
    metadata: Metadata = field(default_factory=dict)
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


class Snapshot(Protocol):
    """One user's searchable state at one revision; cached by the store, never stale at the moment it is taken."""

    @property
    def revision(self) -> int: ...
    @property
    def rows(self) -> Rows: ...
    @property
    def average_length(self) -> float: ...

    def cosine(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosine of every row to the unit vector ``query``, in [-1, 1]; NaN where no vector was compared."""
        ...

    def postings(self, terms: Sequence[str]) -> list[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """Per term, in order: the indices into `rows` that hold it, and how often. Empty arrays if none."""
        ...


class Reader(Protocol):
    """One user's data at one moment. Unknown users read as empty."""

    @property
    def user_id(self) -> str: ...

    def user(self) -> UserState | None: ...
    def label(self, value: str | None) -> int:
        """The keyed 63-bit hash by which `Rows` names a session, agent, task or app; 0 for None."""
        ...

    # messages -----------------------------------------------------------------------------------------
    def message(self, id: str, *, session_id: str | None = None) -> MessageRow | None:
        """By public id; without a session the newest one of that id."""
        ...

    def messages(
        self,
        *,
        session_id: str | None = None,
        items: Sequence[int] | None = None,
        ids: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        roles: Sequence[Role] | None = None,
        in_window: bool | None = None,
        doc_types: Sequence[str] | None = None,
        archived: bool | None = None,
        expired_by: datetime | None = None,
        after_item: int | None = None,
        after: tuple[int, int] | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> list[MessageRow]:
        """Matching turns ordered by (at, sequence); half-open [since, until). With ``after_item`` (0 to begin)
        only later items, ordered by item: the way to page through all. ``after`` is a place (microseconds,
        sequence) in the order of time: only what comes later, or before it with ``newest_first``."""
        ...

    def marks(self, session_id: str, *, roles: Sequence[Role] | None = None, limit: int) -> list[TurnMark]:
        """The last places of the session in order, those of erased turns (`Writer.add_ghosts`) among them."""
        ...

    def content_mac(self, content: str) -> bytes:
        """The keyed hash by which words are recognised without being kept."""
        ...

    def neighbours(self, item: int, *, before: int = 1, after: int = 1) -> list[MessageRow]:
        """The turns of the same session just before and after, in order, without the turn itself."""
        ...

    # sessions and slots -------------------------------------------------------------------------------
    def session(self, session_id: str) -> Session | None: ...
    def sessions(self, *, after: str | None = None, limit: int = 100) -> list[Session]:
        """Newest last activity first; ``after`` is an opaque cursor: the id of the last session seen."""
        ...

    def slots(self, session_id: str, *, now: datetime) -> list[SlotRow]: ...

    # facts --------------------------------------------------------------------------------------------
    def fact(self, id: str) -> Fact | None: ...
    def facts(
        self,
        *,
        items: Sequence[int] | None = None,
        ids: Sequence[str] | None = None,
        subject: str | None = None,
        subjects: Sequence[str] | None = None,
        relation: str | None = None,
        slots: Sequence[tuple[str, str]] | None = None,
        objects: Sequence[str] | None = None,
        current_at: datetime | None = None,
        past_at: datetime | None = None,
        waiting_at: datetime | None = None,
        known_at: datetime | None = None,
        evidence_of: Sequence[str] | None = None,
        after_item: int = 0,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> list[Fact]:
        """Matching facts ordered by item (insertion), with ``newest_first`` backwards. A fact whose successor in
        its slot expired holds again, and reads so before the sweep too. ``subjects`` keeps the facts about any of
        them, exact after `fold`, as ``subject`` does for one. ``objects`` are normalised objects, exact after
        `fold`. ``slots`` are (subject, relation) pairs, exact after `fold`. ``current_at`` keeps only the facts
        that hold then, ``past_at`` only those that do not, ``waiting_at`` only those that would but for being
        suppressed or not valid yet; ``known_at`` sees the store as it was recorded then; ``evidence_of`` keeps
        those that some of these message ids support. ``is_current`` is as of ``current_at``, else now."""
        ...

    def fact_item(self, id: str) -> int | None: ...
    def fact_vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The stored unit vectors of these facts; those without one are left out."""
        ...

    def superseded_by(self, fact_id: str) -> list[Fact]:
        """The facts whose ``superseded_by`` is this one, oldest first."""
        ...

    # documents ----------------------------------------------------------------------------------------
    def document(self, namespace: Namespace, key: str) -> DocumentRow | None:
        """Also one whose time is over, until it is swept: the caller knows what "now" is."""
        ...

    def documents(
        self,
        *,
        namespaces: Sequence[Namespace] | None = None,
        items: Sequence[int] | None = None,
        alive_at: datetime | None = None,
        after_item: int = 0,
        limit: int | None = None,
    ) -> list[DocumentRow]:
        """Matching documents ordered by item (insertion; a replaced value keeps its place), with ``alive_at``
        only those whose time is not over then."""
        ...

    def document_items(
        self, *, namespaces: Sequence[Namespace] | None = None, alive_at: datetime, limit: int | None = None
    ) -> list[int]:
        """The items of `documents`, without reading any."""
        ...

    def document_namespaces(self, *, alive_at: datetime) -> list[Namespace]:
        """Those that hold a document, in no particular order."""
        ...

    def document_vectors(self, items: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """(document item per unit, unit vectors as rows) of these documents, by the store's present embedder."""
        ...

    # the rest -----------------------------------------------------------------------------------------
    def anchors(self, message_ids: Sequence[str] | None = None) -> list[Anchor]: ...
    def changes(self, *, after: int = 0, limit: int = 100) -> list[FactChange]:
        """The user's change feed in order; ``after`` is the number in ``FactChange.cursor``."""
        ...

    def is_tombstoned(self, kind: str, value: str) -> datetime | None:
        """When ``value`` (a message id, a content) was erased, or None."""
        ...

    def erased_before(self) -> datetime | None:
        """The erase watermark: what was said up to then is never written again."""
        ...

    def erasures(self) -> tuple[int, datetime | None]:
        """How often something of the user was erased for good, and when last; outlives the user's rows."""
        ...

    def snapshot(self) -> Snapshot: ...
    def index_faults(self) -> IndexFaults:
        """Whether index and counters agree with messages and facts; reads all of the user's rows."""
        ...

    def counts(self) -> dict[str, int]: ...


class RowReader(Reader, Protocol):
    """A reader that also shows rows as they are written: for export, import and the audit log."""

    def session_rows(self, *, after_item: int = 0, limit: int) -> list[SessionRow]:
        """The user's sessions ordered by item."""
        ...

    def message_anchors(self, items: Sequence[int]) -> dict[int, list[Anchor]]:
        """The anchors of these turns, in order of insertion; turns without one are left out."""
        ...

    def fact_rows(self, *, after_item: int = 0, limit: int) -> list[FactRow]:
        """Facts ordered by item, with the times that are written (what a successor's end changes is not applied)
        and the earlier ones."""
        ...

    def audit_rows(self, *, after: int = 0, limit: int) -> list[AuditRow]:
        """The user's rows of the audit log after a number, in order."""
        ...


class Writer(RowReader, Protocol):
    """Changes to one user in one transaction; reads see them. Each call names what is true afterwards."""

    def ensure_user(self, *, now: datetime, timezone: str | None = None) -> UserState: ...
    def set_user(
        self, *, timezone: str | None = None, paused_at: datetime | Literal["keep"] | None = "keep"
    ) -> None: ...
    def touch_session(self, session_id: str, *, at: datetime, now: datetime) -> Session:
        """The session is open; it spans ``at`` (event time) and something arrived in it at ``now``."""
        ...

    def end_session(self, session_id: str, *, now: datetime) -> bool:
        """The session is ended and its window and slots are empty; False if it was not open."""
        ...

    def delete_session(self, session_id: str) -> bool:
        """The session's row and slots are gone; its turns are deleted before. False when there was none."""
        ...

    def clear_window(self, session_id: str) -> int: ...

    def add_message(self, row: MessageRow) -> MessageRow:
        """Stored with a new item and the next sequence."""
        ...

    def update_message(self, row: MessageRow) -> None:
        """Every field but item, session and sequence is replaced."""
        ...

    def delete_messages(self, items: Sequence[int]) -> int:
        """Gone with their chunks, vectors, postings, anchors and evidence rows."""
        ...

    def set_chunks(
        self,
        owner: OwnerKind,
        item: int,
        chunks: Sequence[ChunkWrite],
        *,
        at: datetime,
        session_id: str | None = None,
        agent_id: str | None = None,
        task_id: str | None = None,
        app_id: str | None = None,
        role: Role = "user",
        act: Act = "statement",
        importance: Importance = "low",
        expires_at: datetime | None = None,
    ) -> None:
        """The owner is indexed by exactly these chunks; earlier ones, with vectors and postings, are gone."""
        ...

    def keep_chunks(
        self, owner: OwnerKind, item: int, *, importance: Importance, expires_at: datetime | None
    ) -> None:
        """The owner's chunks stay, with this importance and this end."""
        ...

    def set_vectors(self, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        """Chunk items get their vectors (used when the embedder was down at writing)."""
        ...

    def chunks_without_vector(self, *, limit: int) -> list[tuple[int, OwnerKind, int, int, int]]:
        """(chunk item, owner kind, owner item, start, end), oldest first."""
        ...

    def add_fact(self, fact: Fact) -> int:
        """Stored with its evidence; returns its item."""
        ...

    def update_fact(self, fact: Fact, *, now: datetime | None = None) -> None:
        """Every field and the evidence are replaced; unknown ids raise NotFoundError. ``known_at`` before ``now``
        (else the latest ``now`` of this transaction) still sees the earlier times of the fact."""
        ...

    def delete_facts(self, ids: Sequence[str]) -> int: ...
    def touch_facts(self, ids: Sequence[str], *, now: datetime) -> None:
        """access_count + 1; does not count as a change of the user's revision."""
        ...

    def add_anchor(self, anchor: Anchor, *, session_id: str, at: datetime) -> None: ...
    def drop_anchors(self, message_item: int) -> int:
        """The message has no anchors any more."""
        ...

    def log_change(self, change: FactChange) -> FactChange:
        """Appended to the feed; the returned change carries its cursor."""
        ...

    @property
    def logged(self) -> Sequence[FactChange]:
        """What this transaction appended to the feed so far, in order."""
        ...

    def set_slot(self, session_id: str, slot: SlotRow) -> None: ...
    def delete_slot(self, session_id: str, name: str) -> bool: ...
    def delete_slots(self, matches: Callable[[SlotRow], bool]) -> int:
        """The slots of any session for which ``matches`` says so are gone; returns how many."""
        ...

    def put_document(self, row: DocumentRow, units: Sequence[DocumentUnit] = ()) -> DocumentRow:
        """The namespace holds this value under the key, indexed by exactly these units; ``item`` and
        ``created_at`` of a present one are kept. Returns the row as it is stored."""
        ...

    def delete_documents(self, items: Sequence[int]) -> int:
        """Gone with their units."""
        ...

    def touch_documents(self, items: Sequence[int], *, now: datetime) -> None:
        """Those with a time to live have it again in full; does not count as a change of the user's revision."""
        ...

    def units_without_vector(self, *, limit: int) -> list[tuple[int, int, int, int]]:
        """(unit, document item, start, end) of documents, oldest first."""
        ...

    def set_unit_vectors(self, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        """Units of documents get their vectors; one that is gone meanwhile is passed over."""
        ...

    def drop_orphans(self) -> int:
        """No derived row belongs to nothing, and every counter is right; returns the rows removed. Owners whose
        index is not whole are left to `set_chunks`."""
        ...

    def add_tombstones(self, entries: Sequence[tuple[str, str]], *, now: datetime) -> None:
        """(kind, value) pairs; only keyed hashes are kept. Counts as an erasure, as `set_erased_before` does."""
        ...

    def add_ghosts(self, rows: Sequence[MessageRow]) -> None:
        """The places of these turns in their sessions stay known after the turns are gone (`Reader.marks`), as
        keyed hashes; they outlive the user's rows."""
        ...

    def set_erased_before(self, at: datetime) -> None: ...
    def add_job(self, job: Job) -> None: ...
    def finish_claimed(self, id: int, *, attempts: int) -> bool:
        """The user's job is done, together with what this transaction writes. False, and nothing is changed, when
        the claim was lost: the lease ran out and another took it, or the job was erased with the user."""
        ...

    def audit(
        self,
        action: str,
        *,
        now: datetime,
        actor: str | None,
        target: str | None = None,
        counts: Mapping[str, int] | None = None,
        reason: str | None = None,
    ) -> None:
        """One row in the log; never content, and no change of the user's revision. Of a user without rows (erased
        in this transaction) the row stays: it holds the keyed hash of the actor, and no reason."""
        ...

    def add_session(self, row: SessionRow) -> bool:
        """The session is stored with its times and no turns yet; False when it was known, and nothing changes."""
        ...

    def set_fact_past(
        self, fact_id: str, earlier: Sequence[EarlierTimes], *, last_access_at: datetime | None
    ) -> None:
        """These are the fact's earlier times for ``known_at``, and when it was last recalled."""
        ...

    def erase_user(self, *, now: datetime) -> dict[str, int]:
        """Every row of the user is gone, in every table; tombstones and the watermark stay, keyed. Returns the
        rows removed per table. The bytes are gone after `Operations.scrub`."""
        ...


class Operations(Protocol):
    """Across users, for maintenance. Short transactions of its own; never returns memory content."""

    def close_idle_sessions(self, *, idle_before: datetime, now: datetime, limit: int) -> list[tuple[str, str]]:
        """(user id, session id) of up to ``limit`` open sessions in which nothing arrived since, whatever the
        dates of their turns; each is now ended."""
        ...

    def expire(self, *, now: datetime, limit: int) -> dict[str, int]:
        """Slots, messages, facts and documents past their time are gone; counts per kind. What a fact had replaced
        in its slot gets the end that the fact had: it holds again when nothing replaced the fact."""
        ...

    def preview(self, *, idle_before: datetime, now: datetime) -> dict[str, int]:
        """What the calls above would close and remove now: sessions, slots, messages, facts, documents; due jobs;
        and "unembedded", the chunks that would be left without a vector of the present embedder."""
        ...

    def due_jobs(self, *, now: datetime, kinds: Sequence[str] | None = None, limit: int = 100) -> list[Job]: ...
    def add_job(self, job: Job) -> None: ...
    def finish_job(self, id: int) -> None: ...
    def fail_job(self, id: int, *, error: str, retry_at: datetime | None) -> None:
        """Without a retry time the job becomes a dead letter."""
        ...

    def claim_jobs(self, *, now: datetime, kinds: Sequence[str], lease_until: datetime, limit: int) -> list[Job]:
        """Up to ``limit`` due jobs, oldest first, which no other call gets before ``lease_until``. ``attempts``
        counts this claim and is the token by which it is ended. Jobs of paused users wait."""
        ...

    def end_claim(self, id: int, *, attempts: int, retry_at: datetime | None, error: str | None) -> bool:
        """The claimed job is due again at ``retry_at``; without one it becomes a dead letter. Without an error the
        claim does not count as an attempt. False when the claim was lost."""
        ...

    def dead_jobs(self, *, kinds: Sequence[str] | None = None, after: int = 0, limit: int = 100) -> list[Job]:
        """Dead letters by id, from the one after ``after``."""
        ...

    def revive_jobs(self, ids: Sequence[int] | None, *, now: datetime) -> int:
        """These dead letters, or all, are due now with no attempts counted; returns how many."""
        ...

    def drop_dead_jobs(self, ids: Sequence[int] | None) -> int:
        """These dead letters, or all, are gone; returns how many."""
        ...

    def users(self, *, after: str | None = None, limit: int = 1000) -> list[str]: ...
    def change_marks(self, *, after: int, limit: int) -> list[tuple[int, str]]:
        """The feed of all users after a place in it, in the order of commits: (place, user id)."""
        ...

    def users_with_doc_types(self, doc_types: Sequence[str], *, before: datetime, limit: int) -> list[str]:
        """Users who hold unarchived messages of these types, said before then."""
        ...

    def users_without_vectors(self, *, limit: int) -> list[str]: ...
    def users_without_unit_vectors(self, *, limit: int) -> list[str]:
        """Users with a document that waits for a vector."""
        ...

    def users_with_documents(self, *, after: str | None = None, limit: int = 1000) -> list[str]:
        """In the order of the bytes of their ids."""
        ...

    def scrub(self, *, needles: Sequence[bytes] = (), wait_seconds: float) -> tuple[bool, int]:
        """Freed bytes are overwritten on disk (log truncated, files scanned for ``needles``); (clean, files)."""
        ...

    def record_receipt(self, receipt: Receipt) -> None: ...
    def check_file(self) -> list[str]:
        """What the engine itself finds wrong with its files, in its words (tables and pages, no content); empty
        when nothing is."""

    def back_up(self, directory: Path) -> int:
        """The new directory is a store with all that was committed when the call began, in bytes; nothing is there
        after an error. From now on every erasure is also listed beside it, by keyed hashes."""
        ...

    def list_erasures(self, *, now: datetime, limit: int = 1000) -> int:
        """The lists beside the backups know up to ``limit`` more erasures; returns how many."""
        ...

    def audit(
        self,
        action: str,
        *,
        now: datetime,
        actor: str | None,
        target: str | None = None,
        counts: Mapping[str, int] | None = None,
        reason: str | None = None,
    ) -> None:
        """One row about the store itself; never content."""
        ...

    def audit_rows(self, *, after: int = 0, limit: int) -> list[AuditRow]:
        """The log of all users and of the store after a number, in order."""
        ...

    def stats(self) -> Stats: ...
    def setting(self, name: str) -> str | None:
        """What `set_setting` kept under this name for the whole store; never content of a user."""
        ...

    def set_setting(self, name: str, value: str | None) -> None:
        """The store holds ``value`` under ``name``; None removes it."""
        ...

    def embedder_identity(self) -> str | None: ...
    def set_embedder_identity(self, identity: str, *, dimension: int, now: datetime) -> None: ...


class Store(Protocol):
    """Safe to use from many threads; several processes may open one location; survives a fork."""

    @property
    def location(self) -> str: ...
    @property
    def read_only(self) -> bool: ...

    def read(self, user_id: str) -> AbstractContextManager[RowReader]:
        """One consistent moment of one user; never blocks a writer."""
        ...

    def write(self, user_id: str) -> AbstractContextManager[Writer]:
        """One transaction: committed when the block ends, undone when it raises. Waits for other writers up to
        the busy timeout, then raises BusyError. The user's revision grows by one if anything changed."""
        ...

    def listen(self, callback: Callable[[Sequence[FactChange]], None]) -> Callable[[], None]:
        """``callback`` gets what each transaction of this object logged, after its commit, in the thread that
        wrote; what another process or object wrote it does not get. Returns the call that ends it. The callback
        must not raise: the write stands whatever it does."""
        ...

    def operations(self) -> Operations: ...
    def mac(self, value: str) -> str:
        """Keyed hash (hex) of an id, for receipts and logs."""
        ...

    def close(self) -> None: ...


StoreFactory: TypeAlias = Callable[[], Store]
__all__ = [
    "ACT_CODES",
    "IMPORTANCE_CODES",
    "OWNER_CODES",
    "ROLE_CODES",
    "ChunkWrite",
    "DocumentRow",
    "DocumentUnit",
    "IndexFaults",
    "Job",
    "MessageRow",
    "Namespace",
    "Operations",
    "OwnerKind",
    "Reader",
    "RowReader",
    "Rows",
    "SlotRow",
    "Snapshot",
    "Store",
    "StoreFactory",
    "TurnMark",
    "UserState",
    "Writer",
]
