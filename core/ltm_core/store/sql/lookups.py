"""Small questions about the store as a whole that several parts ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltm_core.errors import CorruptError, MasterKeyError
from ltm_core.store.sql.engine import Connection
from ltm_core.store.vault import StoreKeys

if TYPE_CHECKING:
    from ltm_core.store.sql.base import Core

SET_SETTING = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


def other_embedders(conn: Connection) -> list[int]:
    """Every embedder but the store's own, 0 for none; empty while the store has no embedder."""
    current = conn.execute("SELECT embedder FROM state WHERE id = 1").fetchone()[0]
    others = [r[0] for r in conn.execute("SELECT no FROM embedders WHERE no <> ?", (current,)).fetchall()]
    return [*others, 0] if current else []


def require_same(conn: Connection, path: str, held: StoreKeys) -> str:
    """Raises unless the database is encrypted as the key file says; returns the wrapping key in use."""
    row = conn.execute("SELECT encryption FROM state WHERE id = 1").fetchone()
    present = str(row[0]) if row else ""
    if present and not held.encrypted:
        raise CorruptError(f"{path} is encrypted, but its key file is a plain one: restore the key file")
    if present and present not in held.wrapping:
        raise MasterKeyError(f"the key file beside {path} is older than the database: restore the newer one")
    return present


def plain_users(conn: Connection) -> int:
    """Users without a data key in an encrypted store; 0 in a plain one."""
    found = conn.execute(
        "SELECT count(*) FROM users WHERE (SELECT encryption FROM state) <> '' AND NOT EXISTS "
        "(SELECT 1 FROM user_keys k WHERE k.user_no = users.user_no)"
    ).fetchone()
    return int(found[0])


def name_of(core: Core, conn: Connection, user_no: int) -> str | None:
    """The id of a user; None when there is no user of this number."""
    row = conn.execute("SELECT user_id FROM users WHERE user_no = ?", (user_no,)).fetchone()
    return None if row is None else core.user_id(row[0])


__all__ = ["SET_SETTING", "name_of", "other_embedders", "plain_users", "require_same"]
