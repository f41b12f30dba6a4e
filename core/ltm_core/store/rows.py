"""Rows as an export carries them: what a store keeps beyond the values that cross the door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, TypeAlias

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
    recorded_at: datetime
    """When it came: of a log that is told later, not when it was said."""
    importance: Importance
    access_count: int = 0
    last_access_at: datetime | None = None
    in_window: bool = False
    anchored: bool = False
    """Whether it has an anchor of another kind than stated_fact."""
    supports: tuple[int, ...] = ()
    """Items of the stored facts that rest on it."""
    summarised: bool | None = None
    """Whether a summary that rests on it can be recalled; None when there is none."""


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
class Copied:
    """What a backup holds: bytes of all files, files of the archive, and how many of those it only lists."""

    bytes: int
    cold_files: int = 0
    cold_files_left: int = 0


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


Level: TypeAlias = Literal["day", "week"]
LEVEL_CODES: Mapping[Level, int] = {"day": 0, "week": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySource:
    """A turn on which a summary rests."""

    item: int
    """Its item in this store."""
    session_id: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLine:
    """One sentence of a summary, dated and attributed."""

    text: str
    on: date
    """The day it was said, where the user was."""
    speaker: str = ""
    """As it is shown: a name or a word for the role; empty when the sentence itself says who."""
    by: str = "assistant"
    """Who said it: ``user``, a name, or ``assistant``, also for what a model words."""
    sources: tuple[int, ...]
    """Places in `SummaryRow.sources`."""

    @property
    def shown(self) -> str:
        """The line as it is indexed and rendered."""
        said = f"{self.speaker}: {self.text}" if self.speaker else self.text
        return f"{self.on.isoformat()} {said}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRow:
    """What the turns of one topic and one period come to. ``item`` is 0 until it is written."""

    item: int = 0
    id: str
    level: Level
    begins: datetime
    ends: datetime
    """The period, half-open: a day or a week where the user was."""
    timezone: str
    lines: tuple[SummaryLine, ...]
    topic: str
    """A few of its own words, by which it must be found before any turn is retired."""
    language: str
    made_by: str
    """``extractive``, or the name of the model."""
    sources: tuple[SummarySource, ...]
    said_at: datetime
    """When the last of its turns was said."""
    agent_id: str | None = None
    task_id: str | None = None
    app_id: str | None = None
    recorded_at: datetime
    recallable_at: datetime | None = None
    """When it was found by its own topic; None before."""
    expires_at: datetime | None = None
    """When the first of its turns expires."""
    retired: int = field(default=0, compare=False)
    """How many of its turns are retired; told by reads, not written."""

    @property
    def role(self) -> Literal["user", "assistant"]:
        """``user`` when all of it are the user's own words."""
        return "assistant" if any(n.by == "assistant" for n in self.lines) else "user"

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(line.shown for line in self.lines)

    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where each line stands in the text."""
        found, start = [], 0
        for line in self.lines:
            end = start + len(line.shown)
            found.append((start, end))
            start = end + 1
        return tuple(found)


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


__all__ = [
    "LEVEL_CODES",
    "AuditRow",
    "ColdFile",
    "ColdTurn",
    "Copied",
    "EarlierTimes",
    "FactRow",
    "Level",
    "News",
    "Place",
    "SessionRow",
    "SummaryLine",
    "SummaryRow",
    "SummarySource",
    "TurnWorth",
]
