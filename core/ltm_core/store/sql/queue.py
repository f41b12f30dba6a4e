"""Jobs: work to be done later, as rows that one process at a time may claim."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ltm_core.errors import InvalidScopeError, NotFoundError
from ltm_core.store.base import Job
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.layout import among
from ltm_core.store.sql.sweeps import Sweeps
from ltm_core.store.sql.writer import JOB_STATES, insert_job
from ltm_core.store.times import from_us, to_us

_JOBS = (
    "SELECT j.id, j.kind, j.user_no, u.user_id, j.body, j.attempts, j.run_after, j.status, j.error "
    "FROM jobs j LEFT JOIN users u ON u.user_no = j.user_no "
)


class Queue(Sweeps):
    """The jobs of all users; every method is its own short transaction."""

    def add_job(self, job: Job) -> None:
        if job.user_id is not None:
            raise InvalidScopeError("a user's job is added in the user's own transaction")
        with self._store.connection(write=True) as conn:
            insert_job(conn, job, user_no=None, codec=self._store.core.codec(conn, None))

    def due_jobs(self, *, now: datetime, kinds: Sequence[str] | None = None, limit: int = 100) -> list[Job]:
        with self._store.connection() as conn:
            rows = conn.execute(
                f"{_JOBS}WHERE j.status = 0 AND j.run_after <= ?{_of_kinds(kinds)} "
                "ORDER BY j.run_after, j.id LIMIT ?",
                (to_us(now), *(kinds or ()), limit),
            ).fetchall()
            return self._read(conn, rows)

    def _read(self, conn: Connection, rows: Sequence[Any]) -> list[Job]:
        core = self._store.core
        return [
            Job(
                id=r[0],
                kind=r[1],
                user_id=None if r[3] is None else core.user_id(r[3]),
                payload=core.codec(conn, r[2]).decode(r[4], ("jobs",)),
                attempts=r[5],
                run_after=from_us(r[6]),
                status=JOB_STATES[r[7]],
                error=r[8],
            )
            for r in rows
        ]

    def finish_job(self, id: int) -> None:
        with self._store.connection(write=True) as conn:
            conn.execute("DELETE FROM jobs WHERE id = ?", (id,))

    def fail_job(self, id: int, *, error: str, retry_at: datetime | None) -> None:
        with self._store.connection(write=True) as conn:
            found = conn.execute(
                "UPDATE jobs SET attempts = attempts + 1, error = ?, status = ?, "
                "run_after = coalesce(?, run_after) WHERE id = ?",
                (error, 0 if retry_at else 1, to_us(retry_at), id),
            ).rowcount
        if not found:
            raise NotFoundError(f"no job has id {id}")

    # claims -------------------------------------------------------------------------------------------
    def claim_jobs(self, *, now: datetime, kinds: Sequence[str], lease_until: datetime, limit: int) -> list[Job]:
        # One transaction that writes: of two processes the second one sees the first one's lease.
        with self._store.connection(write=True) as conn:
            rows = conn.execute(
                f"{_JOBS}WHERE j.status = 0 AND j.run_after <= ? AND u.paused_at IS NULL{_of_kinds(kinds)} "
                "ORDER BY j.run_after, j.id LIMIT ?",
                (to_us(now), *kinds, limit),
            ).fetchall()
            conn.executemany(
                "UPDATE jobs SET run_after = ?, attempts = attempts + 1 WHERE id = ?",
                [(to_us(lease_until), r[0]) for r in rows],
            )
            return self._read(conn, [(*r[:5], r[5] + 1, to_us(lease_until), *r[7:]) for r in rows])

    def end_claim(self, id: int, *, attempts: int, retry_at: datetime | None, error: str | None) -> bool:
        with self._store.connection(write=True) as conn:
            return bool(
                conn.execute(
                    "UPDATE jobs SET status = ?, run_after = coalesce(?, run_after), attempts = attempts - ?, "
                    "error = coalesce(?, error) WHERE id = ? AND attempts = ? AND status = 0",
                    (0 if retry_at else 1, to_us(retry_at), int(error is None), error, id, attempts),
                ).rowcount
            )

    # dead letters -------------------------------------------------------------------------------------
    def dead_jobs(self, *, kinds: Sequence[str] | None = None, after: int = 0, limit: int = 100) -> list[Job]:
        with self._store.connection() as conn:
            rows = conn.execute(
                f"{_JOBS}WHERE j.status = 1 AND j.id > ?{_of_kinds(kinds)} ORDER BY j.id LIMIT ?",
                (after, *(kinds or ()), limit),
            ).fetchall()
            return self._read(conn, rows)

    def revive_jobs(self, ids: Sequence[int] | None, *, now: datetime) -> int:
        with self._store.connection(write=True) as conn:
            return _for_each(
                conn, "UPDATE jobs SET status = 0, attempts = 0, run_after = ? WHERE status = 1", (to_us(now),), ids
            )

    def drop_dead_jobs(self, ids: Sequence[int] | None) -> int:
        with self._store.connection(write=True) as conn:
            return _for_each(conn, "DELETE FROM jobs WHERE status = 1", (), ids)


def _of_kinds(kinds: Sequence[str] | None) -> str:
    return "" if kinds is None else f" AND {among('j.kind', len(kinds))}"


def _for_each(conn: Connection, sql: str, values: tuple[Any, ...], ids: Sequence[int] | None) -> int:
    if ids is None:
        return conn.execute(sql, values).rowcount
    return sum(conn.execute(f"{sql} AND id = ?", (*values, i)).rowcount for i in dict.fromkeys(ids))
