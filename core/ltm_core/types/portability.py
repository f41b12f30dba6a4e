"""What an import, a backup or a restore did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedLine:
    """One line of an import that was not taken: where and why, never what it said."""

    line: int
    """Counted from 1; the header is line 1."""
    kind: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What one call of ``import_user`` did."""

    imported: Mapping[str, int]
    """Rows written, per kind (user, session, message, slot, fact, change, document)."""
    known: Mapping[str, int]
    """Rows the store had already, per kind; they were left as they are."""
    refused: Mapping[str, int]
    """Lines that were not taken, per reason."""
    lines: tuple[RefusedLine, ...]
    """The first 1000 of them."""
    complete: bool
    """False when the file was cut off: it may be imported again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport:
    """Where a backup is, as of when, and how large."""

    path: str
    at: datetime
    bytes: int
    cold_files: int = 0
    """Files of old turns in it (docs/keeping.md)."""
    cold_files_left: int = 0
    """Files that it lists and does not hold: they are at ``archive_url``, or gone or damaged, as `doctor` says."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """What was restored, and what of it was erased again because the user had erased it since."""

    location: str
    at: datetime
    erasures_from: Literal["store", "list", "none"]
    """Who knew of the later erasures: the store that gave way, or the list beside the backup."""
    users: int
    """In the restored store."""
    counts: Mapping[str, int]
    """Erased again: users, messages_deleted, messages_redacted, facts, sessions, slots, documents_deleted,
    documents_redacted; messages_lost: turns of files that could not be read to erase in them."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport:
    """What `LongTermMemory.copy` did, and whether the target is what the source was."""

    source: str
    target: str
    users: int
    """In the target."""
    carried: int
    """Users that this run carried; the others were there already, as they are in the source."""
    dropped: int
    """Users whom an earlier run had carried and who changed, or were erased, in the source since."""
    rows: int
    """Rows of users in the target, counted at the end."""
    cold_files: int
    """Files of old turns that were copied."""
    cold_files_left: int
    """Files at an ``archive_url`` that both stores list now: only one of the two may be used from now on."""
    differences: tuple[str, ...]
    """The users of whom the target does not hold what was carried, and "" for what is no user's. Empty: every row
    was read again and is the same."""
    seconds: float = 0.0


__all__ = [
    "BackupReport",
    "CopyReport",
    "ImportResult",
    "RefusedLine",
    "RestoreReport",
]
