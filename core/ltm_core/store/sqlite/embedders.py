"""Whose vectors count: the store's embedder, and all others, whose chunks wait for a vector."""

from __future__ import annotations

import sqlite3


def other_embedders(conn: sqlite3.Connection) -> list[int]:
    """Every embedder but the store's own, 0 for none; empty while the store has no embedder."""
    current = conn.execute("SELECT embedder FROM state WHERE id = 1").fetchone()[0]
    others = [r[0] for r in conn.execute("SELECT no FROM embedders WHERE no <> ?", (current,)).fetchall()]
    return [*others, 0] if current else []
