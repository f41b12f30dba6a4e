"""What was said, what is known, and why."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from fastapi import Response

from ltm_core.errors import NotFoundError
from ltm_core.serve.page import looking
from ltm_core.serve.page.bars import bars
from ltm_core.serve.page.visit import Visit
from ltm_core.types import Anchor, Fact, Session, StoredMessage

TURNS, SLOTS, SESSIONS = 50, 25, 200
"""On one page: what a person reads at once; of sessions, what fits into a list to choose from."""


@dataclass(frozen=True)
class Part:
    """The turns of one session on one day."""

    session_id: str
    turns: Sequence[StoredMessage]


@dataclass(frozen=True)
class Day:
    """One day of the user's zone."""

    name: str
    parts: Sequence[Part] = field(default_factory=tuple)


async def timeline(visit: Visit) -> Response:
    """The turns by day and session, the newest first."""
    memory, user, session_id = visit.memory, visit.user_id, visit.asked("session")

    def look() -> tuple[list[StoredMessage], str | None, dict[str, list[Anchor]]]:
        found = memory.messages(
            user_id=user, session_id=session_id, newest_first=True, limit=TURNS, cursor=visit.asked("cursor")
        )
        turns = list(found.items)
        return turns, found.next_cursor, dict(visit.inside.anchors(user, [m.id for m in turns]))

    turns, following, anchors = await visit.run("messages", look)
    sessions: tuple[Session, ...] = (
        await visit.run("sessions", functools.partial(memory.sessions, user_id=user, limit=SESSIONS))
    ).items
    return visit.page(
        "timeline.html",
        days=_days(visit, turns),
        anchors=anchors,
        sessions=sessions,
        session_id=session_id,
        following=following,
    )


def _days(visit: Visit, turns: Sequence[StoredMessage]) -> list[Day]:
    days = []
    for name, of_day in groupby(turns, key=lambda m: m.at.astimezone(visit.zone).strftime("%Y-%m-%d")):
        parts = [Part(session, tuple(of)) for session, of in groupby(of_day, key=lambda m: m.session_id)]
        days.append(Day(name, parts))
    return days


async def facts(visit: Visit) -> Response:
    """Each subject and relation with the values it had, and when they held."""
    changed = visit.asked("changed") == "1"
    call = functools.partial(
        visit.memory.timeline, visit.user_id, changed_only=changed, limit=SLOTS, cursor=visit.asked("cursor")
    )
    found = await visit.run("timeline", call)
    now = visit.inside.now()
    slots = [(slot, tuple(zip(slot.spans, bars(slot.spans, now=now)))) for slot in found.items]
    return visit.page("facts.html", slots=slots, changed=changed, following=found.next_cursor)


async def fact(visit: Visit) -> Response:
    """One fact: its chain, and why it is believed."""
    fact_id = visit.request.path_params["fact_id"]
    chosen, versions = await visit.run("history", functools.partial(versions_of, visit, fact_id))
    found = await visit.run("history", functools.partial(looking.why, visit.inside, visit.user_id, chosen))
    slot = await visit.run(
        "timeline",
        functools.partial(
            visit.memory.timeline,
            visit.user_id,
            subject=chosen.subject,
            relation=chosen.relation,
            changed_only=False,
        ),
    )
    known = {v.id for v in versions}
    spans = tuple(s for t in slot.items for s in t.spans if s.fact.id in known)
    lines = tuple(zip(spans, bars(spans, now=visit.inside.now())))
    own = next((s for s in spans if s.fact.id == fact_id), None)
    return visit.page("fact.html", fact=chosen, lines=lines, why=found, state=own.state if own else "holds")


def versions_of(visit: Visit, fact_id: str) -> tuple[Fact, tuple[Fact, ...]]:
    """The fact and its chain; NotFoundError for one that the user does not have."""
    versions = visit.memory.history(fact_id, user_id=visit.user_id).items
    chosen = next((f for f in versions if f.id == fact_id), None)
    if chosen is None:
        raise NotFoundError(f"no fact {fact_id[:80]!r} for this user")
    return chosen, versions


__all__ = ["Day", "Part", "fact", "facts", "timeline", "versions_of"]
