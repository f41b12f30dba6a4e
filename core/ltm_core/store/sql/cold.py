"""Reading what is known of the turns of one user that files outside the store hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ltm_core.store.rows import ColdFile, ColdTurn
from ltm_core.store.sql.base import View
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.times import from_us

_IN_FILE = ("archive",)
"""The place of every envelope in a file: its rows have no numbers of their own."""


class ColdView(View):
    """The archive side of a reader."""

    def cold_files(self) -> list[ColdFile]:
        rows = self._rows(
            "SELECT id, count, first_at, last_at, body FROM cold_files WHERE id > ? AND id < ? ORDER BY id",
            (self.low, self.high),
        )
        found = []
        for id, count, first, last, blob in rows:
            body = self._codec.decode(blob, ("cold_files", id))
            found.append(
                ColdFile(
                    item=id & ITEM_MASK,
                    name=body["name"],
                    count=count,
                    first_at=from_us(first),
                    last_at=from_us(last),
                    digest=body["digest"],
                )
            )
        return found

    def cold_turns(
        self, *, session_id: str | None = None, ids: Sequence[str] | None = None, files: Sequence[int] | None = None
    ) -> list[ColdTurn]:
        where, values = "user_no = ?", [self.no]
        if session_id is not None:
            where += " AND session = ?"
            values.append(self.label(session_id))
        selections: list[tuple[str, tuple[Any, ...]]] = [("", ())]
        if ids is not None:
            selections = [(f" AND id_mac IN ({m})", p) for m, p in batches([self._keyed.mac(i) for i in ids])]
        elif files is not None:
            selections = [(f" AND file IN ({m})", p) for m, p in batches([self.low + f for f in files])]
        rows: list[tuple[Any, ...]] = []
        for condition, part in selections:
            rows += self._rows(f"SELECT id, file FROM cold_turns WHERE {where}{condition}", (*values, *part))
        return [ColdTurn(item=i & ITEM_MASK, file=f & ITEM_MASK) for i, f in sorted(set(rows))]

    def chunk_vectors(self, items: Sequence[int]) -> dict[int, list[tuple[int, int, bytes | None]]]:
        found: dict[int, list[tuple[int, int, bytes | None]]] = {}
        for marks, part in batches([self.low + i for i in items]):
            rows = self._rows(
                'SELECT c.owner, c."start", c."end", c.id, v.codec, v.vector FROM chunks c LEFT JOIN vectors v '
                f"ON v.id = c.id AND v.embedder = ? WHERE c.owner IN ({marks}) AND c.kind = 0 ORDER BY c.id",
                (self.embedder, *part),
            )
            for owner, start, end, id, codec, stored in rows:
                vector = None if stored is None else self.opened_vector(id, codec, stored) or None
                found.setdefault(owner & ITEM_MASK, []).append((start, end, vector))
        return found

    def seal(self, value: Mapping[str, Any]) -> bytes:
        return self._codec.encode(dict(value), _IN_FILE)

    def unseal(self, envelope: bytes) -> Any:
        return self._codec.decode(envelope, _IN_FILE)

    def seal_vector(self, item: int, vector: bytes) -> bytes:
        return self.sealed_vector(self.low + item, vector)[1]

    def unseal_vector(self, item: int, stored: bytes) -> bytes:
        return self.opened_vector(self.low + item, int(self.sealed), stored)
