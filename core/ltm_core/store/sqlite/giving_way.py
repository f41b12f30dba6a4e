"""The store that gives way to a backup, and what a restore asks of those who know what memories mean."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ltm_core.config import Config
from ltm_core.store.rows import News
from ltm_core.store.sql.reader import SqlReader
from ltm_core.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from ltm_core.store.base import Reader, Writer
    from ltm_core.store.keys import KeyProvider

Redo: TypeAlias = Callable[["Writer", News, SqliteStore, "Reader | None", Path], "Counter[str]"]
"""(writer, what is new, the copy, the user in the store that gives way, the copy's directory) -> what was erased."""


class Files(Protocol):
    """What brings the files of the archive along."""

    def settle(self, store: SqliteStore, draft: Path, *, sealed_now: bool) -> None: ...
    def publish(self, draft: Path) -> None: ...


class Old:
    """The store that gives way, with its write lock held."""

    def __init__(self, store: SqliteStore, conn: sqlite3.Connection) -> None:
        self.store, self.conn = store, conn

    @classmethod
    @contextmanager
    def of(cls, location: Path, config: Config, keys: KeyProvider | None) -> Iterator[Old]:
        """Open until the block ends; nobody else writes meanwhile."""
        store = SqliteStore(location, config=config, keys=keys)
        try:
            with store.exclusive(config.busy_timeout_seconds) as conn:
                yield cls(store, conn)
        finally:
            store.close()

    def reader(self, user_id: str) -> Reader:
        """The user as of now."""
        return SqlReader(self.store.core, self.conn, user_id)

    def take(self, source: sqlite3.Connection) -> None:
        """The source's pages are this store's, in one transaction; the old ones are gone from the log too."""
        source.backup(self.conn)
        self.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def has_files(staged: SqliteStore, old: Old | None) -> bool:
    query = "SELECT EXISTS (SELECT 1 FROM cold_files)"
    with staged.connection() as conn:
        found = bool(conn.execute(query).fetchone()[0])
    return found or (old is not None and bool(old.conn.execute(query).fetchone()[0]))


__all__ = ["Files", "Old", "Redo", "has_files"]
