"""Documents of one user: application data by namespace and key.

A namespace and a key are found by their keyed hashes; the words of both stand in envelopes (``path``, ``body``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ltm_core.store.base import DocumentRow, Namespace
from ltm_core.store.sql.base import View
from ltm_core.store.sql.layout import NO_LIMIT, batches
from ltm_core.store.sql.readable import readable
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.times import from_us, to_us

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COLUMNS = "id, path, body, created_at, updated_at, ttl, expires_at"
_MANY = 500
"""From this many documents on, one range read of the user's units is cheaper than looking each of them up."""
_ALIVE = "(expires_at IS NULL OR expires_at > ?)"


class DocumentView(View):
    """The document side of a reader."""

    def document(self, namespace: Namespace, key: str) -> DocumentRow | None:
        row = self._one(
            f"SELECT {_COLUMNS} FROM documents WHERE user_no = ? AND namespace = ? AND key_mac = ?",
            (self.no, self._namespace_mac(namespace), self._keyed.mac(key)),
        )
        return None if row is None else self._document(row)

    def documents(
        self,
        *,
        namespaces: Sequence[Namespace] | None = None,
        items: Sequence[int] | None = None,
        alive_at: datetime | None = None,
        after_item: int = 0,
        limit: int | None = None,
    ) -> list[DocumentRow]:
        rows = self._document_rows(_COLUMNS, namespaces, items, alive_at, after_item, limit)
        return [self._document(r) for r in rows]

    def document_items(
        self, *, namespaces: Sequence[Namespace] | None = None, alive_at: datetime, limit: int | None = None
    ) -> list[int]:
        return [r[0] & ITEM_MASK for r in self._document_rows("id", namespaces, None, alive_at, 0, limit)]

    def document_namespaces(self, *, alive_at: datetime) -> list[Namespace]:
        rows = self._rows(
            "SELECT id, path FROM documents WHERE id IN (SELECT min(id) FROM documents "
            f"WHERE user_no = ? AND {_ALIVE} GROUP BY namespace)",
            (self.no, to_us(alive_at)),
        )
        return [tuple(self._codec.decode(path, ("documents.path", id))) for id, path in rows]

    def document_vectors(self, items: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        import numpy as np

        from ltm_core.store.sql.vectors import STORED

        rows: list[tuple[Any, ...]] = []
        columns = "SELECT document, id, codec, vector FROM document_units WHERE"
        if self.foreign:
            items = ()
        if self.embedder and len(items) > _MANY:
            wanted = {self.low + i for i in items}
            inside = (self.low, self.high, self.embedder)
            found = self._rows(f"{columns} id > ? AND id < ? AND +embedded = ?", inside)
            rows = [r for r in found if r[0] in wanted]
        elif self.embedder:
            for marks, part in batches([self.low + i for i in items]):
                rows += self._rows(f"{columns} document IN ({marks}) AND +embedded = ?", (*part, self.embedder))
        width = self.dimension * STORED.itemsize
        plain = [(r[0] & ITEM_MASK, self.opened_vector(*r[1:])) for r in rows]
        plain = [p for p in plain if len(p[1]) == width]
        owners = np.array([p[0] for p in plain], dtype=np.int64)
        halves = np.frombuffer(b"".join([p[1] for p in plain]), dtype=STORED)
        return owners, halves.reshape(len(plain), self.dimension).astype(np.float32)

    def _document_rows(
        self,
        columns: str,
        namespaces: Sequence[Namespace] | None,
        items: Sequence[int] | None,
        alive_at: datetime | None,
        after_item: int,
        limit: int | None,
    ) -> list[tuple[Any, ...]]:
        conditions = ["user_no = ?", "id > ?", "id < ?"]
        values: list[Any] = [self.no, self.low + after_item, self.high]
        if alive_at is not None:
            conditions.append(_ALIVE)
            values.append(to_us(alive_at))
        chosen: list[tuple[str, tuple[Any, ...]]] = [("", ())]
        if items is not None:
            conditions[0] = "+user_no = ?"
            chosen = [(f" AND id IN ({m})", p) for m, p in batches([self.low + i for i in dict.fromkeys(items)])]
        elif namespaces is not None:
            macs = [self._namespace_mac(n) for n in dict.fromkeys(namespaces)]
            chosen = [(f" AND namespace IN ({m})", p) for m, p in batches(macs)]
        else:
            conditions[0] = "+user_no = ?"
        found: list[tuple[Any, ...]] = []
        end = NO_LIMIT if limit is None else limit
        for more, part in chosen:
            found += self._rows(
                f"SELECT {columns} FROM documents WHERE {' AND '.join(conditions)}{more} ORDER BY id LIMIT ?",
                (*values, *part, end),
            )
        if len(chosen) > 1:
            found.sort(key=lambda r: r[0])
        return found[:limit]

    def _namespace_mac(self, namespace: Namespace) -> bytes:
        # As JSON, so that no two tuples of labels are written alike.
        return self._keyed.mac(json.dumps(list(namespace)))

    @readable
    def _document(self, row: tuple[Any, ...]) -> DocumentRow:
        id, path, body, created, updated, ttl, expires = row
        content = self._codec.decode(body, ("documents", id))
        return DocumentRow(
            item=id & ITEM_MASK,
            namespace=tuple(self._codec.decode(path, ("documents.path", id))),
            key=content["key"],
            value=content["value"],
            created_at=from_us(created),
            updated_at=from_us(updated),
            ttl=None if ttl is None else timedelta(microseconds=ttl),
            expires_at=from_us(expires),
            fields=tuple(content["fields"]),
        )
