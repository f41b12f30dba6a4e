"""Reading turns, sessions and slots of one user."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ltm_core.errors import NotFoundError
from ltm_core.store.base import ROLE_CODES, MessageRow, SlotRow, TurnMark
from ltm_core.store.sql.base import View
from ltm_core.store.sql.layout import NO_LIMIT, among, batches
from ltm_core.store.sql.records import (
    MESSAGE_READ,
    SESSION_READ,
    SLOT_READ,
    mark_from,
    message_from,
    session_from,
    slot_from,
)
from ltm_core.store.times import to_us
from ltm_core.types import Role, Session

_BY_ID = "messages INDEXED BY messages_by_id"
# Left to itself the planner walks the user's turns in the order asked for, to save sorting the one or two found.


class MessageView(View):
    """The conversation side of a reader."""

    def message(self, id: str, *, session_id: str | None = None) -> MessageRow | None:
        where, values = "user_no = ? AND id_mac = ?", [self.no, self._keyed.mac(id)]
        if session_id is not None:
            where += " AND session = ?"
            values.append(self.label(session_id))
        row = self._one(
            f"SELECT {MESSAGE_READ} FROM {_BY_ID} WHERE {where} ORDER BY at DESC, sequence DESC LIMIT 1",
            tuple(values),
        )
        return None if row is None else self._made([row])[0]

    def messages(
        self,
        *,
        session_id: str | None = None,
        items: Sequence[int] | None = None,
        ids: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        roles: Sequence[Role] | None = None,
        in_window: bool | None = None,
        doc_types: Sequence[str] | None = None,
        archived: bool | None = None,
        expired_by: datetime | None = None,
        after_item: int | None = None,
        after: tuple[int, int] | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> list[MessageRow]:
        where: list[str] = []
        values: list[Any] = []

        def add(condition: str, *given: Any) -> None:
            where.append(condition)
            values.extend(given)

        if session_id is not None:
            add("session = ?", self.label(session_id))
        if since is not None:
            add("at >= ?", to_us(since))
        if until is not None:
            add("at < ?", to_us(until))
        if roles is not None:
            codes = sorted({ROLE_CODES[r] for r in roles})
            add(among("role", len(codes)), *codes)
        if in_window is not None:
            add(f"in_window = {int(in_window)}")
        if doc_types is not None:
            add(among("doc_type", len(doc_types)), *map(self.label, doc_types))
        if archived is not None:
            add(f"archived_at IS {'NOT ' if archived else ''}NULL")
        if expired_by is not None:
            add("expires_at <= ?", to_us(expired_by))
        if after is not None:
            add(f"(at, sequence) {'<' if newest_first else '>'} (?, ?)", *after)
        by_item = after_item is not None
        if after_item is not None:
            add("id > ?", self.low + after_item)

        table = "messages"
        selections: list[tuple[str, tuple[Any, ...]]]
        if items is not None:
            selections = [(f"id IN ({marks})", part) for marks, part in batches(self.row_ids(items))]
        elif ids is not None:
            table = _BY_ID
            macs = [self._keyed.mac(i) for i in dict.fromkeys(ids)]
            selections = [(f"user_no = ? AND id_mac IN ({m})", (self.no, *part)) for m, part in batches(macs)]
        elif by_item:
            selections = [("id < ?", (self.high,))]
        else:
            selections = [("user_no = ?", (self.no,))]

        order = "id" if by_item else "at {0}, sequence {0}, id"
        order = (order + " {0}").format("DESC" if newest_first else "ASC")
        end = NO_LIMIT if limit is None else limit
        asked = []
        for condition, part in selections:
            sql = f"SELECT {MESSAGE_READ} FROM {table} WHERE {' AND '.join([condition, *where])} ORDER BY {order}"
            asked.append((f"{sql} LIMIT ?", (*part, *values, end)))
        rows = [row for answer in self.all(asked) for row in answer]
        if len(selections) > 1:
            rows.sort(key=lambda r: r[0] if by_item else (r[2], r[1], r[0]), reverse=newest_first)
            rows = rows[:limit]
        return self._made(rows)

    def _made(self, rows: Sequence[tuple[Any, ...]]) -> list[MessageRow]:
        return self._core.kept.messages(self, rows, lambda r: message_from(r, self._codec))

    def marks(self, session_id: str, *, roles: Sequence[Role] | None = None, limit: int) -> list[TurnMark]:
        label = self.label(session_id)
        codes = sorted({ROLE_CODES[r] for r in roles or ()})
        only = "" if roles is None else f" AND {among('role', len(codes))}"
        newest = f"{only} ORDER BY at DESC, sequence DESC LIMIT ?"
        columns = "role, caller_id, content_mac, at, sequence"
        own, mac = (self.no, label, *codes, limit), (self._keyed.mac(self._user_id), label, *codes, limit)
        rows, ghosts, cold = self.all(
            [
                (f"SELECT id, {columns} FROM messages WHERE user_no = ? AND session = ?{newest}", own),
                (f"SELECT 0, {columns} FROM ghosts WHERE user_mac = ? AND session = ?{newest}", mac),
                (f"SELECT -id, {columns} FROM cold_turns WHERE user_no = ? AND session = ?{newest}", own),
            ]
        )
        if ghosts or cold:
            rows = sorted([*rows, *ghosts, *cold], key=lambda r: (r[4], r[5]), reverse=True)[:limit]
        return [mark_from(r) for r in reversed(rows)]

    def content_mac(self, content: str) -> bytes:
        return self._keyed.content(content)

    def neighbours(self, item: int, *, before: int = 1, after: int = 1) -> list[MessageRow]:
        here = self._one(
            "SELECT session, at, sequence FROM messages WHERE id = ? AND id > ? AND id < ?",
            (self.low + item, self.low, self.high),
        )
        if here is None:
            return []
        found: list[tuple[Any, ...]] = []
        for count, sign, direction in ((before, "<", "DESC"), (after, ">", "ASC")):
            if count <= 0:
                continue
            rows = self._rows(
                f"SELECT {MESSAGE_READ} FROM messages WHERE user_no = ? AND session = ? "
                f"AND (at, sequence) {sign} (?, ?) ORDER BY at {direction}, sequence {direction} LIMIT ?",
                (self.no, *here, count),
            )
            found += reversed(rows) if sign == "<" else rows
        return self._made(found)

    def session(self, session_id: str) -> Session | None:
        row = self._one(
            f"SELECT {SESSION_READ} FROM sessions WHERE user_no = ? AND session = ?",
            (self.no, self.label(session_id)),
        )
        return None if row is None else session_from(row, self._codec)

    def sessions(self, *, after: str | None = None, limit: int = 100) -> list[Session]:
        where, values = "user_no = ?", (self.no,)
        if after is not None:
            last = self._one(
                "SELECT last_at, id FROM sessions WHERE user_no = ? AND session = ?", (self.no, self.label(after))
            )
            if last is None:
                raise NotFoundError("the session that the cursor names is gone; begin again")
            where, values = where + " AND (last_at, id) < (?, ?)", (self.no, *last)
        rows = self._rows(
            f"SELECT {SESSION_READ} FROM sessions WHERE {where} ORDER BY last_at DESC, id DESC LIMIT ?",
            (*values, limit),
        )
        return [session_from(r, self._codec) for r in rows]

    def slots(self, session_id: str, *, now: datetime) -> list[SlotRow]:
        rows = self._rows(
            f"SELECT {SLOT_READ} FROM slots "
            "WHERE user_no = ? AND session = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY set_at, name",
            (self.no, self.label(session_id), to_us(now)),
        )
        return [slot_from(r, self._codec) for r in rows]
