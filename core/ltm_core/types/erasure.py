"""Proof and preview of an erasure, and the log of who did what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ltm_core.types.facts import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof of an erasure: rows removed or overwritten per table, and what the byte scan found. In PostgreSQL there
    is no scan, and ``bytes_clean`` is False: `maintain` writes the tables anew (docs/postgresql.md)."""

    id: str
    user_id_hmac: str
    what: str
    at: datetime
    counts: Mapping[str, int]
    bytes_clean: bool
    files_scanned: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetPreview:
    """What ``forget_matching(dry_run=True)`` would erase."""

    facts: tuple[Fact, ...]
    messages: tuple[str, ...]
    documents: tuple[tuple[tuple[str, ...], str], ...] = ()
    """(namespace, key) of documents in which the words would be overwritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One row of the audit log: ids and counts, never the words of a memory."""

    at: datetime
    action: str
    actor: str | None = None
    """As given; of a user who was erased its keyed hash."""
    reason: str | None = None
    user_id: str | None = None
    """None for the store's own acts, and for a user who was erased since."""
    user_id_hmac: str = ""
    """Keyed hash of the user's id; empty for the store's own acts."""
    target: str | None = None
    """Id of what was acted on: a fact, a message, a receipt."""
    counts: Mapping[str, int] = field(default_factory=dict)
    cursor: str = ""
    """Position in the log of ``audit(since=…)``."""


__all__ = [
    "AuditEntry",
    "ForgetPreview",
    "Receipt",
]
