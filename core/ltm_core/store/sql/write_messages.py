"""Writing turns, sessions and slots of one user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ltm_core.errors import ConflictError, NotFoundError
from ltm_core.store.base import MessageRow, SlotRow
from ltm_core.store.sql.base import Core
from ltm_core.store.sql.conditions import later
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.records import (
    ITEM_MASK,
    MESSAGE_WRITE,
    SESSION_READ,
    SLOT_READ,
    message_values,
    session_from,
    slot_from,
)
from ltm_core.store.sql.write_summaries import SummaryWriter
from ltm_core.store.times import to_us
from ltm_core.types import Session

_INSERT = (
    f"INSERT INTO messages (id, user_no, session, sequence, {MESSAGE_WRITE}) "
    f"VALUES (?, ?, ?, ?, {', '.join('?' * len(MESSAGE_WRITE.split(',')))})"
)
_UPDATE = (
    f"UPDATE messages SET {', '.join(f'{c.strip()} = ?' for c in MESSAGE_WRITE.split(','))} "
    "WHERE id = ? AND id > ? AND id < ?"
)
_WIDENED = (
    f"started_at = CASE WHEN started_at < ? THEN started_at ELSE ? END, last_at = {later('last_at')}, "
    f"arrived_at = {later('arrived_at')}"
)
_COUNTED = f"UPDATE sessions SET message_count = message_count + 1, {_WIDENED} WHERE user_no = ? AND session = ?"
_TOUCHED = (
    f"UPDATE sessions SET {_WIDENED}, ended_at = NULL WHERE user_no = ? AND session = ? RETURNING {SESSION_READ}"
)


class MessageWriter(SummaryWriter):
    """The conversation side of a writer."""

    def __init__(self, core: Core, conn: Connection, user_id: str) -> None:
        super().__init__(core, conn, user_id)
        self._opened: set[int] = set()
        """Labels of sessions of which this transaction knows that they have a row."""

    def touch_session(self, session_id: str, *, at: datetime, now: datetime) -> Session:
        self._now = now
        no, label, moment, arrival = self._require(), self.label(session_id), to_us(at), to_us(now)
        self._changed = True
        touched = self._rows(_TOUCHED, (*[moment] * 4, arrival, arrival, no, label))
        if not touched:
            id = self._next()
            body = self._codec.encode({"id": session_id}, ("sessions", id))
            self._conn.execute(
                "INSERT INTO sessions (id, user_no, session, started_at, last_at, arrived_at, body) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (id, no, label, moment, moment, arrival, body),
            )
            touched = self._rows(f"SELECT {SESSION_READ} FROM sessions WHERE id = ?", (id,))
        self._opened.add(label)
        return session_from(touched[0], self._codec)

    def end_session(self, session_id: str, *, now: datetime) -> bool:
        self._now = now
        label = self.label(session_id)
        ended = self._conn.execute(
            "UPDATE sessions SET ended_at = ? WHERE user_no = ? AND session = ? AND ended_at IS NULL",
            (to_us(now), self.no, label),
        ).rowcount
        if not ended:
            return False
        self.clear_window(session_id)
        self._conn.execute("DELETE FROM slots WHERE user_no = ? AND session = ?", (self.no, label))
        self._changed = True
        return True

    def delete_session(self, session_id: str) -> bool:
        label = self.label(session_id)
        self._opened.discard(label)
        self._conn.execute("DELETE FROM slots WHERE user_no = ? AND session = ?", (self.no, label))
        gone = self._conn.execute("DELETE FROM sessions WHERE user_no = ? AND session = ?", (self.no, label)).rowcount
        self._changed = True
        return gone > 0

    def clear_window(self, session_id: str) -> int:
        count = self._conn.execute(
            "UPDATE messages SET in_window = 0 WHERE user_no = ? AND session = ? AND in_window = 1",
            (self.no, self.label(session_id)),
        ).rowcount
        self._changed = self._changed or count > 0
        return count

    def add_message(self, row: MessageRow) -> MessageRow:
        no, label, at = self._require(), self.label(row.session_id), to_us(row.at)
        counted = (*[at] * 4, *[to_us(row.recorded_at)] * 2, no, label)
        known = self._conn.execute(_COUNTED, counted)
        if label not in self._opened and not known.rowcount:
            self.touch_session(row.session_id, at=row.at, now=self._moment(row.recorded_at))
            self._conn.execute(_COUNTED, counted)
        id = self._next()
        n = id & ITEM_MASK
        values = message_values(row, id, self._keyed, self._codec)
        added = self._conn.execute(
            _INSERT + " ON CONFLICT (user_no, id_mac, session) DO NOTHING", (id, no, label, n, *values)
        ).rowcount
        if not added:
            raise ConflictError("a message with this id exists in the session", (row.id,))
        return replace(row, item=n, sequence=n)

    def update_message(self, row: MessageRow) -> None:
        self._unsay(row)
        values = message_values(row, self.low + row.item, self._keyed, self._codec)
        # What the turn said before may have been overwritten for good.
        self._core.kept.forget(self._user_id, self.low + row.item)
        found = self._conn.execute(_UPDATE, (*values, self.low + row.item, self.low, self.high)).rowcount
        if not found:
            raise NotFoundError(f"no message has item {row.item}")
        self._changed = True

    def touch_messages(self, ids: Sequence[tuple[str, str]], *, now: datetime, count: int = 1) -> None:
        moment = to_us(now)
        self._conn.executemany(
            f"UPDATE messages SET access_count = access_count + ?, last_access_at = {later('last_access_at')} "
            "WHERE user_no = ? AND id_mac = ? AND session = ?",
            [
                (count, moment, moment, self.no, self._keyed.mac(i), self.label(session))
                for session, i in dict.fromkeys(ids)
            ],
        )

    def delete_messages(self, items: Sequence[int], *, keep_summaries: bool = False) -> int:
        wanted = [self.low + i for i in dict.fromkeys(items)]
        found: list[tuple[Any, ...]] = []
        for marks, part in batches(wanted):
            found += self._rows(
                f"SELECT id, session, id_mac FROM messages WHERE id IN ({marks}) AND id > ? AND id < ?",
                (*part, self.low, self.high),
            )
        if not found:
            return 0
        found = list({r[0]: r for r in found}.values())
        ids = [r[0] for r in found]
        self._drop_chunks(ids)
        if not keep_summaries:
            self._drop_summaries_on(ids)
        for marks, part in batches(ids):
            self._conn.execute(f"DELETE FROM summary_sources WHERE source IN ({marks})", part)
            self._conn.execute(f"DELETE FROM messages WHERE id IN ({marks})", part)
        for id in ids:
            self._core.kept.forget(self._user_id, id)
        counts: dict[int, int] = {}
        for _, session, mac in found:
            counts[session] = counts.get(session, 0) + 1
            self._conn.execute(
                "DELETE FROM anchors WHERE user_no = ? AND message_mac = ? AND session = ?",
                (self.no, mac, session),
            )
        self._conn.executemany(
            "UPDATE sessions SET message_count = message_count - ? WHERE user_no = ? AND session = ?",
            [(count, self.no, session) for session, count in counts.items()],
        )
        # Evidence names a message by its id alone, which another session may hold too.
        macs = {r[2] for r in found}
        for marks, part in batches(sorted(macs)):
            sql = f"SELECT id_mac FROM messages WHERE user_no = ? AND id_mac IN ({marks})"
            rows = self._rows(sql, (self.no, *part))
            macs -= {r[0] for r in rows}
        for marks, part in batches(sorted(macs)):
            sql = f"DELETE FROM evidence WHERE user_no = ? AND message_mac IN ({marks})"
            self._conn.execute(sql, (self.no, *part))
        self._changed = True
        return len(ids)

    def retire_messages(self, items: Sequence[int], *, now: datetime) -> int:
        found: list[int] = []
        for marks, part in batches([self.low + i for i in dict.fromkeys(items)]):
            rows = self._rows(
                f"SELECT id FROM messages WHERE id IN ({marks}) AND id > ? AND id < ? AND retired_at IS NULL",
                (*part, self.low, self.high),
            )
            found += [r[0] for r in rows]
        found = list(dict.fromkeys(found))
        self._drop_chunks(found)
        for marks, part in batches(found):
            self._conn.execute(f"UPDATE messages SET retired_at = ? WHERE id IN ({marks})", (to_us(now), *part))
        self._changed = self._changed or bool(found)
        return len(found)

    def set_slot(self, session_id: str, slot: SlotRow) -> None:
        codec, session, name = self._require_codec(), self.label(session_id), self.label(slot.name)
        body = codec.encode({"name": slot.name, "value": slot.value}, ("slots", session, name))
        self._conn.execute(
            "INSERT INTO slots (user_no, session, name, set_at, expires_at, body) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (user_no, session, name) DO UPDATE SET set_at = excluded.set_at, "
            "expires_at = excluded.expires_at, body = excluded.body",
            (
                self.no,
                session,
                name,
                to_us(slot.set_at),
                to_us(slot.expires_at),
                body,
            ),
        )
        self._changed = True

    def delete_slot(self, session_id: str, name: str) -> bool:
        gone = self._conn.execute(
            "DELETE FROM slots WHERE user_no = ? AND session = ? AND name = ?",
            (self.no, self.label(session_id), self.label(name)),
        ).rowcount
        self._changed = self._changed or gone > 0
        return gone > 0

    def delete_slots(self, matches: Callable[[SlotRow], bool]) -> int:
        gone = 0
        rows = self._rows(f"SELECT {SLOT_READ} FROM slots WHERE user_no = ?", (self.no,))
        for row in rows:
            if matches(slot_from(row, self._codec)):
                gone += self._conn.execute(
                    "DELETE FROM slots WHERE user_no = ? AND session = ? AND name = ?", (self.no, *row[:2])
                ).rowcount
        self._changed = self._changed or gone > 0
        return gone

    def delete_expired_slots(self, *, now: datetime) -> int:
        """No slot whose time has passed is left; returns how many there were."""
        gone = self._conn.execute(
            "DELETE FROM slots WHERE user_no = ? AND expires_at <= ?", (self.no, to_us(now))
        ).rowcount
        self._changed = self._changed or gone > 0
        return gone
