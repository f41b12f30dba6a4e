"""The values the grammar works with: moments, clocks, spans and the atoms that stand for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Literal

from .types import Direction, Precision, Prefer


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where the speaker stands: the instant, and which way an ambiguous form leans.

    ``cued`` is true when the clause itself gave the leaning (a tense, "next time") rather than the caller.
    """

    now: datetime
    prefer: Prefer
    cued: bool = False

    @property
    def today(self) -> date:
        return self.now.date()

    @property
    def zone(self) -> tzinfo:
        zone = self.now.tzinfo
        assert zone is not None  # find_times refuses a naive now
        return zone


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A time of day: a part of the day, an hour of it, or both; ``hour`` may pass 24 ("2 a.m. last night").

    ``until`` is the closing time of a span such as "3pm to 5pm".
    """

    low: int | None = None
    high: int | None = None
    hour: int | None = None
    minute: int | None = None
    half: Literal["am", "pm", "night"] | None = None
    until: Clock | None = None

    @property
    def settled(self) -> bool:
        """True when the hour cannot mean the other half of the day."""
        return self.half is not None or self.hour is None or self.hour > 12 or self.hour == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A range on the wall clock of the user's zone; aware ends are instants and stay what they are.

    ``ambiguous`` marks a form that another leaning would place elsewhere; ``day`` is the one day meant, if
    it is one; ``clock`` is the time of day already in the words.
    """

    since: datetime
    until: datetime
    precision: Precision
    relative: bool = False
    ambiguous: bool = False
    direction: Direction | None = None
    day: date | None = None
    clock: Clock | None = None


Reading = Span | Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Atom:
    """One matched piece of text; ``resolve`` reads it at a moment, or says it is no time after all.

    A ``weak`` atom ("2019", "3点", "may") counts only as a part of something larger; ``language`` names the
    lexicon it came from.
    """

    start: int
    end: int
    language: str
    kind: str
    weak: bool
    resolve: Callable[[Moment], Reading | None]
