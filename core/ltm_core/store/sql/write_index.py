"""Chunks, their vectors and their postings: written together, removed together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm_core.errors import ConflictError, NotFoundError
from ltm_core.store.base import (
    ACT_CODES,
    IMPORTANCE_CODES,
    OWNER_CODES,
    ROLE_CODES,
    ChunkWrite,
    OwnerKind,
)
from ltm_core.store.keyed import TERM_BITS
from ltm_core.store.sql.base import Core
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.layout import batches, key_range
from ltm_core.store.sql.lookups import other_embedders
from ltm_core.store.sql.records import ITEM_MASK, OWNERS
from ltm_core.store.sql.tables import ID_RANGE_TABLES
from ltm_core.store.sql.write_base import WriteBase
from ltm_core.store.times import to_us
from ltm_core.types import Act, Importance, Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TERM_BYTES = TERM_BITS // 8
OUTBOX_UPSERT, OUTBOX_DELETE, OUTBOX_ERASE_USER = 0, 1, 2


class IndexWriter(WriteBase):
    """The index side of a writer."""

    def __init__(self, core: Core, conn: Connection, user_id: str) -> None:
        super().__init__(core, conn, user_id)
        self._indexed: set[int] = set()
        """Row ids of owners that got chunks in this transaction."""

    def set_chunks(
        self,
        owner: OwnerKind,
        item: int,
        chunks: Sequence[ChunkWrite],
        *,
        at: datetime,
        session_id: str | None = None,
        agent_id: str | None = None,
        task_id: str | None = None,
        app_id: str | None = None,
        role: Role = "user",
        act: Act = "statement",
        importance: Importance = "low",
        expires_at: datetime | None = None,
    ) -> None:
        no = self._require()
        owner_id = self.low + item
        if item < self._first_new or owner_id in self._indexed:
            self._drop_chunks([owner_id])
        self._indexed.add(owner_id)
        if not chunks:
            return
        label = self.label
        facets = (
            to_us(at),
            label(session_id),
            label(agent_id),
            label(task_id),
            label(app_id),
            ROLE_CODES[role],
            ACT_CODES[act],
            IMPORTANCE_CODES[importance],
            to_us(expires_at),
        )
        hasher, prefix = self._keyed.terms(no), no << TERM_BITS
        rows: list[tuple[Any, ...]] = []
        vectors: list[tuple[int, int, bytes]] = []
        postings: list[tuple[int, int, int]] = []
        for chunk in chunks:
            id = self._next()
            # Two terms of one hash count as one; the sum keeps the length right.
            counts: dict[int, int] = {}
            for term, tf in chunk.terms.items():
                h = hasher(term)
                counts[h] = counts.get(h, 0) + tf
            hashes = sorted(counts)
            packed = b"".join([h.to_bytes(_TERM_BYTES, "big") for h in hashes])
            length = sum(counts.values())
            embedded = 0
            if chunk.vector is not None and not self.foreign:
                vectors.append(self._encoded(id, chunk.vector))
                embedded = self.embedder
            rows.append((id, owner_id, OWNER_CODES[owner], chunk.start, chunk.end, length, embedded, packed, *facets))
            n = id & ITEM_MASK
            postings += [(prefix | h, n, counts[h]) for h in hashes]
            self._term_total += length
        self._conn.executemany(
            'INSERT INTO chunks (id, owner, kind, "start", "end", length, embedded, terms, at, session, agent, '
            "task, app, role, act, importance, expires_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        if len(chunks) > 1:
            postings.sort()
        self._conn.executemany("INSERT INTO postings (key, item, tf) VALUES (?, ?, ?)", postings)
        self._insert_vectors(vectors)
        self._chunk_count += len(rows)
        self.index_changed = True

    def keep_chunks(
        self, owner: OwnerKind, item: int, *, importance: Importance, expires_at: datetime | None
    ) -> None:
        found = self._conn.execute(
            "UPDATE chunks SET importance = ?, expires_at = ? WHERE owner = ? AND kind = ?",
            (IMPORTANCE_CODES[importance], to_us(expires_at), self.low + item, OWNER_CODES[owner]),
        ).rowcount
        if found:
            # Cached rows hold both values; they are read anew.
            self.index_changed = self.index_reset = self._changed = True

    def set_vectors(self, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        if not vectors or self.foreign:
            return
        encoded = [self._encoded(self.low + n, v) for n, v in vectors.items()]
        for marks, part in batches([e[0] for e in encoded]):
            rows = self._rows(
                f"SELECT id FROM chunks WHERE id IN ({marks}) AND id > ? AND id < ?", (*part, self.low, self.high)
            )
            missing = set(part) - {r[0] for r in rows}
            if missing:
                raise NotFoundError(f"no chunk has item {min(missing) & ITEM_MASK}")
            replaced = self._conn.execute(f"DELETE FROM vectors WHERE id IN ({marks})", part).rowcount
            self.index_reset = self.index_reset or replaced > 0
            self._conn.execute(f"UPDATE chunks SET embedded = {self.embedder} WHERE id IN ({marks})", part)
        self._insert_vectors(encoded)
        self.index_changed = self._changed = self._shrunk = True

    def chunks_without_vector(self, *, limit: int) -> list[tuple[int, OwnerKind, int, int, int]]:
        rows: list[tuple[Any, ...]] = []
        for embedder in () if self.foreign else other_embedders(self._conn):
            rows += self._rows(
                'SELECT id, kind, owner, "start", "end" FROM chunks WHERE embedded = ? AND id > ? AND id < ? '
                "ORDER BY id LIMIT ?",
                (embedder, self.low, self.high, limit),
            )
        rows.sort()
        return [(id & ITEM_MASK, OWNERS[kind], own & ITEM_MASK, a, b) for id, kind, own, a, b in rows[:limit]]

    def _encoded(self, id: int, vector: NDArray[np.float32]) -> tuple[int, int, bytes]:
        from ltm_core.store.sql.vectors import encode

        if not self.embedder:
            raise ConflictError("the store has no embedder identity yet: set it before vectors are written")
        return id, *self.sealed_vector(id, encode(vector, self.dimension))

    def _insert_vectors(self, vectors: Sequence[tuple[int, int, bytes]]) -> None:
        if not vectors:
            return
        self._conn.executemany(
            f"INSERT INTO vectors (id, embedder, codec, vector) VALUES (?, {self.embedder}, ?, ?)", vectors
        )
        self._report(OUTBOX_UPSERT, [v[0] for v in vectors])

    def _drop_chunks(self, owners: Sequence[int]) -> None:
        """No chunk, vector or posting of these owners (row ids) is left."""
        rows: list[tuple[int, int, bytes]] = []
        for marks, part in batches(owners):
            rows += self._conn.execute(
                f"SELECT id, length, terms FROM chunks WHERE owner IN ({marks})", part
            ).fetchall()
        if not rows:
            return
        prefix = self.no << TERM_BITS
        self._conn.executemany(
            "DELETE FROM postings WHERE key = ? AND item = ?",
            [
                (prefix | int.from_bytes(terms[i : i + _TERM_BYTES], "big"), id & ITEM_MASK)
                for id, _, terms in rows
                for i in range(0, len(terms), _TERM_BYTES)
            ],
        )
        ids = [id for id, _, _ in rows]
        for marks, part in batches(ids):
            self._conn.execute(f"DELETE FROM vectors WHERE id IN ({marks})", part)
            self._conn.execute(f"DELETE FROM second_vectors WHERE id IN ({marks})", part)
            self._conn.execute(f"DELETE FROM chunks WHERE id IN ({marks})", part)
        self._report(OUTBOX_DELETE, ids)
        self._chunk_count -= len(rows)
        self._term_total -= sum(length for _, length, _ in rows)
        self.index_changed = self._changed = self._shrunk = True

    def drop_orphans(self) -> int:
        first, end = key_range(self.no)
        inside = (self.low, self.high)
        dropped = 0
        lost = self._rows(
            "SELECT DISTINCT owner FROM chunks WHERE id > ? AND id < ? AND owner NOT IN "
            "(SELECT id FROM messages WHERE id > ? AND id < ? UNION ALL SELECT id FROM facts WHERE id > ? AND id < ? "
            "UNION ALL SELECT id FROM summaries WHERE id > ? AND id < ?)",
            (*inside, *inside, *inside, *inside),
        )
        before = self._chunk_count
        self._drop_chunks([r[0] for r in lost])
        dropped += before - self._chunk_count
        dropped += self._conn.execute(
            "DELETE FROM postings WHERE key >= ? AND key < ? AND item NOT IN "
            f"(SELECT id & {ITEM_MASK} FROM chunks WHERE id > ? AND id < ?)",
            (first, end, *inside),
        ).rowcount
        for table in ("vectors", "second_vectors"):
            dropped += self._conn.execute(
                f"DELETE FROM {table} WHERE id > ? AND id < ? AND id NOT IN "
                "(SELECT id FROM chunks WHERE id > ? AND id < ?)",
                (*inside, *inside),
            ).rowcount
        dropped += self._conn.execute(
            "DELETE FROM document_units WHERE id > ? AND id < ? AND document NOT IN "
            "(SELECT id FROM documents WHERE id > ? AND id < ?)",
            (*inside, *inside),
        ).rowcount
        for table in ("evidence", "fact_versions"):
            dropped += self._conn.execute(
                f"DELETE FROM {table} WHERE fact > ? AND fact < ? AND fact NOT IN "
                "(SELECT id FROM facts WHERE id > ? AND id < ?)",
                (*inside, *inside),
            ).rowcount
        dropped += self._conn.execute(
            "DELETE FROM summary_sources WHERE summary > ? AND summary < ? AND (summary NOT IN "
            "(SELECT id FROM summaries WHERE id > ? AND id < ?) OR source NOT IN "
            "(SELECT id FROM messages WHERE id > ? AND id < ?))",
            (*inside, *inside, *inside),
        ).rowcount
        self._recount()
        return dropped

    def _recount(self) -> None:
        inside = (self.low, self.high)
        row = self._one(
            "SELECT count(*), CAST(coalesce(sum(length), 0) AS BIGINT) FROM chunks WHERE id > ? AND id < ?", inside
        )
        assert row is not None
        self._chunk_count, self._term_total = row
        highest = [
            self._one(f"SELECT max(id) FROM {table} WHERE id > ? AND id < ?", inside) for table in ID_RANGE_TABLES
        ]
        top = max((r[0] for r in highest if r is not None and r[0] is not None), default=self.low)
        self.next_n = max(self.next_n, (top & ITEM_MASK) + 1)
        self._conn.execute(
            "UPDATE sessions SET message_count = (SELECT count(*) FROM messages m "
            "WHERE m.user_no = sessions.user_no AND m.session = sessions.session) WHERE id > ? AND id < ?",
            inside,
        )
        self.index_changed = self.index_reset = self._changed = self._shrunk = True

    def _report(self, op: int, targets: Sequence[int]) -> None:
        """External vector indexes learn of it in the same transaction."""
        if self._listed:
            self._conn.executemany(f"INSERT INTO outbox (op, target) VALUES ({op}, ?)", [(t,) for t in targets])
