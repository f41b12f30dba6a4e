"""What the store itself says of the vectors that an external index holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ltm_core.store.sql.engine import Connection
from ltm_core.store.sql.layout import batches, row_range
from ltm_core.store.sql.records import ITEM_MASK
from ltm_core.store.sql.vectors import decode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.store.external import Collection
    from ltm_core.store.sql.store import SqlStore

PAGE = 2000
"""Vectors read at once while a collection is made."""


def page_of(store: SqlStore, no: int, last: int) -> tuple[int, dict[int, NDArray[np.float32]]] | None:
    """(last item, vectors by item) of the user's next items after ``last``; None at the end."""
    low, high = row_range(no)
    with store.connection() as conn:
        condition, own = _of(store, no)
        rows = conn.execute(
            f"SELECT id FROM vectors WHERE {condition}id > ? AND id < ? ORDER BY id LIMIT ?",
            (*own, low + last, high, PAGE),
        ).fetchall()
        if not rows:
            return None
        return rows[-1][0] & ITEM_MASK, vectors_of(conn, store, no, [r[0] & ITEM_MASK for r in rows])


def difference(store: SqlStore, no: int, collection: Collection) -> int:
    """In how many items the user's collection differs from the store; all, when it cannot be asked."""
    with store.connection() as conn:
        condition, own = _of(store, no)
        rows = conn.execute(
            f"SELECT id FROM vectors WHERE {condition}id > ? AND id < ?", (*own, *row_range(no))
        ).fetchall()
    truth = {r[0] & ITEM_MASK for r in rows}
    try:
        return len(truth ^ collection.items())
    except Exception:  # noqa: BLE001  an index that fails is an index that differs
        return max(len(truth), 1)


def vectors_of(conn: Connection, store: SqlStore, no: int, items: Sequence[int]) -> dict[int, NDArray[np.float32]]:
    """The vectors that the store has of these items, in memory's form."""
    low, _ = row_range(no)
    row = conn.execute("SELECT master, wrapped FROM user_keys WHERE user_no = ?", (no,)).fetchone()
    vault = store.core.vault
    secret = None if row is None or vault is None else vault.user(*row)
    condition, own = _of(store, no)
    found: dict[int, Any] = {}
    for marks, part in batches([low + i for i in items]):
        sql = f"SELECT id, codec, vector FROM vectors WHERE {condition}id IN ({marks})"
        for id, codec, blob in conn.execute(sql, (*own, *part)):
            plain = blob if not codec else None if secret is None else secret.open_vector(id, blob)
            if plain is not None:
                found[id & ITEM_MASK] = decode(plain)
    return found


def _of(store: SqlStore, no: int) -> tuple[str, tuple[int, ...]]:
    """What a statement across users says of whose rows it wants, and its value: where tables are split by user, a
    range of row ids alone would be looked for in every part, row by row."""
    return ("user_no = ? AND ", (no,)) if store.is_split else ("", ())


__all__ = ["PAGE", "difference", "page_of", "vectors_of"]
