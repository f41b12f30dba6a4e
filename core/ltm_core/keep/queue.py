"""The durable queue of extraction: jobs are claimed one by one, tried a few times, and end as dead letters."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from ltm_core.errors import ConfigError, InvalidInputError, LTMError, UnavailableError
from ltm_core.runtime import log
from ltm_core.types import WorkReport
from ltm_core.write.extraction import EXTRACT_JOB, OvertakenError, run

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Job

_KINDS = (EXTRACT_JOB,)
_MOST_ERROR = 200


def work(runtime: Runtime, *, limit: int | None = None) -> WorkReport:
    """Up to ``limit`` due jobs were run, or all; whatever else runs them, no job is run by two at once.

    A failed job is due again after `Config.job_retry_seconds`, doubled each time, and a dead letter after
    `Config.job_attempts`. When the model cannot be reached the rest waits. ConfigError without an extractor.
    """
    if runtime.extractor is None:
        raise ConfigError("work() needs an extractor: pass extractor= to LongTermMemory.open")
    started = time.perf_counter()
    operations = runtime.store.operations()
    counts: Counter[str] = Counter()
    changes: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    stopped = False
    while not stopped and (limit is None or counts.total() < limit):
        now = runtime.now()
        # A look first: claiming takes the writers' lock, and most of the time there is nothing to claim.
        if not operations.due_jobs(now=now, kinds=_KINDS, limit=1):
            break
        lease = now + timedelta(seconds=runtime.config.job_lease_seconds)
        claimed = operations.claim_jobs(now=now, kinds=_KINDS, lease_until=lease, limit=1)
        if not claimed:
            break
        (job,) = claimed
        if job.attempts > runtime.config.job_attempts:
            error = "the process ended, or was slower than the lease, each time it was run"
            operations.end_claim(job.id, attempts=job.attempts, retry_at=None, error=error)
            counts["dead"] += 1
            continue
        try:
            outcome = run(runtime, job)
        except OvertakenError:
            # It costs no attempt: what is left of the turns is read again.
            operations.end_claim(job.id, attempts=job.attempts, retry_at=runtime.now(), error=None)
            counts["retried"] += 1
        except LTMError as e:
            counts["retried" if _failed(runtime, job, e) else "dead"] += 1
            stopped = isinstance(e, UnavailableError)
        else:
            counts["done"] += 1
            changes.update(outcome.changes)
            rejected.update(outcome.rejected)
    return WorkReport(
        jobs_done=counts["done"],
        jobs_retried=counts["retried"],
        jobs_dead=counts["dead"],
        changes=dict(changes),
        rejected=dict(rejected),
        stopped=stopped,
        seconds=time.perf_counter() - started,
    )


def _failed(runtime: Runtime, job: Job, error: LTMError) -> bool:
    """The job is put off, or is a dead letter; True when it will be tried again."""
    config = runtime.config
    again = job.attempts < config.job_attempts
    wait = timedelta(seconds=config.job_retry_seconds * 2 ** min(job.attempts - 1, 10))
    told = f"{type(error).__name__}: {error}"[:_MOST_ERROR]
    runtime.store.operations().end_claim(
        job.id, attempts=job.attempts, retry_at=runtime.now() + wait if again else None, error=told
    )
    log.warning(
        "extraction job %d failed (try %d of %d), what the rules wrote stands; %s: %s",
        job.id, job.attempts, config.job_attempts,
        f"again in {wait.total_seconds():.0f} s" if again else "dead letter", told,
    )  # fmt: skip
    return again


# dead letters -------------------------------------------------------------------------------------------
def retry(runtime: Runtime, ids: Sequence[int] | None) -> int:
    """The dead letters are due now, with all their attempts; returns how many."""
    revived = runtime.store.operations().revive_jobs(_numbers(ids), now=runtime.now())
    runtime.wake()
    return revived


def drop(runtime: Runtime, ids: Sequence[int] | None) -> int:
    """The dead letters are gone; what the rules wrote stands. Returns how many."""
    return runtime.store.operations().drop_dead_jobs(_numbers(ids))


def _numbers(ids: Sequence[int] | None) -> Sequence[int] | None:
    if ids is None:
        return None
    if isinstance(ids, str | bytes) or not all(isinstance(i, int) and 0 < i < 2**63 for i in ids):
        raise InvalidInputError("ids must be a list of the numbers of dead letters")
    return list(ids)


__all__ = ["drop", "retry", "work"]
