"""Sweeps across users: idle sessions, what expired, and what both would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from typing import TYPE_CHECKING

from ltm_core.store.base import CHANGES_DROPPED, DROPPED, LogKind
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.lookups import SET_SETTING, name_of, other_embedders
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.times import to_us
from ltm_core.text.normalize import fold
from ltm_core.types import Fact, FactChange

if TYPE_CHECKING:
    from ltm_core.store.sql.engine import Connection
    from ltm_core.store.sql.store import SqlStore
    from ltm_core.store.sql.writer import SqlWriter


_LEAVE_WINDOW = (
    "UPDATE messages SET in_window = 0 WHERE id IN (SELECT m.id FROM sessions s "
    "JOIN messages m INDEXED BY messages_by_session ON m.user_no = s.user_no AND m.session = s.session "
    "AND m.in_window = 1 WHERE s.id IN ({}))"
)
_PLACE = "user_mac, session, at, sequence"
_FIRST_PLACE = (b"", -(2**63), -(2**63), -(2**63))
_DROP_SLOTS = "DELETE FROM slots WHERE (user_no, session) IN (SELECT user_no, session FROM sessions WHERE id IN ({}))"


class Sweeps:
    """The sweeping side of `SqlOperations`."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def close_idle_sessions(self, *, idle_before: datetime, now: datetime, limit: int) -> int:
        with self._store.connection(write=True, alone=True) as conn:
            rows = conn.execute(
                "SELECT id, user_no FROM sessions WHERE ended_at IS NULL AND arrived_at < ? "
                "ORDER BY arrived_at LIMIT ?",
                (to_us(idle_before), limit),
            ).fetchall()
            for marks, part in batches([r[0] for r in rows]):
                conn.execute(f"UPDATE sessions SET ended_at = ? WHERE id IN ({marks})", (to_us(now), *part))
                # One statement per batch: each session by itself takes twice as long.
                conn.execute(_LEAVE_WINDOW.format(marks), part)
                conn.execute(_DROP_SLOTS.format(marks), part)
            conn.executemany(
                "UPDATE users SET revision = revision + 1 WHERE user_no = ?",
                [(no,) for no in {r[1] for r in rows}],
            )
            return len(rows)

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
            documents = conn.execute(
                "SELECT id FROM documents WHERE expires_at <= ? ORDER BY expires_at LIMIT ?", (moment, limit)
            ).fetchall()
            summaries = conn.execute(
                "SELECT id FROM summaries WHERE expires_at <= ? ORDER BY expires_at LIMIT ?", (moment, limit)
            ).fetchall()
            users = {r[0] for r in slots} | {r[0] >> 32 for r in (*messages, *facts, *documents, *summaries)}
            names = {no: name_of(self._store.core, conn, no) for no in users}
        counts = {"slots": 0, "messages": 0, "facts": 0, "documents": 0}
        for no, user_id in sorted(names.items()):
            if user_id is None:
                continue
            with self._store.write(user_id) as w:
                # What was read before this transaction may have been changed or erased since.
                expired = [m.item for m in w.messages(items=_of(messages, no), expired_by=now)]
                counts["messages"] += w.delete_messages(expired)
                # They expire with the first of their turns; what is left is summarised again.
                w.delete_summaries(
                    [s.item for s in w.summaries(items=_of(summaries, no)) if s.expires_at and s.expires_at <= now]
                )
                gone = [f for f in w.facts(items=_of(facts, no)) if f.expires_at and f.expires_at <= now]
                _reopen(w, gone, now=now)
                w.delete_facts([f.id for f in gone])
                counts["facts"] += len(gone)
                over = [d.item for d in w.documents(items=_of(documents, no)) if d.expires_at and d.expires_at <= now]
                counts["documents"] += w.delete_documents(over)
                counts["slots"] += w.delete_expired_slots(now=now)
        return counts

    def drop_old(self, log: LogKind, *, before: datetime, limit: int) -> int:
        with self._store.connection(write=True) as conn:
            first = conn.execute(f"SELECT id, at FROM {log} ORDER BY id LIMIT ?", (limit,)).fetchall()
            old = [number for number, _ in takewhile(lambda row: row[1] < to_us(before), first)]
            if old:
                conn.execute(f"DELETE FROM {log} WHERE id <= ?", (old[-1],))
            if old and log == "changes":
                conn.execute(SET_SETTING, (CHANGES_DROPPED, str(old[-1])))
        return len(old)

    def count_old(self, log: LogKind, *, before: datetime) -> int:
        with self._store.connection() as conn:
            (count,) = conn.execute(f"SELECT count(*) FROM {log} WHERE at < ?", (to_us(before),)).fetchone()
        return int(count)

    def drop_marks(self, *, before: datetime, limit: int) -> int:
        count, after, moment = 0, _FIRST_PLACE, to_us(before)
        while True:
            with self._store.connection(write=True) as conn:
                rows = conn.execute(
                    f"SELECT {_PLACE}, content_mac FROM ghosts WHERE ({_PLACE}) > (?, ?, ?, ?) AND at < ? "
                    f"ORDER BY {_PLACE} LIMIT ?",
                    (*after, moment, limit),
                ).fetchall()
                going = [r[:4] for r in rows if not self._is_refused(conn, user=r[0], said=r[4])]
                conn.executemany(f"DELETE FROM ghosts WHERE ({_PLACE}) = (?, ?, ?, ?)", going)
            count += len(going)
            if len(rows) < limit:
                break
            after = rows[-1][:4]
        while True:
            with self._store.connection(write=True) as conn:
                gone = conn.execute(
                    "DELETE FROM tombstones WHERE (user_mac, kind, mac) IN "
                    "(SELECT user_mac, kind, mac FROM tombstones WHERE kind = ? AND at < ? LIMIT ?)",
                    (DROPPED, moment, limit),
                ).rowcount
            count += gone
            if gone < limit:
                return count

    def _is_refused(self, conn: Connection, *, user: bytes, said: bytes) -> bool:
        """Whether somebody asked that these words be forgotten."""
        mac = self._store.core.keyed.mac(said.hex())
        row = conn.execute(
            "SELECT 1 FROM tombstones WHERE user_mac = ? AND kind = 'content' AND mac = ?", (user, mac)
        ).fetchone()
        return row is not None

    def preview(self, *, idle_before: datetime, now: datetime) -> dict[str, int]:
        moment = to_us(now)
        questions = {
            "sessions": ("sessions WHERE ended_at IS NULL AND arrived_at < ?", to_us(idle_before)),
            "slots": ("slots WHERE expires_at <= ?", moment),
            "messages": ("messages WHERE expires_at <= ?", moment),
            "facts": ("facts WHERE expires_at <= ?", moment),
            "documents": ("documents WHERE expires_at <= ?", moment),
            "jobs": ("jobs WHERE status = 0 AND run_after <= ?", moment),
        }
        with self._store.connection() as conn:
            counts = {
                name: int(conn.execute(f"SELECT count(*) FROM {where}", (value,)).fetchone()[0])
                for name, (where, value) in questions.items()
            }
            others = other_embedders(conn)
            counts["unembedded"] = sum(
                conn.execute(
                    "SELECT count(*) FROM chunks WHERE embedded = ? AND (expires_at IS NULL OR expires_at > ?)",
                    (embedder, moment),
                ).fetchone()[0]
                + conn.execute(
                    "SELECT count(*) FROM document_units u JOIN documents d ON d.id = u.document "
                    "WHERE u.embedded = ? AND (d.expires_at IS NULL OR d.expires_at > ?)",
                    (embedder, moment),
                ).fetchone()[0]
                for embedder in others
            )
        return counts


