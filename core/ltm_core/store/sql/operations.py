"""The whole `Operations` protocol, except what only an engine can do with its files."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ltm_core.store.base import CONSOLIDATE_JOB
from ltm_core.store.rows import AuditRow, Copied
from ltm_core.store.sql.conditions import CURRENT, CURRENT_TAKES
from ltm_core.store.sql.layout import among
from ltm_core.store.sql.lookups import name_of, other_embedders
from ltm_core.store.sql.read_rows import AUDIT_READ, audit_body, audit_from
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.sql.state import StoreState
from ltm_core.store.times import to_us
from ltm_core.types import Receipt, Stats


class SqlOperations(StoreState, ABC):
    """The only door that looks across users; every method is its own short transaction."""

    # the engine ---------------------------------------------------------------------------------------
    @property
    @abstractmethod
    def erases_at_once(self) -> bool: ...

    @abstractmethod
    def scrub(self, *, needles: Sequence[bytes] = (), wait_seconds: float) -> tuple[bool, int]: ...

    @abstractmethod
    def check_file(self) -> list[str]: ...

    @abstractmethod
    def back_up(self, directory: Path, *, archive: bool = True) -> Copied: ...

    @abstractmethod
    def list_erasures(self, *, now: datetime, limit: int = 1000) -> int: ...

    @abstractmethod
    def bytes_on_disk(self) -> int:
        """What the store takes, with its indexes."""

    @property
    @abstractmethod
    def schema_version(self) -> int: ...

    # users --------------------------------------------------------------------------------------------
    def users(self, *, after: str | None = None, limit: int = 1000) -> list[str]:
        """In the order of the bytes of their ids, or of what stands for them in an encrypted store."""
        with self._store.connection() as conn:
            rows = conn.execute(
                "SELECT user_id FROM users WHERE user_id > ? ORDER BY user_id LIMIT ?", (self._after(after), limit)
            ).fetchall()
        return [self._store.core.user_id(r[0]) for r in rows]

    def _after(self, user_id: str | None) -> str | bytes:
        core = self._store.core
        if user_id is None:
            return b"" if core.names_are_bytes else ""
        return core.stored_name(user_id)

    def change_marks(self, *, after: int, limit: int) -> list[tuple[int, str]]:
        with self._store.connection() as conn:
            rows = conn.execute(
                "SELECT c.id, u.user_id FROM changes c JOIN users u ON u.user_no = c.user_no "
                "WHERE c.id > ? ORDER BY c.id LIMIT ?",
                (after, limit),
            ).fetchall()
        return [(number, self._store.core.user_id(name)) for number, name in rows]

    def users_with_doc_types(self, doc_types: Sequence[str], *, before: datetime, limit: int) -> list[str]:
        labels = [self._store.core.keyed.label(t) for t in doc_types]
        with self._store.connection() as conn:
            rows = conn.execute(
                "SELECT DISTINCT user_no FROM messages WHERE doc_type IS NOT NULL AND archived_at IS NULL "
                f"AND {among('doc_type', len(labels))} AND at < ? LIMIT ?",
                (*labels, to_us(before), limit),
            ).fetchall()
            names = [name_of(self._store.core, conn, r[0]) for r in rows]
        return sorted(n for n in names if n is not None)

    def users_with_documents(self, *, after: str | None = None, limit: int = 1000) -> list[str]:
        """In the order of the bytes of their ids."""
        with self._store.connection() as conn:
            rows = conn.execute(
                "SELECT user_id FROM users WHERE user_id > ? AND EXISTS (SELECT 1 FROM documents d "
                "WHERE d.user_no = users.user_no) ORDER BY user_id LIMIT ?",
                (self._after(after), limit),
            ).fetchall()
        return [self._store.core.user_id(r[0]) for r in rows]

    def users_to_consolidate(
        self, *, looked_before: datetime, said_before: datetime, after: str | None = None, limit: int
    ) -> list[str]:
        with self._store.connection() as conn:
            rows = conn.execute(
                "SELECT user_id FROM users WHERE user_id > ? AND paused_at IS NULL "
                "AND (consolidated_at IS NULL OR consolidated_at < ?) AND EXISTS (SELECT 1 FROM messages m "
                "WHERE m.user_no = users.user_no AND m.at < ?) AND NOT EXISTS (SELECT 1 FROM jobs j "
                "WHERE j.user_no = users.user_no AND j.kind = ? AND (j.status = 0 OR j.run_after >= ?)) "
                "ORDER BY user_id LIMIT ?",
                (
                    self._after(after),
                    to_us(looked_before),
                    to_us(said_before),
                    CONSOLIDATE_JOB,
                    to_us(looked_before),
                    limit,
                ),
            ).fetchall()
        return [self._store.core.user_id(r[0]) for r in rows]

    def set_consolidated(self, user_ids: Sequence[str], at: datetime) -> None:
        with self._store.connection(write=True) as conn:
            conn.executemany(
                "UPDATE users SET consolidated_at = ? WHERE user_id = ?",
                [(to_us(at), self._store.core.stored_name(u)) for u in user_ids],
            )

    def users_without_vectors(self, *, limit: int) -> list[str]:
        return self._users_waiting("chunks", limit)

    def users_without_unit_vectors(self, *, limit: int) -> list[str]:
        return self._users_waiting("document_units", limit)

    def _users_waiting(self, table: str, limit: int) -> list[str]:
        found: dict[int, None] = {}
        with self._store.connection() as conn:
            for embedder in other_embedders(conn):
                last = 0
                # One index step per user, however many chunks each of them has.
                while len(found) < limit:
                    row = conn.execute(
                        f"SELECT id FROM {table} WHERE embedded = ? AND id > ? ORDER BY id LIMIT 1",
                        (embedder, last),
                    ).fetchone()
                    if row is None:
                        break
                    found[row[0] >> 32] = None
                    last = row[0] | ITEM_MASK
            names = [name_of(self._store.core, conn, no) for no in found]
        return [n for n in names if n is not None]

    # receipts -----------------------------------------------------------------------------------------
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

    # audit --------------------------------------------------------------------------------------------
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
        body = audit_body(actor=actor, target=target, counts=counts, reason=reason)
        with self._store.connection(write=True) as conn:
            conn.execute(
                "INSERT INTO audit (user_no, user_mac, at, action, body) VALUES (NULL, ?, ?, ?, ?)",
                (b"", to_us(now), action, self._store.core.codec(conn, None).encode(body, ("audit", to_us(now)))),
            )

    def audit_rows(self, *, after: int = 0, limit: int) -> list[AuditRow]:
        columns = ", ".join(f"a.{c.strip()}" for c in AUDIT_READ.split(","))
        with self._store.connection() as conn:
            rows = conn.execute(
                f"SELECT {columns}, a.user_no, u.user_id FROM audit a LEFT JOIN users u ON u.user_no = a.user_no "
                "WHERE a.id > ? ORDER BY a.id LIMIT ?",
                (after, limit),
            ).fetchall()
            core = self._store.core
            return [
                audit_from(r, None if r[6] is None else core.user_id(r[6]), body)
                for r in rows
                for body in (core.codec(conn, r[5]).decode(r[4], ("audit", r[1])),)
            ]

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
                documents=one("SELECT count(*) FROM documents"),
                summaries=one("SELECT count(*) FROM summaries"),
                current_facts=one(f"SELECT count(*) FROM facts WHERE {CURRENT}", *[moment] * CURRENT_TAKES),
                chunks=one("SELECT sum(chunk_count) FROM users"),
                vectors=one("SELECT count(*) FROM chunks WHERE embedded > 0"),
                terms=one("SELECT sum(term_total) FROM users"),
                jobs=one("SELECT count(*) FROM jobs"),
                dead_jobs=one("SELECT count(*) FROM jobs WHERE status = 1"),
                bytes_on_disk=self.bytes_on_disk(),
                embedder=self.embedder_identity() or "",
                schema_version=self.schema_version,
                durability=store.config.durability,
            )


__all__ = ["SqlOperations"]
