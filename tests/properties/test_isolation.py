"""Two users of one SQLite store, whatever they do in whatever order, each get what they would get alone."""

from __future__ import annotations

from ltm_core.testing.isolation_contract import IsolationContract


class TestSqlite(IsolationContract):
    """With the default store."""
