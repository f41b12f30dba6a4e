"""The side of a writer that keeps pgvector's copy of a user's vectors true, in the transaction of the vectors."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.store.postgres.halves import Halves
from ltm_core.store.postgres.near_schema import USERS, VECTORS
from ltm_core.store.sql.layout import batches
from ltm_core.store.sql.write_index import OUTBOX_DELETE, OUTBOX_ERASE_USER
from ltm_core.store.sql.writer import SqlWriter

PAGE = 1000
"""Vectors copied in one transaction of their user."""
_WRITE = (
    f"INSERT INTO {VECTORS} (id, near) VALUES (?, ?) ON CONFLICT (user_no, id) DO UPDATE SET near = excluded.near"
)


class MirrorWriter(SqlWriter):
    """Only users whose vectors were all copied once, or are being copied, are followed; what is removed is removed
    there in any case."""

    _followed: bool | None = None
    """Whether the user is one of them; None until somebody asks."""

    def begin_mirror(self) -> None:
        """From now on what is written is mirrored; what was there before is for `mirror_page`."""
        if not self.no:
            return
        self._conn.execute(
            f"INSERT INTO {USERS} (user_no, embedder, generation) VALUES (?, ?, ?) ON CONFLICT (user_no) DO UPDATE "
            "SET embedder = excluded.embedder, generation = excluded.generation, filled = 0, graph = 0",
            (self.no, self.embedder, self.generation),
        )
        self._followed = True

    def mirror_page(self, after: int) -> tuple[int, int]:
        """The user's next vectors after an item are copied; (the last item, how many). (0, 0) at the end."""
        rows = self._rows(
            "SELECT id, codec, vector FROM vectors WHERE id > ? AND id < ? AND embedder = ? ORDER BY id LIMIT ?",
            (self.low + after, self.high, self.embedder, PAGE),
        )
        self._mirror(rows)
        return (rows[-1][0] - self.low, len(rows)) if rows else (0, 0)

    def end_mirror(self) -> None:
        """The user may be searched there."""
        self._conn.execute(
            f"UPDATE {USERS} SET filled = 1 WHERE user_no = ? AND embedder = ? AND generation = ?",
            (self.no, self.embedder, self.generation),
        )

    def drop_mirror(self) -> None:
        """Nothing of the user is there."""
        for table in (VECTORS, USERS):
            self._conn.execute(f"DELETE FROM {table} WHERE user_no = ?", (self.no,))
        self._followed = False

    def drop_orphans(self) -> int:
        dropped = super().drop_orphans()
        if self.mirrored:
            dropped += self._conn.execute(
                f"DELETE FROM {VECTORS} WHERE user_no = ? AND id NOT IN "
                "(SELECT id FROM vectors WHERE id > ? AND id < ?)",
                (self.no, self.low, self.high),
            ).rowcount
        return dropped

    def _insert_vectors(self, vectors: Sequence[tuple[int, int, bytes]]) -> None:
        super()._insert_vectors(vectors)
        if vectors and self.mirrored and self._is_followed():
            self._mirror(vectors)

    def _report(self, op: int, targets: Sequence[int]) -> None:
        super()._report(op, targets)
        if not self.mirrored:
            return
        if op == OUTBOX_ERASE_USER:
            self.drop_mirror()
        elif op == OUTBOX_DELETE:
            for marks, part in batches(targets):
                self._conn.execute(f"DELETE FROM {VECTORS} WHERE user_no = ? AND id IN ({marks})", (self.no, *part))

    def _mirror(self, vectors: Sequence[tuple[int, int, bytes]]) -> None:
        opened = [(row[0], self.opened_vector(*row)) for row in vectors]
        self._conn.executemany(_WRITE, [(id, Halves(plain)) for id, plain in opened if plain])

    def _is_followed(self) -> bool:
        if self._followed is None:
            self._followed = (
                self._one(
                    f"SELECT 1 FROM {USERS} WHERE user_no = ? AND embedder = ? AND generation = ?",
                    (self.no, self.embedder, self.generation),
                )
                is not None
            )
        return self._followed


__all__ = ["PAGE", "MirrorWriter"]
