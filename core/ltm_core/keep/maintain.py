"""Housekeeping in short transactions, safe beside live traffic: one report."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ltm_core.documents.units import fill
from ltm_core.errors import NotFoundError
from ltm_core.keep.archive.files import CLEAN_JOB, COLD_JOB, clear_away
from ltm_core.keep.archive.forget import clean_asked
from ltm_core.keep.archive.move import move_old
from ltm_core.keep.audit import note
from ltm_core.keep.consolidate.run import Done, consolidate
from ltm_core.keep.erase import fill_vectors
from ltm_core.keep.forgetting import forget_by_policy
from ltm_core.keep.later import flush
from ltm_core.keep.logs import drop_old
from ltm_core.keep.queue import work
from ltm_core.spans import stage
from ltm_core.store.base import SCRUB_JOB
from ltm_core.types import Anchor, Evidence, Fact, MaintenanceReport
from ltm_core.write.extraction import EXTRACT_JOB

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, Reader, Writer

_ITEMS = ("messages", "facts", "documents")
_LONGEST_ANCHOR = 500
"""Characters of an archived document that its anchor quotes; the document itself is the message."""


def maintain(runtime: Runtime, *, now: datetime, dry_run: bool) -> MaintenanceReport:
    """Idle sessions are closed, what expired is gone, archived types are promoted, waiting work is done.

    With ``dry_run`` nothing changes and the report counts what would be done now if nothing fails: the embedder
    answers, and no reader keeps erased bytes alive.
    """
    started = time.perf_counter()
    config = runtime.config
    operations = runtime.store.operations()
    batch = config.maintenance_batch
    idle_before = now - timedelta(seconds=config.session_idle_seconds)
    if dry_run:
        would = forget_by_policy(runtime, now=now, dry_run=True)
        preview = operations.preview(idle_before=idle_before, now=now)
        return MaintenanceReport(
            at=now,
            dry_run=True,
            sessions_closed=preview.get("sessions", 0),
            slots_expired=preview.get("slots", 0),
            items_expired=sum(preview.get(kind, 0) for kind in _ITEMS),
            archived=_archive(runtime, now=now, dry_run=True),
            jobs_done=len(operations.due_jobs(now=now, kinds=_kinds(runtime), limit=batch)),
            embedded=preview.get("unembedded", 0) if runtime.has_vectors else 0,
            forgotten=would.counts,
            spared=would.spared,
            decisions=would.decisions,
            cold=move_old(runtime, now=now, dry_run=True),
            logs_dropped=drop_old(runtime, now=now, dry_run=True),
            **_told(consolidate(runtime, now=now, dry_run=True)),
            seconds=time.perf_counter() - started,
        )
    # What expired is counted before the sessions it belongs to are emptied.
    slots = items = closed = 0
    with stage("expire"):
        while any((gone := operations.expire(now=now, limit=batch)).values()):
            slots += gone.get("slots", 0)
            items += sum(gone.get(kind, 0) for kind in _ITEMS)
        while done := operations.close_idle_sessions(idle_before=idle_before, now=now, limit=batch):
            closed += done
    archived = _archive(runtime, now=now, dry_run=False)
    embedded = _embed_waiting(runtime)
    # Changed and expired texts leave their vectors in the files of an external index.
    operations.compact_external()
    while operations.work_external():
        pass
    with stage("consolidate"):
        told = consolidate(runtime, now=now, dry_run=False)
    # What was used counts before what is worth little goes; what goes is scrubbed with the jobs that follow.
    flush(runtime)
    with stage("forget"):
        forgot = forget_by_policy(runtime, now=now, dry_run=False)
    with stage("cold"):
        cold = move_old(runtime, now=now, dry_run=False)
    logs = drop_old(runtime, now=now, dry_run=False)
    with stage("jobs"):
        finished = (
            clean_asked(runtime, now=now)
            + clear_away(runtime, now=now)
            + _jobs(runtime, now=now)
            + _extractions(runtime)
            + operations.list_erasures(now=now)
        )
    done_now = {
        "sessions": closed,
        "slots": slots,
        "items": items,
        "archived": archived,
        "embedded": embedded,
        "jobs": finished,
        "forgotten": sum(forgot.counts.values()),
        "cold": cold,
        "log rows": sum(logs.values()),
        "summaries": told.summaries,
        "retired": told.retired,
    }
    if any(done_now.values()):
        note(operations, "maintain", now=now, counts={k: v for k, v in done_now.items() if v})
    return MaintenanceReport(
        at=now,
        dry_run=False,
        sessions_closed=closed,
        slots_expired=slots,
        items_expired=items,
        archived=archived,
        jobs_done=finished,
        embedded=embedded,
        forgotten=forgot.counts,
        spared=forgot.spared,
        decisions=forgot.decisions,
        cold=cold,
        logs_dropped=logs,
        **_told(told),
        seconds=time.perf_counter() - started,
    )


def _told(done: Done) -> dict[str, Any]:
    return {
        "summarised": done.summaries,
        "retired": done.retired,
        "summaries": tuple(done.made),
        "consolidation": {k: n for k, n in done.counts.items() if n},
    }


def _archive(runtime: Runtime, *, now: datetime, dry_run: bool) -> int:
    """Messages of an archived doc_type that are old enough are kept for the long term, with an anchor each."""
    config = runtime.config
    before = now - timedelta(seconds=config.archive_after_seconds)
    count = 0
    for user_id in runtime.store.operations().users_with_doc_types(
        config.archive_doc_types, before=before, limit=config.maintenance_batch
    ):
        if dry_run:
            with runtime.store.read(user_id) as reader:
                count += len(_due(runtime, reader, before=before, now=now))
            continue
        with runtime.store.write(user_id) as writer:
            for row in _due(runtime, writer, before=before, now=now):
                _promote(writer, row, now=now)
                count += 1
    return count


def _due(runtime: Runtime, reader: Reader, *, before: datetime, now: datetime) -> list[MessageRow]:
    rows = reader.messages(
        doc_types=runtime.config.archive_doc_types,
        archived=False,
        until=before,
        limit=runtime.config.maintenance_batch,
    )
    return [m for m in rows if m.expires_at is None or m.expires_at > now]


def _promote(writer: Writer, row: MessageRow, *, now: datetime) -> None:
    """The turn and what it says stay for good: message, units and the facts that its end would have taken."""
    writer.update_message(replace(row, archived_at=now, importance="high", expires_at=None))
    writer.keep_chunks("message", row.item, importance="high", expires_at=None)
    for fact in writer.facts(evidence_of=[row.id]):
        if _ends_with(writer, fact, row):
            writer.update_fact(replace(fact, expires_at=None), now=now)
            item = writer.fact_item(fact.id)
            if item is not None:
                writer.keep_chunks("fact", item, importance=fact.importance, expires_at=None)
    text = row.content[:_LONGEST_ANCHOR]
    writer.add_anchor(
        Anchor(
            kind="scheduled_archive",
            text=text,
            evidence=Evidence(message_id=row.id, start=0, end=len(text)),
            reason=f"doc_type {row.doc_type} is archived",
            importance="high",
        ),
        session_id=row.session_id,
        at=row.at,
    )


def _ends_with(reader: Reader, fact: Fact, row: MessageRow) -> bool:
    """Whether the fact expires because this turn would; a state that ends by itself ends earlier."""
    if fact.expires_at is None or row.expires_at is None or fact.expires_at < row.expires_at:
        return False
    # Evidence names a turn by its id, which another session may hold too.
    here = fact.session_id in (None, row.session_id)
    return here or reader.message(row.id, session_id=fact.session_id) is None


def _embed_waiting(runtime: Runtime) -> int:
    """Units written while the embedder was down get their vectors; stops when it is down again."""
    if not runtime.has_vectors:
        return 0
    total = 0
    operations, batch = runtime.store.operations(), runtime.config.maintenance_batch
    for user_id in operations.users_without_vectors(limit=batch):
        while done := fill_vectors(runtime, user_id, limit=batch):
            total += done
    for user_id in operations.users_without_unit_vectors(limit=batch):
        while done := fill(runtime, user_id, limit=batch):
            total += done
    return total


def _kinds(runtime: Runtime) -> tuple[str, ...]:
    always = (SCRUB_JOB, COLD_JOB, CLEAN_JOB)
    return always if runtime.extractor is None else (*always, EXTRACT_JOB)


def _extractions(runtime: Runtime) -> int:
    """Turns that wait for the extractor are read; none without one."""
    if runtime.extractor is None:
        return 0
    return work(runtime, limit=runtime.config.maintenance_batch).jobs_done


def _jobs(runtime: Runtime, *, now: datetime) -> int:
    """Due scrubs are done, or put off with growing waits: bytes on disk are owed to the user, so an erasure
    never becomes a dead letter."""
    operations = runtime.store.operations()
    config = runtime.config
    finished = 0
    for job in operations.due_jobs(now=now, kinds=(SCRUB_JOB,), limit=config.maintenance_batch):
        clean, _ = operations.scrub(wait_seconds=config.erase_wait_seconds)
        if clean:
            operations.finish_job(job.id)
            finished += 1
        else:
            later = now + timedelta(seconds=config.job_retry_seconds * 2 ** min(job.attempts, 10))
            # Whoever erases may have finished it meanwhile.
            with suppress(NotFoundError):
                operations.fail_job(job.id, error="readers kept the log alive", retry_at=later)
    return finished
