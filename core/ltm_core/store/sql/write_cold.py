"""Writing down that turns were moved to a file outside the store."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.store.base import ROLE_CODES, MessageRow
from ltm_core.store.rows import ColdFile
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.sql.write_messages import MessageWriter
from ltm_core.store.times import to_us


class ColdWriter(MessageWriter):
    """The archive side of a writer."""

    def add_cold_file(self, file: ColdFile, rows: Sequence[MessageRow]) -> ColdFile:
        id = self._add_cold(file)
        self._conn.executemany(
            "INSERT INTO cold_turns (id, user_no, file, id_mac, session, at, sequence, role, caller_id, content_mac) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    self.low + r.item,
                    self.no,
                    id,
                    self._keyed.mac(r.id),
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
        self.delete_messages([r.item for r in rows], keep_summaries=True)
        return ColdFile(
            item=id & ITEM_MASK,
            name=file.name,
            count=file.count,
            first_at=file.first_at,
            last_at=file.last_at,
            digest=file.digest,
        )

    def replace_cold_file(self, item: int, by: ColdFile | None, *, keep: Sequence[int] = ()) -> None:
        old = self.low + item
        if by is not None:
            new = self._add_cold(by)
            for marks, part in batches([self.low + i for i in keep]):
                self._conn.execute(
                    f"UPDATE cold_turns SET file = ? WHERE file = ? AND id IN ({marks})", (new, old, *part)
                )
        self._conn.execute("DELETE FROM cold_turns WHERE file = ? AND user_no = ?", (old, self.no))
        self._conn.execute("DELETE FROM cold_files WHERE id = ? AND user_no = ?", (old, self.no))
        self._changed = True

    def _add_cold(self, file: ColdFile) -> int:
        id = self._next()
        body = self._codec.encode({"name": file.name, "digest": file.digest}, ("cold_files", id))
        self._conn.execute(
            "INSERT INTO cold_files (id, user_no, count, first_at, last_at, body) VALUES (?, ?, ?, ?, ?, ?)",
            (id, self.no, file.count, to_us(file.first_at), to_us(file.last_at), body),
        )
        return id
