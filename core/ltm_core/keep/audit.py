"""The audit log: who did what to whose memory, and why. Never the words of a memory."""

from __future__ import annotations

import logging
import os
import threading
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.acting import current_actor
from ltm_core.arguments import number_of
from ltm_core.errors import StoreError
from ltm_core.types import AuditEntry, Page

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Operations, Writer
    from ltm_core.store.rows import AuditRow

log = logging.getLogger("ltm")
_MOST_BUFFERED = 1000
"""Reads kept in memory, about 300 KB; one more writes them all down."""


def note(
    writer: Writer | Operations,
    action: str,
    *,
    now: datetime,
    actor: str | None = None,
    target: str | None = None,
    counts: Mapping[str, int] | None = None,
) -> None:
    """One row of the log in the writer's transaction, with the actor (else that of the context) and the reason."""
    who, why = current_actor()
    writer.audit(action, now=now, actor=actor or who, target=target, counts=counts, reason=why)


class Reads:
    """Reads that wait to be logged, so that a question never waits for the disk. Thread-safe.

    What is in memory when the process dies is not logged; a forked child begins with none.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._waiting: dict[str, list[tuple[str, datetime, str | None, str | None]]] = defaultdict(list)
        self._count = 0

    def add(self, user_id: str, action: str, at: datetime) -> bool:
        """The read is noted; True when it is time to write them down."""
        self._own()
        with self._lock:
            self._waiting[user_id].append((action, at, *current_actor()))
            self._count += 1
            return self._count > _MOST_BUFFERED

    def take(self, user_id: str) -> list[tuple[str, datetime, str | None, str | None]]:
        """The user's waiting reads, which no longer wait."""
        self._own()
        with self._lock:
            found = self._waiting.pop(user_id, [])
            self._count -= len(found)
            return found

    @property
    def users(self) -> list[str]:
        """Whose reads wait."""
        self._own()
        with self._lock:
            return list(self._waiting)

    def _own(self) -> None:
        """What a parent had waiting is the parent's, and its lock may be held by a thread that is not here."""
        if self._pid != os.getpid():
            self._begin()


def saw(runtime: Runtime, action: str, user_id: str) -> None:
    """With `Config.audit_reads` the read will be in the log."""
    if not runtime.config.audit_reads or runtime.store.read_only:
        return
    if runtime.reads.add(user_id, action, runtime.now()):
        flush(runtime)


def flush(runtime: Runtime) -> int:
    """The reads that waited are in the log; of users who are gone nothing is written. Returns how many."""
    written = 0
    for user_id in runtime.reads.users:
        with runtime.store.write(user_id) as writer:
            written += flush_of(runtime, writer)
    return written


def flush_of(runtime: Runtime, writer: Writer) -> int:
    """The writer's user's reads that waited are in the log, in this transaction."""
    if not runtime.config.audit_reads:
        return 0
    waiting = runtime.reads.take(writer.user_id)
    if not waiting or writer.user() is None:
        return 0
    for action, at, actor, reason in waiting:
        writer.audit(action, now=at, actor=actor, reason=reason)
    return len(waiting)


def close(runtime: Runtime) -> None:
    """What waited is written down, or a warning says how many reads were lost."""
    try:
        flush(runtime)
    except StoreError as e:
        log.warning("the audit log lost the last reads of %d users: %s", len(runtime.reads.users), e)


def audit(runtime: Runtime, user_id: str | None, *, since: str | None, limit: int) -> Page[AuditEntry]:
    """The log of one user, or of all users and the store, in order."""
    after = number_of(since)
    if user_id is None:
        rows = runtime.store.operations().audit_rows(after=after, limit=limit + 1)
    else:
        with runtime.store.read(user_id) as reader:
            rows = reader.audit_rows(after=after, limit=limit + 1)
    shown = tuple(_entry(r) for r in rows[:limit])
    more = len(rows) > limit
    return Page(
        shown,
        shown[-1].cursor if more else None,
        (lambda cursor: audit(runtime, user_id, since=cursor, limit=limit)) if more else None,
    )


def _entry(row: AuditRow) -> AuditEntry:
    return AuditEntry(
        at=row.at,
        action=row.action,
        actor=row.actor,
        reason=row.reason,
        user_id=row.user_id,
        user_id_hmac=row.user_mac,
        target=row.target,
        counts=row.counts,
        cursor=str(row.number),
    )
