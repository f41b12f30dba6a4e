"""All memories of one user as forgetting sees them, and what protects each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from ltm_core.keep.value import Held
from ltm_core.recall.data import toml
from ltm_core.store.rows import FactRow, TurnWorth
from ltm_core.types import Fact

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.lexicon import Lexicon
    from ltm_core.store.base import RowReader, UserState

_PAGE = 1000
IN_WINDOW = "in the window of an open session"
ANCHORED = "anchored"
ASKED = "the user asked to remember it"
VITAL = "health, family, an identifier, or who the user is"


@cache
def _data() -> Mapping[str, Sequence[str]]:
    return toml("retention.toml")


def holdings(reader: RowReader, lexicon: Lexicon, *, now: datetime, idle_before: datetime) -> list[Held]:
    """Every turn and fact of the user that has not expired, in no particular order; a session in which nothing
    arrived since ``idle_before`` counts as closed."""
    return [*_turns(reader, now, idle_before), *_facts(reader, lexicon, now=now)]


def without_summary(config: Config, state: UserState, held: Sequence[Held]) -> frozenset[int]:
    """With consolidation on, the items of the turns that a summary is still to stand for. What was looked at and left
    out (a day of few turns) waits for nothing. Pure."""
    days = config.consolidate_after_days
    if days is None:
        return frozenset()
    looked = state.consolidated_at

    def waits(turn: Held) -> bool:
        if turn.summarised is not None:
            return not turn.summarised
        if looked is None:
            return True
        # Of the last day that was looked at a part may have come later.
        return turn.recorded_at >= looked or turn.at >= looked - timedelta(days=days + 1)

    return frozenset(h.item for h in held if h.owner == "message" and waits(h))


def _turns(reader: RowReader, now: datetime, idle_before: datetime) -> Iterator[Held]:
    last = 0
    while page := reader.turn_worths(now=now, idle_before=idle_before, after_item=last, limit=_PAGE):
        for turn in page:
            yield Held(
                owner="message",
                item=turn.item,
                kind="message",
                importance=turn.importance,
                at=turn.at,
                recorded_at=turn.recorded_at,
                uses=turn.access_count,
                used_at=turn.last_access_at,
                protected=_of_turn(turn),
                for_now=turn.in_window and not turn.anchored,
                supports=turn.supports,
                summarised=turn.summarised,
            )
        last = page[-1].item


def _of_turn(turn: TurnWorth) -> str:
    if turn.anchored:
        return ANCHORED
    return IN_WINDOW if turn.in_window else ""


def _facts(reader: RowReader, lexicon: Lexicon, *, now: datetime) -> Iterator[Held]:
    last = 0
    while page := reader.fact_rows(after_item=last, limit=_PAGE):
        sources = {i for r in page for i in r.fact.source_message_ids}
        anchored = {
            a.evidence.message_id
            for a in (reader.anchors(sorted(sources)) if sources else ())
            if a.kind != "stated_fact"
        }
        for row in page:
            fact = row.fact
            if fact.expires_at is not None and fact.expires_at <= now:
                continue
            yield Held(
                owner="fact",
                item=row.item,
                id=fact.id,
                kind=fact.kind,
                importance=fact.importance,
                at=max(fact.last_seen_at, fact.recorded_at),
                recorded_at=fact.recorded_at,
                uses=fact.access_count + max(0, fact.support_count - 1),
                used_at=row.last_access_at,
                past=_is_past(fact, now),
                protected=_of_fact(row, lexicon, anchored),
                superseded_by=fact.superseded_by,
            )
        last = page[-1].item


def _is_past(fact: Fact, now: datetime) -> bool:
    ended = fact.valid_to is not None and fact.valid_to <= now
    return ended or fact.superseded_by is not None or fact.retracted_at is not None


def _of_fact(row: FactRow, lexicon: Lexicon, anchored: set[str]) -> str:
    fact, data = row.fact, _data()
    if fact.rule.startswith(tuple(data["rules"])):
        return ASKED
    if protects(fact.relation, lexicon):
        return VITAL
    return ANCHORED if anchored.intersection(fact.source_message_ids) else ""


def protects(relation: str, lexicon: Lexicon) -> bool:
    """Whether no policy forgets facts of this relation: health, identifiers, who the user is."""
    data = _data()
    named = data["relations"]
    return lexicon.relation(relation).slot in data["slots"] or relation in named or _family(relation) in named


def _family(relation: str) -> str:
    head, mark, _ = relation.partition(":")
    return f"{head}:*" if mark else relation


__all__ = ["ANCHORED", "ASKED", "IN_WINDOW", "VITAL", "holdings", "protects", "without_summary"]
