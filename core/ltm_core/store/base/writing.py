"""Changes to one user in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from ltm_core.store.base.reading import RowReader
from ltm_core.store.base.records import (
    ChunkWrite,
    DocumentRow,
    DocumentUnit,
    Job,
    MessageRow,
    OwnerKind,
    SlotRow,
    UserState,
)
from ltm_core.store.rows import ColdFile, EarlierTimes, SessionRow, SummaryRow
from ltm_core.types import Act, Anchor, Fact, FactChange, Importance, Role, Session

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Writer(RowReader, Protocol):
    """Changes to one user in one transaction; reads see them. Each call names what is true afterwards."""

    def ensure_user(self, *, now: datetime, timezone: str | None = None) -> UserState: ...
    def set_user(
        self,
        *,
        timezone: str | None = None,
        paused_at: datetime | Literal["keep"] | None = "keep",
        retention: str | None = None,
    ) -> None:
        """What is given holds from now on; ``retention`` "" is the ordinary class."""
        ...

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

    def foresee(self, fact_ids: Sequence[str], *, changes: int) -> None:
        """These facts are about to be written, and so many entries of the feed. Nothing is different afterwards; a
        store that waits for a server asks for all that it needs of them at once."""
        ...

    def add_message(self, row: MessageRow) -> MessageRow:
        """Stored with a new item and the next sequence."""
        ...

    def update_message(self, row: MessageRow) -> None:
        """Every field but item, session, sequence and the count of uses is replaced. When words or name change, no
        summary that rests on the turn is left."""
        ...

    def delete_messages(self, items: Sequence[int], *, keep_summaries: bool = False) -> int:
        """Gone with their chunks, vectors, postings, anchors and evidence rows, and with the summaries that rest on
        any of them. ``keep_summaries`` is for turns that a summary stands for and nobody asked to have erased."""
        ...

    def retire_messages(self, items: Sequence[int], *, now: datetime) -> int:
        """The turns stay and are found by no search any more. Returns how many were not retired before."""
        ...

    def add_summary(self, row: SummaryRow) -> SummaryRow:
        """Stored with a new item and its links; not indexed yet."""
        ...

    def set_recallable(self, item: int, *, now: datetime) -> bool:
        """It was found when it was looked for; False when it is gone."""
        ...

    def delete_summaries(self, items: Sequence[int]) -> int:
        """Gone with their chunks and links; their turns are to be summarised again."""
        ...

    def set_consolidated(self, at: datetime | None) -> None:
        """When the user's turns were last looked at for summaries; None: they are due."""
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

    def chunks_without_second(self, *, after: int, limit: int) -> list[tuple[int, OwnerKind, int, int, int]]:
        """As `chunks_without_vector`, of the second set, from the item after ``after``."""
        ...

    def set_second_vectors(self, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        """Chunk items have a vector in the second set; one that is gone meanwhile is passed over."""
        ...

    def units_without_second(self, *, after: int, limit: int) -> list[tuple[int, int, int, int]]:
        """As `units_without_vector`, of the second set, from the unit after ``after``."""
        ...

    def set_second_unit_vectors(self, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        """Units of documents have a vector in the second set; one that is gone meanwhile is passed over."""
        ...

    def add_cold_file(self, file: ColdFile, rows: Sequence[MessageRow]) -> ColdFile:
        """The turns are gone from the store, as by `delete_messages`; their places in their sessions and their ids
        stay known, and the file is known to hold them."""
        ...

    def replace_cold_file(self, item: int, by: ColdFile | None, *, keep: Sequence[int] = ()) -> None:
        """``by`` stands for the file, and for those of its turns whose items are to be kept; the others are known
        no more. None: the file is known no more, nor its turns."""
        ...

    def add_fact(self, fact: Fact) -> int:
        """Stored with its evidence; returns its item."""
        ...

    def update_fact(self, fact: Fact, *, now: datetime | None = None) -> None:
        """Every field and the evidence are replaced; unknown ids raise NotFoundError. ``known_at`` before ``now``
        (else the latest ``now`` of this transaction) still sees the earlier times of the fact."""
        ...

    def delete_facts(self, ids: Sequence[str]) -> int: ...
    def touch_facts(self, ids: Sequence[str], *, now: datetime, count: int = 1) -> None:
        """access_count + ``count``, last recalled at ``now`` unless it was later already; unknown ids are passed
        over. Does not count as a change of the user's revision."""
        ...

    def touch_messages(self, ids: Sequence[tuple[str, str]], *, now: datetime, count: int = 1) -> None:
        """The same for turns, named by (session id, id)."""
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

    def sealed_key(self) -> bytes:
        """The user's data key as it lies on disk; empty in a plain store. Without it nothing of the user is
        readable."""
        ...

    def erase_user(self, *, now: datetime) -> dict[str, int]:
        """Every row of the user is gone, in every table; tombstones and the watermark stay, keyed. Returns the
        rows removed per table. The bytes are gone after `Operations.scrub`."""
        ...


__all__ = [
    "Writer",
]
