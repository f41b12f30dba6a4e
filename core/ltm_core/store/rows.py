"""Rows as an export carries them: what a store keeps beyond the values that cross the door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from ltm_core.types import Fact, Importance, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session and when something last came in; ``message_count`` follows the turns and is not written."""

    item: int = 0
    session: Session
    arrived_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierTimes:
    """When a fact held, as the store knew it until ``known_until``."""

    known_until: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    retracted_at: datetime | None = None
    suppressed_at: datetime | None = None
    expires_at: datetime | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """A fact with the times that are written, whatever has expired since, and the ones it had before."""

    item: int = 0
    fact: Fact
    earlier: tuple[EarlierTimes, ...] = ()
    """Oldest first."""
    last_access_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnWorth:
    """What decides how long a turn is kept, without its words."""

    item: int
    at: datetime
    importance: Importance
    access_count: int = 0
    last_access_at: datetime | None = None
    in_window: bool = False
    anchored: bool = False
    """Whether it has an anchor of another kind than stated_fact."""
    supports: tuple[int, ...] = ()
    """Items of the stored facts that rest on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdFile:
    """A file outside the store that holds turns of one user. ``item`` is 0 until it is written."""

    item: int = 0
    name: str
    count: int
    first_at: datetime
    last_at: datetime
    digest: str
    """SHA-256 (hex) of its bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdTurn:
    """A turn that a file holds: its item, which no other row gets, and the item of the file."""

    item: int
    file: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One row of the audit log. ``user_id`` is None for the store's own acts and for erased users."""

    number: int
    at: datetime
    action: str
    user_id: str | None
    user_mac: str
    """Keyed hash (hex) of the user's id; empty for the store's own acts."""
    actor: str | None = None
    reason: str | None = None
    target: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


Place: TypeAlias = tuple[int, datetime, int]
"""Label of the session, instant, sequence: one turn, also in a copy of the store."""


@dataclass(slots=True, kw_only=True)
class News:
    """What one user erased that the copy does not know."""

    everything: bool = False
    """True when the watermark is newer than the copy's."""
    macs: dict[str, set[str]] = field(default_factory=dict)
    """Kind of tombstone -> keyed hashes (hex)."""
    deleted: dict[Place, bytes] = field(default_factory=dict)
    """Places of turns that were deleted, with the keyed hash of their words."""

    def has(self, kind: str, mac: str) -> bool:
        """Whether this was erased."""
        return mac in self.macs.get(kind, ())


__all__ = ["AuditRow", "ColdFile", "ColdTurn", "EarlierTimes", "FactRow", "News", "Place", "SessionRow", "TurnWorth"]