def _reopen(writer: SqlWriter, gone: Sequence[Fact], *, now: datetime) -> None:
    """What an expired value of a slot had replaced holds as long as that value did: for good, when nothing
    replaced it."""
    ids = {f.id for f in gone}
    for fact in gone:
        # What expires with it has no say: the first value before it that stays gets its end.
        last, before = fact, writer.predecessors([fact.id])[fact.id]
        seen = {fact.id}
        while len(before) == 1 and before[0].id in ids - seen:
            last = before[0]
            seen.add(last.id)
            before = writer.predecessors([last.id])[last.id]
        if fact.superseded_by in ids or fact.retracted_at is not None or not fact.is_positive:
            continue
        slot = (fold(fact.subject), fold(fact.relation))
        for old in before:
            same = (fold(old.subject), fold(old.relation)) == slot and old.is_positive
            adjacent = old.valid_from < last.valid_from and old.valid_to in (None, last.valid_from)
            if old.id in ids or old.retracted_at is not None or not same:
                continue
            if not adjacent and max(old.recorded_at, old.valid_from) > last.recorded_at:
                continue
            open_again = fact.valid_to is None and fact.superseded_by is None
            after = replace(old, valid_to=fact.valid_to, superseded_by=fact.superseded_by, is_current=open_again)
            writer.update_fact(after, now=now)
            writer.log_change(
                FactChange(op="restore", fact=after, previous=old, reason="what had replaced it expired", at=now)
            )


def _of(rows: Sequence[tuple[int]], user_no: int) -> list[int]:
    return [r[0] & ITEM_MASK for r in rows if r[0] >> 32 == user_no]
