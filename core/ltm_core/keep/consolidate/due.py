"""Which turns of one user are due for a summary. Pure; days are those where the user was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from ltm_core.keep.redaction import FILLER
from ltm_core.when import stored_zone
from ltm_core.write.incoming.index import day_of

if TYPE_CHECKING:
    from ltm_core.store.base import MessageRow
    from ltm_core.store.rows import SummaryRow

Labels: TypeAlias = tuple[str | None, str | None, str | None]
"""agent, task, app: what may be seen alone must not be told together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """When a day, or a week, is over and full enough."""

    after_days: float
    """Whole days between the end of a day and its summary."""
    min_turns: int
    weekly_after_days: float
    """Whole days between the end of a week and its summary; 0 keeps days."""
    over_turns: int = 0
    """More turns than this without a summary make the oldest finished days due whatever their age; 0: never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The turns of one day that are due together."""

    on: date
    labels: Labels
    timezone: str
    rows: tuple[MessageRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """The day summaries of one week that are due together."""

    monday: date
    labels: Labels
    timezone: str
    days: tuple[SummaryRow, ...]


def tells(row: MessageRow, *, now: datetime) -> bool:
    """Whether the turn can be told again: it is the user's or the assistant's, is alive, and says something."""
    if row.role not in ("user", "assistant") or (row.expires_at is not None and row.expires_at <= now):
        return False
    return bool(row.content.replace(FILLER, "").strip())


def due_days(
    rows: Iterable[MessageRow], rules: Rules, *, now: datetime, waiting: int | None = None
) -> tuple[Day, ...]:
    """The days that are due, the oldest first. ``rows`` are turns on which no summary rests, in order of time;
    ``waiting`` is how many there are in all, when these are a part of them."""
    groups: dict[tuple[date, Labels], list[MessageRow]] = {}
    given = list(rows)
    waiting = len(given) if waiting is None else waiting
    for row in given:
        if tells(row, now=now):
            groups.setdefault((day_of(row), (row.agent_id, row.task_id, row.app_id)), []).append(row)
    over = max(0, waiting - rules.over_turns) if rules.over_turns else 0
    found: list[Day] = []
    for (on, labels), of_day in sorted(groups.items(), key=lambda g: (g[0][0], [v or "" for v in g[0][1]])):
        zone = of_day[-1].timezone
        age = (now.astimezone(stored_zone(zone)).date() - on).days - 1
        is_due = age >= rules.after_days or (over > 0 and age >= 0)
        if is_due and len(of_day) >= rules.min_turns and any(m.role == "user" for m in of_day):
            over -= len(of_day)
            found.append(Day(on=on, labels=labels, timezone=zone, rows=tuple(of_day)))
    return tuple(found)


def due_weeks(summaries: Sequence[SummaryRow], rules: Rules, *, now: datetime) -> tuple[Week, ...]:
    """The weeks that are due, the oldest first: finished long enough ago, with several days that can be recalled."""
    if not rules.weekly_after_days:
        return ()
    groups: dict[tuple[date, Labels], list[SummaryRow]] = {}
    for row in summaries:
        if row.level == "day" and row.recallable_at is not None:
            on = first_day(row)
            groups.setdefault((monday(on), (row.agent_id, row.task_id, row.app_id)), []).append(row)
    found = []
    for (begins, labels), days in sorted(groups.items(), key=lambda g: (g[0][0], [v or "" for v in g[0][1]])):
        zone = days[-1].timezone
        age = (now.astimezone(stored_zone(zone)).date() - (begins + timedelta(days=7))).days
        if age >= rules.weekly_after_days and len({first_day(d) for d in days}) > 1:
            found.append(Week(monday=begins, labels=labels, timezone=zone, days=tuple(days)))
    return tuple(found)


def monday(on: date) -> date:
    """The first day of its week."""
    return on - timedelta(days=on.weekday())


def first_day(row: SummaryRow) -> date:
    """The first day of its period, where the user was."""
    return row.begins.astimezone(stored_zone(row.timezone)).date()


def period(first: date, days: int, timezone: str) -> tuple[datetime, datetime]:
    """The instants at which so many days begin and end, where the user was."""
    zone = stored_zone(timezone)
    last = first + timedelta(days=days)
    begins = datetime(first.year, first.month, first.day, tzinfo=zone)
    return begins, datetime(last.year, last.month, last.day, tzinfo=zone)


__all__ = ["Day", "Labels", "Rules", "Week", "due_days", "due_weeks", "first_day", "monday", "period", "tells"]
