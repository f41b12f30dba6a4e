"""Consolidation as `maintain` runs it: a job per user, a transaction per summary, resumable at any point.

Order: the summary is written; then it is looked for by its own topic; only when it was found do its turns (and the
days it takes the place of) give way. A process that dies in between leaves a summary that is not recallable yet; the
next run looks for it first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from ltm_core.errors import LTMError
from ltm_core.keep.audit import note
from ltm_core.keep.consolidate.due import period
from ltm_core.keep.consolidate.making import request_of, row_of, summarised, unsaid
from ltm_core.keep.consolidate.plan import Replaces, planned
from ltm_core.keep.consolidate.retire import bring_back
from ltm_core.keep.consolidate.settle import MOST_TOLD, Done, settle
from ltm_core.runtime import log
from ltm_core.store.base import CONSOLIDATE_JOB, RESTORE_JOB, Job
from ltm_core.types import SummaryMade
from ltm_core.write.incoming.index import embed_texts, index_summary, summary_units

if TYPE_CHECKING:
    from ltm_core.keep.consolidate.making import Group
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader, Writer
    from ltm_core.store.rows import SummaryRow

LOOK_EVERY = timedelta(hours=20)
"""How often a user is looked at: once a night, also when the night's run begins a little earlier."""
_USERS = 200
_MOST_ERROR = 200


def consolidate(runtime: Runtime, *, now: datetime, dry_run: bool) -> Done:
    """Due days and weeks of all users have their summaries, up to `Config.consolidate_per_run`."""
    done = Done()
    if not dry_run:
        _bring_back(runtime, now=now)
    if runtime.config.consolidate_after_days is None:
        return done
    if dry_run:
        for user_id in _users(runtime, now=now):
            if done.summaries >= runtime.config.consolidate_per_run:
                break
            _preview(runtime, user_id, done, now=now)
        return done
    _queue(runtime, now=now)
    operations = runtime.store.operations()
    lease = timedelta(seconds=runtime.config.job_lease_seconds)
    while done.summaries < runtime.config.consolidate_per_run:
        claimed = operations.claim_jobs(now=now, kinds=(CONSOLIDATE_JOB,), lease_until=now + lease, limit=1)
        if not claimed:
            break
        (job,) = claimed
        try:
            finished = _user(runtime, job, done, now=now)
        except LTMError as e:
            _failed(runtime, job, e, now=now)
            done.counts["failed_jobs"] += 1
        else:
            if not finished:
                operations.end_claim(job.id, attempts=job.attempts, retry_at=now, error=None)
                break
    return done


# whose turn it is -----------------------------------------------------------------------------------------
def _users(runtime: Runtime, *, now: datetime) -> Iterator[str]:
    after: str | None = None
    while page := runtime.store.operations().users_to_consolidate(
        looked_before=now - LOOK_EVERY, said_before=_before(runtime, now), after=after, limit=_USERS
    ):
        yield from page
        after = page[-1]


def _before(runtime: Runtime, now: datetime) -> datetime:
    """Nothing that was said later can be due: a day lasts until midnight somewhere."""
    config = runtime.config
    days = 0.0 if config.consolidate_over_turns else (config.consolidate_after_days or 0.0)
    return now - timedelta(days=days) + timedelta(hours=14)


def _queue(runtime: Runtime, *, now: datetime) -> None:
    """Users of whom something is due have a job; the others were looked at."""
    idle: list[str] = []
    for user_id in _users(runtime, now=now):
        with runtime.store.read(user_id) as reader:
            due = _unfinished(reader) or next(planned(reader, runtime.config, now=now), None) is not None
        if not due:
            idle.append(user_id)
            continue
        with runtime.store.write(user_id) as writer:
            writer.add_job(Job(kind=CONSOLIDATE_JOB, user_id=user_id, run_after=now))
    if idle:
        runtime.store.operations().set_consolidated(idle, now)


def _unfinished(reader: Reader) -> list[SummaryRow]:
    return [s for s in reader.summaries() if s.recallable_at is None]


def _bring_back(runtime: Runtime, *, now: datetime) -> None:
    """Turns whose summary went with an expired one are searched again."""
    operations = runtime.store.operations()
    for job in operations.due_jobs(now=now, kinds=(RESTORE_JOB,), limit=runtime.config.maintenance_batch):
        if job.user_id is not None:
            with runtime.store.write(job.user_id) as writer:
                bring_back(writer, config=runtime.config)
        operations.finish_job(job.id)


