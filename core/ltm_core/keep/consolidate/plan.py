"""What is to be summarised of one user now: days by topic, weeks by topic. Reads, decides through pure modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.keep.consolidate.due import Day, Rules, Week, due_days, due_weeks, tells
from ltm_core.keep.consolidate.extractive import LEAST_TERMS, content_terms, says_something
from ltm_core.keep.consolidate.making import Group
from ltm_core.keep.consolidate.topics import centre, topics
from ltm_core.store.times import to_us
from ltm_core.text.terms import terms
from ltm_core.write.incoming.index import day_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.config import Config
    from ltm_core.store.base import MessageRow, Reader
    from ltm_core.store.rows import SummaryRow

PAGE = 2000
"""Turns read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaces:
    """A group, and the day summaries that its summary takes the place of."""

    group: Group
    days: tuple[SummaryRow, ...] = ()


def rules_of(config: Config) -> Rules:
    """The settings as the rules of `due`."""
    return Rules(
        after_days=config.consolidate_after_days or 0.0,
        min_turns=config.consolidate_min_turns,
        weekly_after_days=config.consolidate_weekly_after_days,
        over_turns=config.consolidate_over_turns,
    )


def planned(reader: Reader, config: Config, *, now: datetime) -> Iterator[Replaces]:
    """The groups that are due as of this moment of the store, days before weeks, the oldest first."""
    rules = rules_of(config)
    for day in _days(reader, rules, now=now):
        yield from (Replaces(group=g) for g in _of_day(reader, day, config))
    for week in due_weeks(reader.summaries(level="day"), rules, now=now):
        yield from _of_week(reader, week, now=now)


def _days(reader: Reader, rules: Rules, *, now: datetime) -> Iterator[Day]:
    """Page by page, whole days at a time: turns that wait for nothing are read and let go."""
    after: tuple[int, int] | None = None
    waiting = reader.count_unsummarised(before=now) if rules.over_turns else 0
    kept: list[MessageRow] = []
    while True:
        rows = reader.unsummarised(before=now, after=after, limit=PAGE)
        kept += rows
        if len(rows) == PAGE:
            after = (to_us(rows[-1].at), rows[-1].sequence)
            last = day_of(rows[-1])
            # Zones differ by at most two days: what is older than that is whole.
            whole = [m for m in kept if (last - day_of(m)).days > 2]
        else:
            whole = kept
        for day in due_days(whole, rules, now=now, waiting=waiting):
            waiting -= len(day.rows)
            yield day
        if len(rows) < PAGE:
            return
        done = {m.item for m in whole}
        kept = [m for m in kept if m.item not in done]


def _of_day(reader: Reader, day: Day, config: Config) -> list[Group]:
    """Exchanges are what is grouped: an answer belongs to what it answers, and "Sounds good!" is no topic."""
    vectors = reader.turn_vectors([m.item for m in day.rows])
    parts = exchanges(day.rows)
    found = topics(
        [centre([vectors.get(m.item) for m in part if m.role == "user"]) for part in parts],
        [part[0].session_id for part in parts],
        least=(config.consolidate_topic_turns + 1) // 2,
    )
    chosen = [_rows(parts, g) for g in found]
    # What nothing can be said of is not asked for night after night.
    chosen = [rows for rows in chosen if any(says_something(m.role, m.content) for m in rows)]
    return [_group(day, rows, [vectors.get(m.item) for m in rows]) for rows in chosen]


def exchanges(rows: Sequence[MessageRow]) -> list[list[MessageRow]]:
    """The turns, each that tells nothing by itself together with the one before it in its session. Pure."""
    found: list[list[MessageRow]] = []
    last: dict[str, list[MessageRow]] = {}
    for row in rows:
        here = last.get(row.session_id)
        alone = row.role == "user" and content_terms(terms(row.content)) >= LEAST_TERMS
        if here is not None and not alone:
            here.append(row)
            continue
        last[row.session_id] = [row]
        found.append(last[row.session_id])
    return found


def _rows(parts: Sequence[Sequence[MessageRow]], members: Sequence[int]) -> list[MessageRow]:
    return sorted((m for i in members for m in parts[i]), key=lambda m: (m.at, m.sequence))


def _of_week(reader: Reader, week: Week, *, now: datetime) -> Iterator[Replaces]:
    vectors = reader.turn_vectors([d.item for d in week.days])
    found = topics([vectors.get(d.item) for d in week.days], [0] * len(week.days), least=1)
    for members in found:
        days = tuple(week.days[i] for i in members)
        if len(days) < 2:
            continue
        items = [s.item for d in days for s in d.sources]
        rows = sorted(
            (m for m in reader.messages(items=items) if tells(m, now=now)), key=lambda m: (m.at, m.sequence)
        )
        if rows:
            of_rows = reader.turn_vectors([m.item for m in rows])
            yield Replaces(group=_group(week, rows, [of_rows.get(m.item) for m in rows]), days=days)


def _group(of: Day | Week, rows: Sequence[MessageRow], vectors: Sequence[NDArray[np.float32] | None]) -> Group:
    middle = centre(vectors)
    weights = tuple(1.0 if v is None or middle is None else max(0.0, min(1.0, float(v @ middle))) for v in vectors)
    return Group(
        level="day" if isinstance(of, Day) else "week",
        first=of.on if isinstance(of, Day) else of.monday,
        days=1 if isinstance(of, Day) else 7,
        labels=of.labels,
        timezone=of.timezone,
        rows=tuple(rows),
        weights=weights,
    )


__all__ = ["Replaces", "exchanges", "planned", "rules_of"]
