"""The conversation at hand: its last turns and live slots, and what the host holds itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ltm_core.recall.entry import Entry
from ltm_core.recall.question import QueryTerm, Question
from ltm_core.recall.recent import is_small_talk
from ltm_core.recall.request import RecallRequest
from ltm_core.recall.working import last_turns, units
from ltm_core.store.base import MessageRow, Reader, SlotRow
from ltm_core.text.language import detect_language
from ltm_core.text.normalize import fold
from ltm_core.text.terms import terms
from ltm_core.types import ContextItem, Dropped

if TYPE_CHECKING:
    from ltm_core.config import Config

_ROWS_PER_TURN = 3
"""Stored turns read per turn of the window: an answer may come with several tool results."""
_TOPIC_TERMS = 12
"""Words of the conversation that stand in for the topic of a vague question."""
_TOPIC_WEIGHT = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What the conversation at hand contributes."""

    query: str
    """The question: the one given, or the session's last user message."""
    entries: tuple[Entry, ...] = ()
    """Slots, then turns in the order they were said."""
    held: frozenset[int] = frozenset()
    """Items of messages that must not be recalled as memories: shown here, held by the host, or being answered."""
    dropped: tuple[Dropped, ...] = ()
    language: str = "other"
    topic: tuple[str, ...] = ()
    """Terms of what was last talked about, newest first."""

    def resolved(self, question: Question) -> Question:
        """A question without a topic borrows that of the conversation."""
        if not question.vague or not self.topic:
            return question
        known = {t.term for t in question.terms}
        start = max((t.group for t in question.terms), default=0) + 1
        borrowed = tuple(
            QueryTerm(term=t, weight=_TOPIC_WEIGHT, group=start + i)
            for i, t in enumerate(t for t in self.topic if t not in known)
        )
        # Words without a topic of their own ("what about that?") would only dilute the borrowed one.
        own = question.terms if question.content else ()
        return replace(question, terms=own + borrowed)


def open_window(reader: Reader, request: RecallRequest, config: Config) -> Window:
    """The window of the request's session; without a session there is only the question."""
    session_id = request.scope.session_id
    rows: list[MessageRow] = []
    slots: list[SlotRow] = []
    if session_id is not None:
        rows = _newest(reader, session_id, config.window_turns + 1)
        live = (r for r in rows if r.expires_at is None or r.expires_at > request.now)
        rows = sorted(live, key=lambda r: (r.at, r.sequence))
        if "working" in request.tiers:
            slots = reader.slots(session_id, now=request.now)
    query, answering = _question(reader, request, rows)
    by_host = _held_by_host(reader, request, rows)
    entries: list[Entry] = []
    dropped: list[Dropped] = []
    shown: set[int] = set()
    if "working" in request.tiers:
        entries += [_slot_entry(s, request) for s in slots]
        # The host adds the question it passes; one that was only stored is part of the window.
        apart = by_host | ({answering.item} if answering and request.query is not None else set())
        turns = last_turns([r for r in rows if r.in_window], config.window_turns)
        grouped, refused = units(turns)
        dropped += [_refused(r, why) for r, why in refused]
        for unit, row in grouped:
            if row.item in apart:
                why = "the host shows it" if row.item in by_host else "it is being answered"
                dropped.append(_refused(row, why))
            elif row.content.strip() or row.role != "tool":
                entries.append(_turn_entry(row, unit))
                shown.add(row.item)
    held = by_host | shown | ({answering.item} if answering else set())
    earlier = [r for r in rows if answering is None or r.item != answering.item]
    return Window(
        query=query,
        entries=tuple(entries),
        held=frozenset(held),
        dropped=tuple(dropped),
        language=detect_language(" ".join(r.content for r in rows[-2:])) if rows else "other",
        topic=_topic(earlier),
    )


def _newest(reader: Reader, session_id: str, turns: int) -> list[MessageRow]:
    """The end of the session, from the ``turns``-th last message of the user on, however many results of tools
    lie between."""
    limit = turns * _ROWS_PER_TURN
    while True:
        rows = reader.messages(session_id=session_id, newest_first=True, limit=limit)
        if len(rows) < limit or sum(r.role == "user" for r in rows) >= turns:
            return rows
        limit *= 4


def _question(reader: Reader, request: RecallRequest, rows: Sequence[MessageRow]) -> tuple[str, MessageRow | None]:
    """The words to answer, and the stored message that holds them, if it is the newest one of the user."""
    said = [r for r in rows if r.role == "user"]
    if not said and request.scope.session_id is None and request.query:
        said = reader.messages(roles=("user",), newest_first=True, limit=1)
    newest = said[-1] if said else None
    if request.query is None:
        return (newest.content, newest) if newest and request.scope.session_id else ("", None)
    same = newest is not None and fold(newest.content) == fold(request.query)
    return request.query, newest if same else None


def _held_by_host(reader: Reader, request: RecallRequest, rows: Sequence[MessageRow]) -> set[int]:
    ids = set(request.exclude_message_ids)
    texts = set()
    for message in request.current_messages or ():
        if message.id:
            ids.add(message.id)
        texts.add((message.role, fold(message.content)))
    held = {r.item for r in rows if r.id in ids or (r.role, fold(r.content)) in texts}
    missing = ids - {r.id for r in rows}
    if missing:
        held |= {r.item for r in reader.messages(ids=sorted(missing))}
    return held


def _turn_entry(row: MessageRow, unit: str) -> Entry:
    item = ContextItem(
        text=row.content,
        tier="working",
        at=row.at,
        score=1.0,
        source_id=row.id,
        source_message_ids=(row.id,),
        session_id=row.session_id,
        role=row.role,
        speaker=row.name,
        reasons=("a turn of this conversation",),
    )
    return Entry(item=item, unit=unit, focus=(0, len(row.content)))


def _slot_entry(slot: SlotRow, request: RecallRequest) -> Entry:
    value = slot.value if isinstance(slot.value, str) else json.dumps(slot.value, ensure_ascii=False, default=str)
    text = f"{slot.name} = {value}"
    item = ContextItem(
        text=text,
        tier="working",
        at=slot.set_at,
        score=1.0,
        source_id=f"slot:{slot.name}",
        session_id=request.scope.session_id,
        reasons=("a live slot of this conversation",),
    )
    return Entry(item=item, unit=f"slot:{slot.name}", is_slot=True, keep=True, focus=(0, len(text)))


def _refused(row: MessageRow, reason: str) -> Dropped:
    return Dropped(source_id=row.id, tier="working", reason=reason)


def _topic(rows: Sequence[MessageRow]) -> tuple[str, ...]:
    """Terms of the last turns, newest turn first; a greeting has no topic, nor has the answer to one."""
    found: dict[str, None] = {}
    told = [r for r in rows if r.role == "user" and not is_small_talk(r.content)]
    for row in reversed(rows[-4:] if told else ()):
        if not is_small_talk(row.content):
            found.update(dict.fromkeys(terms(row.content[:2000], query=True)))
    return tuple(t for t in found if len(t) > 1)[:_TOPIC_TERMS]


__all__ = ["Window", "open_window"]
