"""Documents with their indexed units: written together, removed together.

They have tables of their own, so that they are no part of what recall ranks, counts and caches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ltm_core.errors import ConflictError
from ltm_core.store.base import DocumentRow, DocumentUnit
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.lookups import other_embedders
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.sql.write_base import WriteBase
from ltm_core.store.times import from_us, to_us

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MICROSECOND = timedelta(microseconds=1)


class DocumentWriter(WriteBase):
    """The document side of a writer."""

    def put_document(self, row: DocumentRow, units: Sequence[DocumentUnit] = ()) -> DocumentRow:
        no = self._require()
        namespace, key = self._namespace_mac(row.namespace), self._keyed.mac(row.key)
        present = self._one(
            "SELECT id, created_at FROM documents WHERE user_no = ? AND namespace = ? AND key_mac = ?",
            (no, namespace, key),
        )
        body = {"key": row.key, "value": dict(row.value), "fields": list(row.fields)}
        ttl = None if row.ttl is None else row.ttl // _MICROSECOND
        id, created = (self._next(), row.created_at) if present is None else (present[0], from_us(present[1]))
        sealed = self._codec.encode(body, ("documents", id))
        written = (to_us(row.updated_at), ttl, to_us(row.expires_at), sealed)
        if present is None:
            path = self._codec.encode(list(row.namespace), ("documents.path", id))
            self._conn.execute(
                "INSERT INTO documents (updated_at, ttl, expires_at, body, id, user_no, namespace, key_mac, "
                "created_at, path) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*written, id, no, namespace, key, to_us(created), path),
            )
        else:
            self._conn.execute(
                "UPDATE documents SET updated_at = ?, ttl = ?, expires_at = ?, body = ? WHERE id = ?", (*written, id)
            )
            self._conn.execute("DELETE FROM document_units WHERE document = ?", (id,))
        self._changed = True
        rows = [(self._next(), replace(u, vector=None) if self.foreign else u) for u in units]
        self._conn.executemany(
            'INSERT INTO document_units (id, document, "start", "end", embedded, codec, vector) '
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    unit,
                    id,
                    u.start,
                    u.end,
                    0 if u.vector is None else self.embedder,
                    *((0, None) if u.vector is None else self._unit_vector(unit, u.vector)),
                )
                for unit, u in rows
            ],
        )
        return replace(row, item=id & ITEM_MASK, created_at=created)

    def delete_documents(self, items: Sequence[int]) -> int:
        gone = 0
        for marks, part in batches([self.low + i for i in dict.fromkeys(items)]):
            inside, values = f"IN ({marks}) AND {{0}} > ? AND {{0}} < ?", (*part, self.low, self.high)
            self._conn.execute(f"DELETE FROM document_units WHERE document {inside.format('document')}", values)
            gone += self._conn.execute(f"DELETE FROM documents WHERE id {inside.format('id')}", values).rowcount
        self._changed = self._changed or gone > 0
        return gone

    def touch_documents(self, items: Sequence[int], *, now: datetime) -> None:
        for marks, part in batches([self.low + i for i in items]):
            self._conn.execute(
                f"UPDATE documents SET expires_at = ? + ttl WHERE id IN ({marks}) AND id > ? AND id < ? "
                "AND ttl IS NOT NULL",
                (to_us(now), *part, self.low, self.high),
            )

    def units_without_vector(self, *, limit: int) -> list[tuple[int, int, int, int]]:
        rows: list[tuple[int, int, int, int]] = []
        for embedder in () if self.foreign else other_embedders(self._conn):
            rows += self._conn.execute(
                'SELECT id, document, "start", "end" FROM document_units WHERE embedded = ? AND id > ? AND id < ? '
                "ORDER BY id LIMIT ?",
                (embedder, self.low, self.high, limit),
            ).fetchall()
        rows.sort()
        return [(id & ITEM_MASK, own & ITEM_MASK, a, b) for id, own, a, b in rows[:limit]]

    def set_unit_vectors(self, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        if self.foreign:
            return
        self._conn.executemany(
            f"UPDATE document_units SET embedded = {self.embedder}, codec = ?, vector = ? WHERE id = ?",
            [(*self._unit_vector(self.low + n, v), self.low + n) for n, v in vectors.items()],
        )
        self._changed = self._changed or bool(vectors)

    def _unit_vector(self, id: int, vector: NDArray[np.float32]) -> tuple[int, bytes]:
        from ltm_core.store.sql.vectors import encode

        if not self.embedder:
            raise ConflictError("the store has no embedder identity yet: set it before vectors are written")
        return self.sealed_vector(id, encode(vector, self.dimension))
