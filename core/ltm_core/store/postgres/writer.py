"""What a writer does otherwise in PostgreSQL: numbers are drawn before the row is there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ltm_core.store.base import SCRUB_JOB, Job
from ltm_core.store.postgres.mirror import MirrorWriter
from ltm_core.store.sql.base import Core
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.sql.write_facts import STORED

_FORESEEN = STORED.replace("SELECT ", "SELECT id_mac, ", 1)
_DRAWN = "SELECT nextval('changes_number') FROM generate_series(1, ?)"


class PostgresWriter(MirrorWriter):
    """Reads and writes inside one write transaction."""

    def __init__(self, core: Core, conn: Connection, user_id: str) -> None:
        super().__init__(core, conn, user_id)
        self._draws = False
        """Whether numbers of the feed are kept back for this transaction."""
        self._numbers: list[int] = []
        """Those that were drawn and are not used yet."""

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

    def foresee(self, fact_ids: Sequence[str], *, changes: int) -> None:
        macs = [self._keyed.mac(i) for i in fact_ids]
        stored = [(f"{_FORESEEN} AND id_mac IN ({m})", (self.no, *part)) for m, part in batches(macs)]
        self._draw()
        *answers, numbers = self.all([*stored, (_DRAWN, (max(changes - len(self._numbers), 0),))])
        found = {mac: tuple(row) for answer in answers for mac, *row in answer}
        self._before = found
        self._items |= {mac: found[mac][0] & ITEM_MASK if mac in found else None for mac in macs}
        self._numbers += [number for (number,) in numbers]

    def _insert_change(self, values: tuple[Any, ...]) -> int:
        self._draw()
        if not self._numbers:
            return super()._insert_change(values)
        number = self._numbers.pop(0)
        self._conn.execute(
            "INSERT INTO changes (id, user_no, at, op, fact, previous, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (number, *values),
        )
        return number

    def _draw(self) -> None:
        """Numbers of the feed are drawn before the commit: who reads it waits until this write is over."""
        if not self._draws:
            self._conn.execute("SELECT pg_advisory_xact_lock_shared(?)", (self._core.feed_lock,))
            self._draws = True


__all__ = ["PostgresWriter"]
