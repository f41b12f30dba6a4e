"""Erasing through the door, on the default store."""

from __future__ import annotations

from ltm_core.testing.erasure_contract import ErasureContract


class TestSqlite(ErasureContract):
    """With the default store."""
