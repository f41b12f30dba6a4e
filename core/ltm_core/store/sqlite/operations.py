"""Across users, for maintenance: sweeps, jobs, statistics. Never returns the content of a memory."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.errors import BusyError, ConflictError, InvalidScopeError, NotFoundError
from ltm_core.store.base import Job
from ltm_core.store.sqlite.codec import PLAIN_CODEC
from ltm_core.store.sqlite.files import sizes
from ltm_core.store.sqlite.migrations import SCHEMA_VERSION
from ltm_core.store.sqlite.records import CURRENT, CURRENT_TAKES, ITEM_MASK
from ltm_core.store.sqlite.schema import BODIES
from ltm_core.store.sqlite.scrub import scan, variants
from ltm_core.store.sqlite.writer import JOB_STATES, insert_job
from ltm_core.store.times import from_us, to_us
from ltm_core.text.normalize import fold
from ltm_core.types import Fact, FactChange, Receipt, Stats

if TYPE_CHECKING:
    from ltm_core.store.sqlite.store import SqliteStore
    from ltm_core.store.sqlite.writer import SqliteWriter

_CHECKPOINT_TRY_MS = 50
"""Writers wait at most about this long for one try at truncating the log."""
_CHECKPOINT_PAUSE = 0.02


class SqliteOperations:
    """The only door that looks across users; every method is its own short transaction."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    # sweeps -------------------------------------------------------------------------------------------
    def close_idle_sessions(self, *, idle_before: datetime, now: datetime, limit: int) -> list[tuple[str, str]]:
        with self._store.connection(write=True) as conn:
            rows = conn.execute(
                "SELECT s.id, s.user_no, s.session, u.user_id, s.body FROM sessions s "
                "JOIN users u ON u.user_no = s.user_no WHERE s.ended_at IS NULL AND s.arrived_at < ? "
                "ORDER BY s.arrived_at LIMIT ?",
                (to_us(idle_before), limit),
            ).fetchall()
            moment = to_us(now)
            pairs = [(r[1], r[2]) for r in rows]
            conn.executemany("UPDATE sessions SET ended_at = ? WHERE id = ?", [(moment, r[0]) for r in rows])
            conn.executemany(
                "UPDATE messages SET in_window = 0 WHERE user_no = ? AND session = ? AND in_window = 1", pairs
            )
            conn.executemany("DELETE FROM slots WHERE user_no = ? AND session = ?", pairs)
            conn.executemany(
                "UPDATE users SET revision = revision + 1 WHERE user_no = ?",
                [(no,) for no in {r[1] for r in rows}],
            )
            codec = self._store.core.codec
            return [(r[3], codec(r[1]).decode(r[4])["id"]) for r in rows]

    def expire(self, *, now: datetime, limit: int) -> dict[str, int]:
        moment = to_us(now)
        with self._store.connection() as conn:
            slots = conn.execute(
                "SELECT DISTINCT user_no FROM slots WHERE expires_at <= ? LIMIT ?", (moment, limit)
            ).fetchall()
            messages = conn.execute(
                "SELECT id FROM messages WHERE expires_at <= ? ORDER BY expires_at LIMIT ?", (moment, limit)
            ).fetchall()
            facts = conn.execute(
                "SELECT id FROM facts WHERE expires_at <= ? ORDER BY expires_at LIMIT ?", (moment, limit)
            ).fetchall()
            users = {r[0] for r in slots} | {r[0] >> 32 for r in messages} | {r[0] >> 32 for r in facts}
            names = {no: self._name(conn, no) for no in users}
        counts = {"slots": 0, "messages": 0, "facts": 0}
        for no, user_id in sorted(names.items()):
            if user_id is None:
                continue
            with self._store.write(user_id) as w:
                # What was read before this transaction may have been changed or erased since.
                expired = [m.item for m in w.messages(items=_of(messages, no), expired_by=now)]
                counts["messages"] += w.delete_messages(expired)
                gone = [f for f in w.facts(items=_of(facts, no)) if f.expires_at and f.expires_at <= now]
                _reopen(w, gone, now=now)
                counts["facts"] += w.delete_facts([f.id for f in gone])
                counts["slots"] += w.delete_expired_slots(now=now)
        return counts

    @staticmethod
    def _name(conn: Any, user_no: int) -> str | None:
        row = conn.execute("SELECT user_id FROM users WHERE user_no = ?", (user_no,)).fetchone()
        return None if row is None else row[0]

    def preview(self, *, idle_before: datetime, now: datetime) -> dict[str, int]:
        moment = to_us(now)
        questions = {
            "sessions": ("sessions WHERE ended_at IS NULL AND arrived_at < ?", to_us(idle_before)),
            "slots": ("slots WHERE expires_at <= ?", moment),
            "messages": ("messages WHERE expires_at <= ?", moment),
            "facts": ("facts WHERE expires_at <= ?", moment),
            "jobs": ("jobs WHERE status = 0 AND run_after <= ?", moment),
        }
        with self._store.connection() as conn:
            counts = {
                name: int(conn.execute(f"SELECT count(*) FROM {where}", (value,)).fetchone()[0])
                for name, (where, value) in questions.items()
            }
            others = self._other_embedders(conn)
            counts["unembedded"] = sum(
                conn.execute(
                    "SELECT count(*) FROM chunks WHERE embedded = ? AND (expires_at IS NULL OR expires_at > ?)",
                    (embedder, moment),
                ).fetchone()[0]
                for embedder in others
            )
        return counts

    @staticmethod
    def _other_embedders(conn: Any) -> list[int]:
        """Every embedder but the store's own, 0 for none; empty while the store has no embedder."""
        current = conn.execute("SELECT embedder FROM state WHERE id = 1").fetchone()[0]
        others = [r[0] for r in conn.execute("SELECT no FROM embedders WHERE no <> ?", (current,)).fetchall()]
        return [*others, 0] if current else []

    # jobs ---------------------------------------------------------------------------------------------
    def add_job(self, job: Job) -> None:
        if job.user_id is not None:
            raise InvalidScopeError("a user's job is added in the user's own transaction")
        with self._store.connection(write=True) as conn:
            insert_job(conn, job, user_no=None, codec=PLAIN_CODEC)

    def due_jobs(self, *, now: datetime, kinds: Sequence[str] | None = None, limit: int = 100) -> list[Job]:
        where, values = "", [to_us(now)]
        if kinds is not None:
            where = f" AND j.kind IN ({','.join('?' * len(kinds))})"
        with self._store.connection() as conn:
            rows = conn.execute(
                "SELECT j.id, j.kind, j.user_no, u.user_id, j.body, j.attempts, j.run_after, j.status, j.error "
                "FROM jobs j LEFT JOIN users u ON u.user_no = j.user_no "
                f"WHERE j.status = 0 AND j.run_after <= ?{where} ORDER BY j.run_after, j.id LIMIT ?",
                (*values, *(kinds or ()), limit),
            ).fetchall()
        codec = self._store.core.codec
        return [
            Job(
                id=r[0],
                kind=r[1],
                user_id=r[3],
                payload=codec(r[2] or 0).decode(r[4]),
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
                "run_after = ifnull(?, run_after) WHERE id = ?",
                (error, 0 if retry_at else 1, to_us(retry_at), id),
            ).rowcount
        if not found:
            raise NotFoundError(f"no job has id {id}")

    # users --------------------------------------------------------------------------------------------
    def users(self, *, after: str | None = None, limit: int = 1000) -> list[str]:
        """In the order of the bytes of their ids."""
        with self._store.connection() as conn:
            rows = conn.execute(
                "SELECT user_id FROM users WHERE user_id > ? ORDER BY user_id LIMIT ?", (after or "", limit)
            ).fetchall()
        return [r[0] for r in rows]

    def users_with_doc_types(self, doc_types: Sequence[str], *, before: datetime, limit: int) -> list[str]:
        labels = [self._store.core.keyed.label(t) for t in doc_types]
        with self._store.connection() as conn:
            rows = conn.execute(
                "SELECT DISTINCT user_no FROM messages WHERE doc_type IS NOT NULL AND archived_at IS NULL "
                f"AND doc_type IN ({','.join('?' * len(labels))}) AND at < ? LIMIT ?",
                (*labels, to_us(before), limit),
            ).fetchall()
            names = [self._name(conn, r[0]) for r in rows]
        return sorted(n for n in names if n is not None)

    def users_without_vectors(self, *, limit: int) -> list[str]:
        found: dict[int, None] = {}
        with self._store.connection() as conn:
            for embedder in self._other_embedders(conn):
                last = 0
                # One index step per user, however many chunks each of them has.
                while len(found) < limit:
                    row = conn.execute(
                        "SELECT id FROM chunks WHERE embedded = ? AND id > ? ORDER BY id LIMIT 1",
                        (embedder, last),
                    ).fetchone()
                    if row is None:
                        break
                    found[row[0] >> 32] = None
                    last = row[0] | ITEM_MASK
            names = [self._name(conn, no) for no in found]
        return [n for n in names if n is not None]

    # bytes --------------------------------------------------------------------------------------------
    def scrub(self, *, needles: Sequence[bytes] = (), wait_seconds: float) -> tuple[bool, int]:
        truncated = self._truncate(time.monotonic() + wait_seconds)
        if not any(needles):
            return truncated, 0
        forms = {form: needle for needle in needles for form in variants([needle])}
        found, files = scan(self._store.directory, tuple(forms))
        # What another row still says is there by right; it proves nothing about the erased one.
        left = {forms[f] for f in found if not self._is_alive(f)}
        return truncated and not left, files

    def _is_alive(self, words: bytes) -> bool:
        with self._store.connection() as conn:
            return any(
                conn.execute(f"SELECT 1 FROM {table} WHERE instr({column}, ?) LIMIT 1", (words,)).fetchone()
                for table, column in BODIES
            )

    def _truncate(self, deadline: float) -> bool:
        """Whether the log is empty now; readers and writers are waited for until the deadline."""
        while True:
            left = deadline - time.monotonic()
            try:
                with self._store.exclusive(max(left, 0.0)) as conn:
                    # Short tries, so that writers do not stand behind one slow reader.
                    conn.execute(f"PRAGMA busy_timeout = {_CHECKPOINT_TRY_MS}")
                    try:
                        busy = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                    finally:
                        conn.execute(f"PRAGMA busy_timeout = {self._store.busy_ms}")
            except BusyError:
                busy = 1
            if not busy:
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(_CHECKPOINT_PAUSE)

    def record_receipt(self, receipt: Receipt) -> None:
        with self._store.connection(write=True) as conn:
            conn.execute(
                "INSERT INTO receipts (id, user_mac, what, at, counts, bytes_clean, files_scanned, seconds) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET counts = excluded.counts, "
                "bytes_clean = excluded.bytes_clean, files_scanned = excluded.files_scanned, "
                "seconds = excluded.seconds",
                (
                    receipt.id,
                    bytes.fromhex(receipt.user_id_hmac),
                    receipt.what,
                    to_us(receipt.at),
                    json.dumps(dict(receipt.counts)),
                    receipt.bytes_clean,
                    receipt.files_scanned,
                    receipt.seconds,
                ),
            )

    # state --------------------------------------------------------------------------------------------
    def stats(self) -> Stats:
        store = self._store
        with store.connection() as conn:

            def one(sql: str, *values: Any) -> int:
                return int(conn.execute(sql, values).fetchone()[0] or 0)

            moment = to_us(store.core.clock())
            return Stats(
                users=one("SELECT count(*) FROM users"),
                sessions=one("SELECT count(*) FROM sessions"),
                messages=one("SELECT count(*) FROM messages"),
                facts=one("SELECT count(*) FROM facts"),
                current_facts=one(f"SELECT count(*) FROM facts WHERE {CURRENT}", *[moment] * CURRENT_TAKES),
                chunks=one("SELECT sum(chunk_count) FROM users"),
                vectors=one("SELECT count(*) FROM chunks WHERE embedded > 0"),
                terms=one("SELECT sum(term_total) FROM users"),
                jobs=one("SELECT count(*) FROM jobs"),
                bytes_on_disk=sizes(store.directory),
                embedder=self.embedder_identity() or "",
                schema_version=SCHEMA_VERSION,
                durability=store.config.durability,
            )

    def embedder_identity(self) -> str | None:
        with self._store.connection() as conn:
            row = conn.execute(
                "SELECT e.identity FROM state s JOIN embedders e ON e.no = s.embedder WHERE s.id = 1"
            ).fetchone()
        return None if row is None else row[0]

    def set_embedder_identity(self, identity: str, *, dimension: int, now: datetime) -> None:
        """The store's vectors are from now on those of this embedder; the others no longer count, and their
        chunks are again without a vector. ConflictError when the identity is known with another dimension."""
        with self._store.connection(write=True) as conn:
            conn.execute(
                "INSERT INTO embedders (identity, dimension, created_at) VALUES (?, ?, ?) "
                "ON CONFLICT (identity) DO NOTHING",
                (identity, dimension, to_us(now)),
            )
            no, known = conn.execute(
                "SELECT no, dimension FROM embedders WHERE identity = ?", (identity,)
            ).fetchone()
            if known != dimension:
                raise ConflictError(f"embedder {identity!r} has dimension {known} in this store, not {dimension}")
            conn.execute("UPDATE state SET embedder = ?, dimension = ? WHERE id = 1", (no, dimension))

    def set_outbox(self, enabled: bool) -> None:
        """Whether changes of vectors are listed for an external index from now on; off empties the list."""
        with self._store.connection(write=True) as conn:
            conn.execute("UPDATE state SET outbox = ? WHERE id = 1", (enabled,))
            if not enabled:
                conn.execute("DELETE FROM outbox")


def _reopen(writer: SqliteWriter, gone: Sequence[Fact], *, now: datetime) -> None:
    """What an expired value of a slot had replaced holds as long as that value did: for good, when nothing
    replaced it."""
    ids = {f.id for f in gone}
    for fact in gone:
        # What expires with it has no say: the first value before it that stays gets its end.
        before = writer.superseded_by(fact.id)
        while before and all(f.id in ids for f in before):
            before = [f for b in before for f in writer.superseded_by(b.id)]
        if fact.superseded_by in ids or fact.retracted_at is not None or not fact.is_positive:
            continue
        slot = (fold(fact.subject), fold(fact.relation))
        for old in before:
            same = (fold(old.subject), fold(old.relation)) == slot and old.is_positive
            if old.id in ids or old.retracted_at is not None or not same:
                continue
            open_again = fact.valid_to is None and fact.superseded_by is None
            after = replace(
                old, valid_to=fact.valid_to, superseded_by=fact.superseded_by, is_current=open_again
            )
            writer.update_fact(after, now=now)
            writer.log_change(
                FactChange(op="restore", fact=after, previous=old, reason="what had replaced it expired", at=now)
            )


def _of(rows: Sequence[tuple[int]], user_no: int) -> list[int]:
    return [r[0] & ITEM_MASK for r in rows if r[0] >> 32 == user_no]
