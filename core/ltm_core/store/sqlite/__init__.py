"""The store on one SQLite file; numpy is imported with the first vector, not here."""

from ltm_core.store.sqlite.store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store"]
