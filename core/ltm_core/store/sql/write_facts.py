"""Writing facts, their evidence and their earlier times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ltm_core.errors import ConflictError, NotFoundError
from ltm_core.store.sql.base import Core
from ltm_core.store.sql.conditions import later
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.records import FACT_WRITE, ITEM_MASK, TIMES, fact_values
from ltm_core.store.sql.write_messages import MessageWriter
from ltm_core.store.times import to_us
from ltm_core.types import Fact

_COLUMNS = [c.strip() for c in FACT_WRITE.split(",")]
_INSERT = f"INSERT INTO facts (id, user_no, {FACT_WRITE}) VALUES (?, ?, {', '.join('?' * len(_COLUMNS))})"
STORED = f"SELECT id, {', '.join(TIMES)}, superseded_by, body FROM facts WHERE user_no = ?"
_UPDATE = f"UPDATE facts SET {', '.join(f'{c} = ?' for c in _COLUMNS)} WHERE id = ?"


class FactWriter(MessageWriter):
    """The semantic side of a writer."""

    def __init__(self, core: Core, conn: Connection, user_id: str) -> None:
        super().__init__(core, conn, user_id)
        self._items: dict[bytes, int | None] = {}
        """By the hash of a fact's id its item, None for one that is not there: what this transaction knows."""
        self._before: dict[bytes, tuple[Any, ...]] = {}
        """Rows of `STORED` that are about to be changed."""

    def add_fact(self, fact: Fact) -> int:
        no, id = self._require(), self._next()
        values = fact_values(fact, id, self._keyed, self._codec)
        added = self._conn.execute(_INSERT + " ON CONFLICT (user_no, id_mac) DO NOTHING", (id, no, *values))
        mac = self._keyed.mac(fact.id)
        is_new = self._items.get(mac, 0) is None
        if not is_new and not added.rowcount:
            raise ConflictError("a fact with this id exists", (fact.id,))
        self._items[mac] = id & ITEM_MASK
        self._add_evidence(id, fact)
        return id & ITEM_MASK

    def update_fact(self, fact: Fact, *, now: datetime | None = None) -> None:
        mac = self._keyed.mac(fact.id)
        row = self._before.pop(mac, None) or self._one(f"{STORED} AND id_mac = ?", (self.no, mac))
        if row is None:
            raise NotFoundError(f"no fact has id {fact.id}")
        id = row[0]
        values = fact_values(fact, id, self._keyed, self._codec)
        after = dict(zip(_COLUMNS, values, strict=True))
        if row[1:7] != (*(after[t] for t in TIMES), after["superseded_by"]):
            before = dict(zip(TIMES, row[1:6], strict=True))
            before["superseded_by"] = self._codec.decode(row[7], ("facts", id)).get("superseded_by")
            until = to_us(self._moment(now))
            # Of two changes at one instant the first one knows what was true before.
            self._conn.execute(
                "INSERT INTO fact_versions (fact, known_until, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (id, until, self._codec.encode(before, ("fact_versions", id, until))),
            )
        if row[6] is not None and row[6] != after["superseded_by"]:
            self._drop_expired(row[6], after["slot"], to_us(self._moment(now)))
        # What the fact said before may have been overwritten for good.
        self._core.kept.forget(self._user_id, id)
        self._conn.execute(_UPDATE, (*values, id))
        self._conn.execute("DELETE FROM evidence WHERE fact = ?", (id,))
        self._add_evidence(id, fact)
        self._items[mac] = id & ITEM_MASK
        self._changed = True

    def fact_item(self, id: str) -> int | None:
        mac = self._keyed.mac(id)
        return self._items[mac] if mac in self._items else super().fact_item(id)

    def foresee(self, fact_ids: Sequence[str], *, changes: int) -> None:
        """Nothing: what is needed is asked for when it is."""

    def _drop_expired(self, mac: bytes, slot: int, moment: int) -> None:
        """The value whose end let another one hold again is gone once that one is changed: else both would stand
        for the time before."""
        row = self._one(
            "SELECT id, body FROM facts WHERE user_no = ? AND id_mac = ? AND slot = ? AND expires_at <= ?",
            (self.no, mac, slot, moment),
        )
        if row is not None:
            self.delete_facts([self._codec.decode(row[1], ("facts", row[0]))["id"]])

    def delete_facts(self, ids: Sequence[str]) -> int:
        self._items.clear()
        self._before.clear()
        rows: list[int] = []
        for marks, part in batches([self._keyed.mac(i) for i in dict.fromkeys(ids)]):
            found = self._rows(f"SELECT id FROM facts WHERE user_no = ? AND id_mac IN ({marks})", (self.no, *part))
            rows += [r[0] for r in found]
        if not rows:
            return 0
        self._drop_chunks(rows)
        for marks, numbers in batches(rows):
            self._conn.execute(f"DELETE FROM evidence WHERE fact IN ({marks})", numbers)
            self._conn.execute(f"DELETE FROM fact_versions WHERE fact IN ({marks})", numbers)
            self._conn.execute(f"DELETE FROM facts WHERE id IN ({marks})", numbers)
        self._changed = True
        return len(rows)

    def touch_facts(self, ids: Sequence[str], *, now: datetime, count: int = 1) -> None:
        moment = to_us(now)
        self._conn.executemany(
            f"UPDATE facts SET access_count = access_count + ?, last_access_at = {later('last_access_at')} "
            "WHERE user_no = ? AND id_mac = ?",
            [(count, moment, moment, self.no, self._keyed.mac(i)) for i in dict.fromkeys(ids)],
        )

    def _add_evidence(self, id: int, fact: Fact) -> None:
        keyed, encode = self._keyed, self._codec.encode
        spans: list[tuple[str, int | None, int | None]] = [(e.message_id, e.start, e.end) for e in fact.evidence]
        spans += [(source, None, None) for source in fact.source_message_ids]
        rows: list[tuple[Any, ...]] = [
            (id, i, self.no, keyed.mac(message), start, end, encode(message, ("evidence", id, i)))
            for i, (message, start, end) in enumerate(spans)
        ]
        self._conn.executemany(
            'INSERT INTO evidence (fact, ordinal, user_no, message_mac, "start", "end", body) '
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