def _failed(runtime: Runtime, job: Job, error: LTMError, *, now: datetime) -> None:
    config = runtime.config
    again = job.attempts < config.job_attempts
    wait = timedelta(seconds=config.job_retry_seconds * 2 ** min(job.attempts - 1, 10))
    told = f"{type(error).__name__}: {error}"[:_MOST_ERROR]
    runtime.store.operations().end_claim(
        job.id, attempts=job.attempts, retry_at=now + wait if again else None, error=told
    )
    log.warning("consolidation job %d failed (try %d of %d): %s", job.id, job.attempts, config.job_attempts, told)


# one user -------------------------------------------------------------------------------------------------
def _user(runtime: Runtime, job: Job, done: Done, *, now: datetime) -> bool:
    """All that is due of one user; False when the run's share is used up. Every summary is committed by itself."""
    user_id = job.user_id or ""
    with runtime.store.read(user_id) as reader:
        waiting = _unfinished(reader)
    for summary in waiting:
        settle(runtime, user_id, summary, done, now=now)
    before, overtaken = done.summaries, done.counts["overtaken"]
    while True:
        with runtime.store.read(user_id) as reader:
            erasures = reader.erasures()[0]
            left = max(1, runtime.config.consolidate_per_run - done.summaries)
            due = list(islice(planned(reader, runtime.config, now=now), left))
        progress = False
        for item in due:
            if done.summaries >= runtime.config.consolidate_per_run:
                return False
            progress = _one(runtime, user_id, item, done, erasures=erasures, now=now) or progress
        # The days of now may be the weeks of the next look.
        if not progress:
            break
    with runtime.store.write(user_id) as writer:
        writer.finish_claimed(job.id, attempts=job.attempts)
        # Only now have the turns that are left no summary to wait for.
        if done.counts["overtaken"] == overtaken:
            writer.set_consolidated(now)
        if done.summaries > before:
            note(writer, CONSOLIDATE_JOB, now=now, counts={"summaries": done.summaries - before})
    return True


def _one(runtime: Runtime, user_id: str, item: Replaces, done: Done, *, erasures: int, now: datetime) -> bool:
    """The group's summary is written and, when it can be recalled, stands for its turns. False when it says nothing,
    what it was made of was changed meanwhile, or it did not last."""
    group = item.group
    with runtime.store.read(user_id) as reader:
        facts = reader.facts(evidence_of=[r.id for r in group.rows])
    readable = unsaid(group.rows, facts, now=now)
    request = request_of(replace(group, rows=readable), target_tokens=runtime.config.summary_tokens)
    made_by, sentences = summarised(runtime, request, done.counts)
    if not sentences:
        return False
    row = row_of(group, request, made_by, sentences, id=runtime.new_id(), now=now)
    units = summary_units(row, config=runtime.config)
    vectors = embed_texts(runtime, [u.embed for u in units])
    with runtime.store.write(user_id) as writer:
        if not _unchanged(writer, group, item, erasures=erasures):
            done.counts["overtaken"] += 1
            return False
        row = writer.add_summary(row)
        index_summary(writer, row, units, vectors)
    done.summaries += 1
    return settle(runtime, user_id, row, done, now=now)


def _unchanged(writer: Writer, group: Group, item: Replaces, *, erasures: int) -> bool:
    """What was read is what is stored, and nobody else summarised it meanwhile."""
    state = writer.user()
    if state is None or state.paused_at is not None or writer.erasures()[0] != erasures:
        return False
    stored = {r.item: (r.content, r.name, r.expires_at) for r in writer.messages(items=[r.item for r in group.rows])}
    if any(stored.get(r.item) != (r.content, r.name, r.expires_at) for r in group.rows):
        return False
    on_them = {s.id for s in writer.summaries(sources=[r.item for r in group.rows])}
    return on_them == {d.id for d in item.days}


def _preview(runtime: Runtime, user_id: str, done: Done, *, now: datetime) -> None:
    with runtime.store.read(user_id) as reader:
        for item in planned(reader, runtime.config, now=now):
            if done.summaries >= runtime.config.consolidate_per_run:
                return
            done.summaries += 1
            if len(done.made) < MOST_TOLD:
                done.made.append(_would(user_id, item))


def _would(user_id: str, item: Replaces) -> SummaryMade:
    group = item.group
    begins, ends = period(group.first, group.days, group.timezone)
    return SummaryMade(
        user_id=user_id, summary_id=None, level=group.level, begins=begins, ends=ends, turns=len(group.rows)
    )


__all__ = ["Done", "consolidate"]
