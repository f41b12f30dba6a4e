"""What a question means that names nothing ("上次那个事", "how did it go?") when its conversation has no topic
either: what the user told last."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.recall.cues import any_of, cues
from ltm_core.recall.data import LANGUAGES
from ltm_core.recall.filters import Filter, matches
from ltm_core.recall.gather import Found, labelled
from ltm_core.recall.hits import Hit
from ltm_core.recall.question import Question, analyse_question
from ltm_core.recall.records import message_record
from ltm_core.recall.request import RecallRequest
from ltm_core.store.base import MessageRow, Reader
from ltm_core.text.language import detect_language
from ltm_core.text.normalize import fold
from ltm_core.text.terms import terms
from ltm_core.when import find_times, stored_zone

if TYPE_CHECKING:
    from ltm_core.config import Config

READ = 60
"""The newest messages of the user that are looked at: about the last four conversations."""
FIRST = 0.6
"""Score of the newest; a guess is no certain answer."""
FALLS = 0.85
"""What each older one keeps of the score of the one before."""
SMALL_TALK_TERMS = 5
"""Terms up to which a message with a greeting in it is one."""


def most_recent(
    found: Found,
    reader: Reader,
    request: RecallRequest,
    config: Config,
    *,
    question: Question,
    filters: Filter | None,
    excluded: frozenset[int],
) -> None:
    """What the user told last, outside the conversation at hand, joins ``found``, the newest first.

    When the question is how something went, what was ahead then and is over now comes before the rest.
    """
    if "episodic" not in request.tiers:
        return
    known = {row.item for row, _ in found.messages} | excluded
    rows = [
        row
        for row in reader.messages(roles=("user",), newest_first=True, limit=READ)
        if row.item not in known
        and (row.session_id != request.scope.session_id or request.scope.session_id is None)
        and (row.expires_at is None or row.expires_at > request.now)
        and row.at <= request.now
        and row.retired_at is None
        and labelled(row, request)
        and matches(filters, message_record(row))
        and _tells(row)
    ]
    if question.asks_outcome:
        over = [row for row in rows if _is_over(row, request.now)]
        rows = [*over, *(row for row in rows if row not in over)]
    for n, row in enumerate(rows[: config.context_episodes]):
        found.messages.append((row, _hit(row, FIRST * FALLS**n)))
        found.terms[row.id] = frozenset(terms(row.content))


def is_small_talk(text: str) -> bool:
    """Whether it only greets, thanks or says that it was heard."""
    if len(terms(text[:200])) > SMALL_TALK_TERMS:
        return False
    language = detect_language(text)
    return any_of(cues(language if language in LANGUAGES else "en", "greetings"), fold(text))


def _tells(row: MessageRow) -> bool:
    """Whether the message has a topic of its own."""
    if not row.content.strip() or is_small_talk(row.content):
        return False
    return bool(analyse_question(row.content[:400], now=row.at).content)


def _is_over(row: MessageRow, now: datetime) -> bool:
    """Whether it names a time that lay ahead when it was said and does no longer."""
    said = row.at.astimezone(stored_zone(row.timezone))
    return any(row.at < m.since <= now for m in find_times(row.content[:2000], now=said, prefer="future"))


def _hit(row: MessageRow, score: float) -> Hit:
    return Hit(item=row.item, kind="message", score=score, similarity=None, signals={}, start=0, end=len(row.content))


__all__ = ["is_small_talk", "most_recent"]
