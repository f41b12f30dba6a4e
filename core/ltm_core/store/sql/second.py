"""Two sets of vectors while the embedder of a store changes.

The set that is searched lies in ``vectors`` and inside ``document_units``; the other one in ``second_vectors`` and in
the columns beside. A switch renames tables and exchanges what the number of the embedder stands for, so that no
chunk is rewritten; the former set is then the second one, which is what makes a roll-back the same step.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from ltm_core.errors import ConflictError, NotFoundError
from ltm_core.store.base import OwnerKind, VectorSets
from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.records import ITEM_MASK, OWNERS
from ltm_core.store.sql.write_base import WriteBase
from ltm_core.store.times import to_us

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.store.sql.base import View


Rename: TypeAlias = Callable[[Connection, Sequence[tuple[str, str]]], None]
"""Gives tables other names, in order, inside the transaction of the connection."""


class SecondWriter(WriteBase):
    """The side of a writer that fills the second set."""

    def chunks_without_second(self, *, after: int, limit: int) -> list[tuple[int, OwnerKind, int, int, int]]:
        rows = self._rows(
            'SELECT c.id, c.kind, c.owner, c."start", c."end" FROM chunks c WHERE c.id > ? AND c.id < ? '
            "AND NOT EXISTS (SELECT 1 FROM second_vectors s WHERE s.id = c.id) ORDER BY c.id LIMIT ?",
            (self.low + after, self.high, limit),
        )
        return [(id & ITEM_MASK, OWNERS[kind], own & ITEM_MASK, a, b) for id, kind, own, a, b in rows]

    def set_second_vectors(self, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        encode = self._second_encoder()
        rows = [(*encode(self.low + n, v), self.low + n) for n, v in vectors.items()]
        self._conn.executemany("DELETE FROM second_vectors WHERE id = ?", [(r[-1],) for r in rows])
        self._conn.executemany(
            # What was removed or written again meanwhile has another number.
            "INSERT INTO second_vectors (id, embedder, codec, vector) "
            f"SELECT id, {self.embedder}, ?, ? FROM chunks WHERE id = ?",
            rows,
        )

    def units_without_second(self, *, after: int, limit: int) -> list[tuple[int, int, int, int]]:
        rows = self._rows(
            'SELECT id, document, "start", "end" FROM document_units WHERE id > ? AND id < ? '
            "AND second_vector IS NULL ORDER BY id LIMIT ?",
            (self.low + after, self.high, limit),
        )
        return [(id & ITEM_MASK, own & ITEM_MASK, a, b) for id, own, a, b in rows]

    def set_second_unit_vectors(self, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        encode = self._second_encoder()
        self._conn.executemany(
            "UPDATE document_units SET second_codec = ?, second_vector = ? WHERE id = ?",
            [(*encode(self.low + n, v), self.low + n) for n, v in vectors.items()],
        )

    def _second_encoder(self) -> Any:
        from ltm_core.store.sql.vectors import encode

        row = self._one("SELECT e.dimension FROM state s JOIN embedders e ON e.no = s.second WHERE s.id = 1", ())
        if row is None:
            raise ConflictError("the store has no second set of vectors: re-embedding was not begun, or was ended")
        return lambda id, vector: self.sealed_vector(id, encode(vector, row[0]))


def second_matrix(view: View) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """(chunk items, their vectors) of the second set."""
    import numpy as np

    from ltm_core.store.sql.vectors import decode

    rows = view.conn.execute(
        "SELECT id, codec, vector FROM second_vectors WHERE id > ? AND id < ? ORDER BY id", (view.low, view.high)
    ).fetchall()
    opened = [(r[0] & ITEM_MASK, plain) for r in rows if (plain := view.opened_vector(*r))]
    items = np.array([item for item, _ in opened], dtype=np.int64)
    vectors = [decode(plain) for _, plain in opened]
    return items, np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)


# the store --------------------------------------------------------------------------------------------
def begin_second(conn: Connection, identity: str, *, dimension: int, now: datetime) -> None:
    """The second set is this embedder's. ConflictError while there is another one, or when it is the store's own."""
    sets = vector_sets(conn)
    if sets.present == identity:
        raise ConflictError(f"the store's vectors are those of {identity!r} already")
    if sets.second not in (None, identity) or sets.switched:
        raise ConflictError(
            f"the vectors of {sets.second!r} are still kept beside those of {sets.present!r}: "
            "finish that change or roll it back first"
        )
    conn.execute(
        "INSERT INTO embedders (identity, dimension, created_at) VALUES (?, ?, ?) ON CONFLICT (identity) DO NOTHING",
        (identity, dimension, to_us(now)),
    )
    no, known = conn.execute("SELECT no, dimension FROM embedders WHERE identity = ?", (identity,)).fetchone()
    if known != dimension:
        raise ConflictError(f"embedder {identity!r} has dimension {known} in this store, not {dimension}")
    if not conn.execute("SELECT embedder FROM state").fetchone()[0]:
        raise ConflictError("the store has no vectors yet: open it with the new embedder")
    conn.execute("UPDATE state SET second = ?, switched = 0 WHERE id = 1", (no,))


def vector_sets(conn: Connection) -> VectorSets:
    """Which sets there are, and how far the second one is."""
    present, second, switched = conn.execute(
        "SELECT (SELECT identity FROM embedders WHERE no = s.embedder), "
        "(SELECT identity FROM embedders WHERE no = s.second), s.switched FROM state s WHERE s.id = 1"
    ).fetchone()
    done = total = 0
    if second is not None:
        for sql in (
            "SELECT (SELECT count(*) FROM second_vectors), (SELECT count(*) FROM chunks)",
            "SELECT count(second_vector), count(*) FROM document_units",
        ):
            some, all_ = conn.execute(sql).fetchone()
            done, total = done + some, total + all_
    return VectorSets(present=present, second=second, switched=bool(switched), done=done, total=total)


def switch(conn: Connection, rename: Rename) -> int:
    """The second set is the one that is searched, the other one is kept; chunks that it lacks wait for a vector.
    Returns how many wait."""
    embedder, second, switched = conn.execute("SELECT embedder, second, switched FROM state").fetchone()
    if not second:
        raise NotFoundError("there is no second set of vectors to switch to")
    waiting = conn.execute(
        "UPDATE chunks SET embedded = 0 WHERE embedded = ? AND NOT EXISTS "
        "(SELECT 1 FROM second_vectors s WHERE s.id = chunks.id)",
        (embedder,),
    ).rowcount
    conn.execute(
        "UPDATE chunks SET embedded = ? WHERE embedded <> ? AND id IN (SELECT id FROM second_vectors)",
        (embedder, embedder),
    )
    rename(
        conn,
        (("vectors", "third_vectors"), ("second_vectors", "vectors"), ("third_vectors", "second_vectors")),
    )
    waiting += conn.execute(
        "SELECT count(*) FROM document_units WHERE vector IS NOT NULL AND second_vector IS NULL"
    ).fetchone()[0]
    conn.execute(
        "UPDATE document_units SET codec = second_codec, vector = second_vector, second_codec = codec, "
        "second_vector = vector, embedded = CASE WHEN second_vector IS NULL THEN 0 ELSE ? END "
        "WHERE vector IS NOT NULL OR second_vector IS NOT NULL",
        (embedder,),
    )
    # Rows go on naming the number; what it stands for changes.
    names = {
        r[0]: r[1:]
        for r in conn.execute(
            "SELECT no, identity, dimension, created_at FROM embedders WHERE no IN (?, ?)", (embedder, second)
        )
    }
    conn.execute("UPDATE embedders SET identity = '' WHERE no = ?", (second,))
    for no, values in ((embedder, names[second]), (second, names[embedder])):
        conn.execute("UPDATE embedders SET identity = ?, dimension = ?, created_at = ? WHERE no = ?", (*values, no))
    conn.execute(
        # Never the same twice, also after a backup came back: whoever is open sees that the set is another one.
        "UPDATE state SET dimension = ?, switched = ?, generation = ? WHERE id = 1",
        (names[second][1], not switched, secrets.randbits(62)),
    )
    return int(waiting)


def drop_second(conn: Connection, *, limit: int) -> int:
    """Up to ``limit`` vectors of the second set are gone; when none is left there is no second set. Returns how
    many went."""
    gone = conn.execute(
        "DELETE FROM second_vectors WHERE id IN (SELECT id FROM second_vectors LIMIT ?)", (limit,)
    ).rowcount
    if gone < limit:
        gone += conn.execute(
            "UPDATE document_units SET second_codec = 0, second_vector = NULL WHERE id IN "
            "(SELECT id FROM document_units WHERE second_vector IS NOT NULL LIMIT ?)",
            (limit - gone,),
        ).rowcount
    if not gone:
        conn.execute("UPDATE state SET second = 0, switched = 0 WHERE id = 1")
    return gone


__all__ = ["SecondWriter", "begin_second", "drop_second", "second_matrix", "switch", "vector_sets"]
