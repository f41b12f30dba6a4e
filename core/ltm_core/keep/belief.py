"""What a file is believed that nobody vouches for.

Such a file is the user's word: that the user said something, and what follows from it. It cannot make the application
or the host say something (facts it asserted, confirmations, system and tool turns, slots, metadata, tags), put turns
into the prompt's window, or tell what this store knew and when.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ltm_core.errors import InvalidInputError
from ltm_core.store.base import MessageRow
from ltm_core.store.rows import FactRow
from ltm_core.text.normalize import fold
from ltm_core.types import Fact

NEEDS_TRUST = "only the application may say this (trust=True)"
UNSUPPORTED = "no message of the user holds what the fact says"
_ROLES = ("user", "assistant")


def believed_message(row: MessageRow, *, now: datetime) -> MessageRow:
    """The turn as it is kept. InvalidInputError for turns of the system and of tools."""
    if row.role not in _ROLES:
        raise InvalidInputError(NEEDS_TRUST)
    return replace(row, recorded_at=now, in_window=False, archived_at=None, retired_at=None, metadata={})


def believed_fact(row: FactRow, said: Mapping[str, Sequence[str]], *, now: datetime) -> FactRow:
    """The fact as it is kept; ``said`` are the words of the user's own messages, by message id.

    InvalidInputError when the application asserted it, or when no evidence of it holds its words.
    """
    fact = row.fact
    if fact.asserted_by != "user":
        raise InvalidInputError(NEEDS_TRUST)
    evidence = tuple(e for e in fact.evidence if e.message_id in said)
    quoted = [(e, t) for e in evidence for t in said[e.message_id]]
    if not any(_holds(fact, words, words[e.start : e.end]) for e, words in quoted):
        raise InvalidInputError(UNSUPPORTED)
    sources = tuple(dict.fromkeys(e.message_id for e in evidence))
    return FactRow(
        fact=replace(
            fact,
            recorded_at=now,
            evidence=evidence,
            source_message_ids=sources,
            support_count=min(max(fact.support_count, 1), len(sources)),
            access_count=0,
            tags=(),
            metadata={},
            rule="import",
        )
    )


def _holds(fact: Fact, words: str, span: str) -> bool:
    """The span holds the object, and the message every word of the statement."""
    inside, all_words = fold(span), fold(words)
    value, text = fold(fact.object), fold(fact.text)
    if not value or value not in inside:
        return False
    return text in all_words or all(w in all_words for w in text.split())
