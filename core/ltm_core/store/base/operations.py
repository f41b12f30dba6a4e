"""What looks across users, for upkeep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ltm_core.store.base.records import Job, LogKind, VectorSets
from ltm_core.store.rows import AuditRow, Copied
from ltm_core.types import Receipt, Stats


class Operations(Protocol):
    """Across users, for maintenance. Short transactions of its own; never returns memory content."""

    def close_idle_sessions(self, *, idle_before: datetime, now: datetime, limit: int) -> int:
        """So many open sessions, up to ``limit``, in which nothing arrived since, whatever the dates of their turns,
        are now ended: their turns left the window, and their slots are gone."""
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

    def users_to_consolidate(
        self, *, looked_before: datetime, said_before: datetime, after: str | None = None, limit: int
    ) -> list[str]:
        """Users who have turns said before the one time and were not looked at since the other, by id; paused ones
        wait, and those of whom a job (`CONSOLIDATE_JOB`) is still to be done or failed since."""
        ...

    def set_consolidated(self, user_ids: Sequence[str], at: datetime) -> None:
        """These users were looked at for summaries, and there was nothing to do."""
        ...

    def users_without_vectors(self, *, limit: int) -> list[str]: ...
    def users_without_unit_vectors(self, *, limit: int) -> list[str]:
        """Users with a document that waits for a vector."""
        ...

    def users_with_documents(self, *, after: str | None = None, limit: int = 1000) -> list[str]:
        """In the order of the bytes of their ids."""
        ...

    @property
    def erases_at_once(self) -> bool:
        """Whether `scrub` is quick enough to belong to an erasure. False: it locks tables for as long as it takes to
        write them anew, so it is left to ``maintain``."""
        ...

    def scrub(self, *, needles: Sequence[bytes] = (), wait_seconds: float) -> tuple[bool, int]:
        """Freed bytes are overwritten on disk (log truncated, files scanned for ``needles``); (clean, files)."""
        ...

    def record_receipt(self, receipt: Receipt) -> None: ...
    def serve_vectors(self, serving: bool = True) -> None:
        """This store object has the embedder whose vectors are searched now, or has none any more. When the set is
        switched elsewhere, its readers compare no vectors and its writers write none."""
        ...

    def vector_sets(self) -> VectorSets:
        """Which sets of vectors there are while the embedder changes, and how far the second one is."""
        ...

    def begin_second(self, identity: str, *, dimension: int, now: datetime) -> None:
        """A second set of vectors, of another embedder, may be filled; repeated, it goes on. ConflictError when a
        set is kept beside already, or when this is the store's embedder."""
        ...

    def switch_vectors(self) -> int:
        """The second set is searched and the other one is kept beside, in one transaction; what the second one
        lacks waits for its vector. Returns how many wait."""
        ...

    def drop_second(self, *, limit: int) -> int:
        """Up to ``limit`` vectors of the second set are gone; returns how many. 0 says that there is none now."""
        ...

    def work_external(self) -> int:
        """An external vector index has heard of the oldest changes; returns how many, 0 when it is up to date or
        there is none here."""
        ...

    def compact_external(self) -> int:
        """Collections of an external index whose files hold removed vectors are gone, and made again later; returns
        how many."""
        ...

    def external_drift(self, *, repair: bool) -> dict[str, int]:
        """User id -> vectors in which an external index differs from the store; with ``repair`` it is made again."""
        ...

    def plain_users(self) -> int:
        """How many users of an encrypted store are not sealed yet; 0 in a plain store."""
        ...

    def check_file(self) -> list[str]:
        """What the engine itself finds wrong with its files, in its words (tables and pages, no content); empty
        when nothing is."""

    def back_up(self, directory: Path, *, archive: bool = True) -> Copied:
        """The new directory is a store with all that was committed when the call began, and with the files that it
        lists, when ``archive`` says that they are in the store's own folder; nothing is there after an error. From
        now on every erasure is also listed beside it, by keyed hashes."""
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

    def drop_old(self, log: LogKind, *, before: datetime, limit: int) -> int:
        """Of the first ``limit`` rows of all users those up to the first that is not older are gone; returns how
        many, 0 when the log begins with a younger one. The end of what was dropped of the feed is remembered in the
        same transaction (`CHANGES_DROPPED`)."""
        ...

    def count_old(self, log: LogKind, *, before: datetime) -> int:
        """How many rows are older."""
        ...

    def drop_marks(self, *, before: datetime, limit: int) -> int:
        """What policies dropped is no longer recognised when it is told again: the places of turns that were said
        before then (`Writer.add_ghosts`), and ids marked before then (`DROPPED`). What somebody asked to forget
        stays refused. Returns how many marks went, ``limit`` looked at in one transaction."""
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


__all__ = [
    "Operations",
]
