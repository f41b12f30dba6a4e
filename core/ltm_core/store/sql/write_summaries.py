"""Writing summaries. None outlives a turn that it rests on, whoever removes or changes the turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ltm_core.errors import ConflictError
from ltm_core.store.base import MessageRow
from ltm_core.store.rows import LEVEL_CODES, SummaryRow
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.read_summaries import summary_body
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.sql.write_index import IndexWriter
from ltm_core.store.times import to_us


class SummaryWriter(IndexWriter):
    """The side of a writer that keeps summaries."""

    _lost_summaries = False
    """True once this transaction removed a summary."""

    def add_summary(self, row: SummaryRow) -> SummaryRow:
        id = self._next()
        label = self.label
        added = self._conn.execute(
            "INSERT INTO summaries (id, user_no, id_mac, level, begins, ends, agent, task, app, recorded_at, "
            "recallable_at, expires_at, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (user_no, id_mac) DO NOTHING",
            (
                id,
                self.no,
                self._keyed.mac(row.id),
                LEVEL_CODES[row.level],
                to_us(row.begins),
                to_us(row.ends),
                label(row.agent_id),
                label(row.task_id),
                label(row.app_id),
                to_us(row.recorded_at),
                to_us(row.recallable_at),
                to_us(row.expires_at),
                self._codec.encode(summary_body(row), ("summaries", id)),
            ),
        ).rowcount
        if not added:
            raise ConflictError("a summary with this id exists", (row.id,))
        self._conn.executemany(
            "INSERT INTO summary_sources (summary, source) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [(id, self.low + s.item) for s in row.sources if s.item],
        )
        return replace(row, item=id & ITEM_MASK)

    def set_recallable(self, item: int, *, now: datetime) -> bool:
        found = self._conn.execute(
            "UPDATE summaries SET recallable_at = coalesce(recallable_at, ?) WHERE id = ? AND id > ? AND id < ?",
            (to_us(now), self.low + item, self.low, self.high),
        ).rowcount
        self._changed = self._changed or found > 0
        return found > 0

    def delete_summaries(self, items: Sequence[int]) -> int:
        return self._drop_summaries([self.low + i for i in dict.fromkeys(items) if 0 < i <= ITEM_MASK])

    def set_consolidated(self, at: datetime | None) -> None:
        # No change of what anybody reads: caches stay as they are.
        self._conn.execute("UPDATE users SET consolidated_at = ? WHERE user_no = ?", (to_us(at), self.no))

    def _drop_summaries(self, ids: Sequence[int]) -> int:
        gone = 0
        self._drop_chunks(ids)
        for marks, part in batches(ids):
            self._conn.execute(f"DELETE FROM summary_sources WHERE summary IN ({marks})", part)
            gone += self._conn.execute(f"DELETE FROM summaries WHERE id IN ({marks})", part).rowcount
        if gone:
            self._changed = self._lost_summaries = True
            self.set_consolidated(None)
        return gone

    def _drop_summaries_on(self, messages: Sequence[int]) -> int:
        """No summary that rests on one of these turns (row ids) is left."""
        found: dict[int, None] = {}
        for marks, part in batches(messages):
            rows = self._rows(f"SELECT DISTINCT summary FROM summary_sources WHERE source IN ({marks})", part)
            found.update(dict.fromkeys(r[0] for r in rows))
        return self._drop_summaries(list(found))

    def _unsay(self, row: MessageRow) -> None:
        """Called before a turn is replaced: no summary says what it said, if that changes."""
        id = self.low + row.item
        if self._one("SELECT 1 FROM summary_sources WHERE source = ? LIMIT 1", (id,)) is None:
            return
        stored = self._one("SELECT expires_at, body FROM messages WHERE id = ?", (id,))
        if stored is None:
            return
        body = self._codec.decode(stored[1], ("messages", id))
        if (body["text"], body.get("name"), stored[0]) != (row.content, row.name, to_us(row.expires_at)):
            self._drop_summaries_on([id])
