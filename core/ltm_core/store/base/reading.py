"""One user's data at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from ltm_core.store.base.records import (
    DocumentRow,
    IndexFaults,
    MessageRow,
    Namespace,
    Rows,
    SlotRow,
    TurnMark,
    UserState,
)
from ltm_core.store.rows import AuditRow, ColdFile, ColdTurn, FactRow, Level, SessionRow, SummaryRow, TurnWorth
from ltm_core.types import Anchor, Fact, FactChange, Role, Session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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

    def predecessors(self, ids: Sequence[str]) -> dict[str, list[Fact]]:
        """Per id the facts whose ``superseded_by`` was written as it, in order of insertion: also one that reads as
        holding again because the other one expired."""
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

    # turns outside the store --------------------------------------------------------------------------
    def cold_files(self) -> list[ColdFile]:
        """The files that hold turns of the user, oldest first."""
        ...

    def cold_turns(
        self, *, session_id: str | None = None, ids: Sequence[str] | None = None, files: Sequence[int] | None = None
    ) -> list[ColdTurn]:
        """Matching turns that files hold, ordered by item."""
        ...

    def chunk_vectors(self, items: Sequence[int]) -> dict[int, list[tuple[int, int, bytes | None]]]:
        """Per turn its indexed spans (start, end) with their vectors as the store keeps them (float16)."""
        ...

    def seal(self, value: Mapping[str, Any]) -> bytes:
        """``value`` (JSON) in an envelope of the user, as content stands in the store: under the user's key, where
        there is one."""
        ...

    def seal_vector(self, item: int, vector: bytes) -> bytes:
        """The bytes of a vector of a turn as they may lie outside the store: sealed in an encrypted one."""
        ...

    def unseal_vector(self, item: int, stored: bytes) -> bytes:
        """What `seal_vector` was given; empty when it cannot be opened."""
        ...

    def unseal(self, envelope: bytes) -> Any:
        """What `seal` was given. CorruptError when it cannot be read."""
        ...

    # summaries ----------------------------------------------------------------------------------------
    def summaries(
        self,
        *,
        items: Sequence[int] | None = None,
        ids: Sequence[str] | None = None,
        sources: Sequence[int] | None = None,
        level: Level | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after_item: int = 0,
        limit: int | None = None,
    ) -> list[SummaryRow]:
        """Matching summaries ordered by item. ``sources`` are items of turns: what rests on any of them. ``since``
        and ``until`` bound the beginning of the period, half-open."""
        ...

    def unsummarised(self, *, before: datetime, after: tuple[int, int] | None = None, limit: int) -> list[MessageRow]:
        """The turns said before then on which no summary rests, in order of time; ``after`` as for `messages`."""
        ...

    def count_unsummarised(self, *, before: datetime) -> int:
        """How many `unsummarised` would find."""
        ...

    def turn_vectors(self, items: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """The unit vector in the middle of a turn's (or summary's) units, by item; those without one are left
        out."""
        ...

    def retired_alone(self, *, limit: int) -> list[MessageRow]:
        """Retired turns for which no recallable summary stands."""
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
    def second_vectors(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """(chunk items, one row each) of the second set of vectors, while the embedder changes."""
        ...

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

    def turn_worths(
        self, *, now: datetime, idle_before: datetime, after_item: int = 0, limit: int
    ) -> list[TurnWorth]:
        """What decides how long the turns are kept, ordered by item: as if those that expired were gone and idle
        sessions closed already."""
        ...

    def audit_rows(self, *, after: int = 0, limit: int) -> list[AuditRow]:
        """The user's rows of the audit log after a number, in order."""
        ...


__all__ = [
    "Reader",
    "RowReader",
    "Snapshot",
]
