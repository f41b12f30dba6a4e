"""What a writer does otherwise in PostgreSQL: numbers are drawn before the row is there."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ltm_core.store.base import SCRUB_JOB, Job
from ltm_core.store.postgres.mirror import MirrorWriter
from ltm_core.types import FactChange


class PostgresWriter(MirrorWriter):
    """Reads and writes inside one write transaction."""

    def _insert_user(self, values: tuple[Any, ...]) -> int:
        # The row is refused unless the transaction is already this user's.
        row = self._one("SELECT set_config('ltm.user_no', nextval('users_number')::text, true)", ())
        assert row is not None
        number = int(row[0])
        self._conn.execute(
            "INSERT INTO users (user_no, user_id, timezone, created_at, revision) VALUES (?, ?, ?, ?, ?)",
            (number, *values),
        )
        return number

    def erase_user(self, *, now: datetime) -> dict[str, int]:
        self._owe_bytes()
        return super().erase_user(now=now)

    def add_job(self, job: Job) -> None:
        if job.kind == SCRUB_JOB:
            self._owe_bytes()
        super().add_job(job)

    def _owe_bytes(self) -> None:
        """The user's parts of the tables are to be written anew."""
        if self.no:
            self._conn.execute("INSERT INTO rewrites (of_user) VALUES (?)", (self.no,))

    def log_change(self, change: FactChange) -> FactChange:
        if not self.logged:
            # Numbers of the feed are drawn before the commit: who reads it waits until this write is over.
            self._conn.execute("SELECT pg_advisory_xact_lock_shared(?)", (self._core.feed_lock,))
        return super().log_change(change)


__all__ = ["PostgresWriter"]
