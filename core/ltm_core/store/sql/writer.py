"""Changes to one user in one transaction: the whole `Writer` protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from ltm_core.errors import InvalidScopeError
from ltm_core.store.base import IMPORTANCE_CODES, RESTORE_JOB, ROLE_CODES, Job, MessageRow
from ltm_core.store.sql.codec import Codec
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.erase import erase_rows
from ltm_core.store.sql.lists import announce, announce_key
from ltm_core.store.sql.second import SecondWriter
from ltm_core.store.sql.write_cold import ColdWriter
from ltm_core.store.sql.write_documents import DocumentWriter
from ltm_core.store.sql.write_index import OUTBOX_ERASE_USER
from ltm_core.store.sql.write_rows import RowWriter
from ltm_core.store.times import EPOCH, to_us
from ltm_core.store.vault import ID_BYTES
from ltm_core.types import Anchor, FactChange

JOB_STATES: tuple[Literal["ready"], Literal["dead"]] = ("ready", "dead")


class SqlWriter(RowWriter, DocumentWriter, ColdWriter, SecondWriter):
    """Reads and writes inside one write transaction."""

    _announced = False
    """True once the lists beside the backups are to hear of an erasure of this transaction."""

    def finish(self) -> None:
        # Whoever removed the summary: its turns must not stay out of the index with nothing that stands for them.
        if self._lost_summaries and self.no and self.retired_alone(limit=1):
            self.add_job(Job(kind=RESTORE_JOB, user_id=self._user_id, run_after=EPOCH))
        super().finish()

    def add_anchor(self, anchor: Anchor, *, session_id: str, at: datetime) -> None:
        id = self._next()
        span = anchor.evidence
        body = self._codec.encode(
            {
                "text": anchor.text,
                "reason": anchor.reason,
                "message": span.message_id,
                "start": span.start,
                "end": span.end,
            },
            ("anchors", id),
        )
        self._conn.execute(
            "INSERT INTO anchors (id, user_no, message_mac, session, at, kind, importance, body) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                id,
                self.no,
                self._keyed.mac(span.message_id),
                self.label(session_id),
                to_us(at),
                anchor.kind,
                IMPORTANCE_CODES[anchor.importance],
                body,
            ),
        )

    def drop_anchors(self, message_item: int) -> int:
        row = self._one(
            "SELECT id_mac, session FROM messages WHERE id = ? AND id > ? AND id < ?",
            (self.low + message_item, self.low, self.high),
        )
        if row is None:
            return 0
        gone = self._conn.execute(
            "DELETE FROM anchors WHERE user_no = ? AND message_mac = ? AND session = ?", (self.no, *row)
        ).rowcount
        self._changed = self._changed or gone > 0
        return gone

    def log_change(self, change: FactChange) -> FactChange:
        no, moment = self._require(), to_us(change.at)
        body = {"fact": change.fact.id}
        numbers = [self.fact_item(change.fact.id), None]
        if change.previous is not None:
            body["previous"] = change.previous.id
            numbers[1] = self.fact_item(change.previous.id)
        if change.reason:
            body["reason"] = change.reason
        sealed = self._codec.encode(body, ("changes", moment))
        number = self._insert_change((no, moment, change.op, *numbers, sealed))
        self._changed = True
        self.logged.append(replace(change, cursor=str(number)))
        return self.logged[-1]

    def _insert_change(self, values: tuple[Any, ...]) -> int:
        """The number in the feed; values of user_no, at, op, fact, previous, body."""
        row = self._one(
            "INSERT INTO changes (user_no, at, op, fact, previous, body) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            values,
        )
        assert row is not None
        return int(row[0])

    def add_tombstones(self, entries: Sequence[tuple[str, str]], *, now: datetime) -> None:
        user, moment = self._keyed.mac(self._user_id), to_us(now)
        self._conn.executemany(
            "INSERT INTO tombstones (user_mac, kind, mac, at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (user_mac, kind, mac) DO UPDATE SET at = excluded.at",
            [(user, kind, self._keyed.mac(value), moment) for kind, value in entries],
        )
        self._erased_at(moment)

    def add_ghosts(self, rows: Sequence[MessageRow]) -> None:
        user = self._keyed.mac(self._user_id)
        self._conn.executemany(
            "INSERT INTO ghosts (user_mac, session, at, sequence, role, caller_id, content_mac) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (user_mac, session, at, sequence) DO UPDATE "
            "SET role = excluded.role, caller_id = excluded.caller_id, content_mac = excluded.content_mac",
            [
                (
                    user,
                    self.label(r.session_id),
                    to_us(r.at),
                    r.sequence,
                    ROLE_CODES[r.role],
                    r.has_caller_id,
                    r.content_mac or self.content_mac(r.content),
                )
                for r in rows
            ],
        )
        self._changed = True

    def set_erased_before(self, at: datetime) -> None:
        self._conn.execute(
            "INSERT INTO erasures (user_mac, erased_before) VALUES (?, ?) ON CONFLICT (user_mac) DO UPDATE "
            "SET erased_before = CASE WHEN erasures.erased_before > excluded.erased_before THEN "
            "erasures.erased_before ELSE excluded.erased_before END",
            (self._keyed.mac(self._user_id), to_us(at)),
        )
        self._erased_at(to_us(at))

    def _erased_at(self, moment: int) -> None:
        self._conn.execute(
            "INSERT INTO erasures (user_mac, count, last_at) VALUES (?, 1, ?) ON CONFLICT (user_mac) DO UPDATE "
            "SET count = erasures.count + 1, last_at = CASE WHEN erasures.last_at > excluded.last_at "
            "THEN erasures.last_at ELSE excluded.last_at END",
            (self._keyed.mac(self._user_id), moment),
        )
        self._erasures = None
        if not self._announced:
            self._announced = announce(self._conn, self._keyed.mac(self._user_id), moment)
        self._changed = True

    def add_job(self, job: Job) -> None:
        if job.user_id not in (None, self._user_id):
            raise InvalidScopeError("a job of another user was added in this user's transaction")
        no = None if job.user_id is None else self._require()
        codec = self._core.codec(self._conn, None) if no is None else self._codec
        insert_job(self._conn, job, user_no=no, codec=codec)
        self._changed = True

    def finish_claimed(self, id: int, *, attempts: int) -> bool:
        return bool(
            self._conn.execute(
                "DELETE FROM jobs WHERE id = ? AND user_no = ? AND attempts = ? AND status = 0",
                (id, self.no, attempts),
            ).rowcount
        )

    def sealed_key(self) -> bytes:
        return self.wrapped

    def _destroy_key(self, moment: int) -> None:
        """The data key is out of the memory of this process, and is taken out of the key files."""
        if not self.wrapped or self._core.vault is None:
            return
        self._core.vault.forget(self.wrapped)
        announce_key(self._conn, self.wrapped[:ID_BYTES], moment)

    def erase_user(self, *, now: datetime) -> dict[str, int]:
        self._now = now
        self._items.clear()
        self._before.clear()
        self._opened.clear()
        counts = erase_rows(self._conn, self.no)
        if not self.no:
            return counts
        self._destroy_key(to_us(now))
        self._report(OUTBOX_ERASE_USER, [self.no])
        # A user of this id who comes back goes on counting, so that no revision is seen twice.
        self._conn.execute(
            "INSERT INTO erasures (user_mac, revision) VALUES (?, ?) "
            "ON CONFLICT (user_mac) DO UPDATE SET revision = excluded.revision",
            (self._keyed.mac(self._user_id), self.revision + 1),
        )
        self._load()
        self._changed = self._shrunk = False
        self.index_changed = self.erased = True
        return counts


def insert_job(conn: Connection, job: Job, *, user_no: int | None, codec: Codec) -> None:
    """The job is a row."""
    conn.execute(
        "INSERT INTO jobs (user_no, kind, status, run_after, attempts, error, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            user_no,
            job.kind,
            JOB_STATES.index(job.status),
            to_us(job.run_after),
            job.attempts,
            job.error,
            codec.encode(dict(job.payload), ("jobs",)),
        ),
    )
