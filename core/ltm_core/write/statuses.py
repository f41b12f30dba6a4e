"""Which of the given messages are new: by id, by the place in the conversation, or by what was erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from ltm_core.write.align import align
from ltm_core.write.intake import Incoming

if TYPE_CHECKING:
    from ltm_core.store.base import MessageRow, Reader

Fate: TypeAlias = Literal["new", "duplicate", "edit", "erased"]
_ALIGN_EXTRA = 64
"""Stored turns looked at beyond the number given: a host may drop some of the last ones."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is to be done with one message; ``stored`` is the row it repeats or edits."""

    fate: Fate
    stored: MessageRow | None = None


def judge(reader: Reader, session_id: str, given: Sequence[Incoming], *, now: datetime) -> tuple[Judged, ...]:
    """One verdict per message, in order, as of this moment of the store."""
    anonymous = [m for m in given if m.aligned and m.id is None]
    first_new, tail = _aligned(reader, session_id, anonymous) if anonymous else (0, [])
    known = anonymous[:first_new]
    verdicts: list[Judged] = []
    position = 0
    for message in given:
        if message.aligned and message.id is None:
            position += 1
            if position <= len(known):
                verdicts.append(Judged("duplicate", tail[len(tail) - len(known) + position - 1]))
                continue
        verdicts.append(_alone(reader, session_id, message, now=now))
    return tuple(verdicts)


def _aligned(reader: Reader, session_id: str, given: Sequence[Incoming]) -> tuple[int, Sequence[MessageRow]]:
    newest = reader.messages(
        session_id=session_id,
        roles=tuple({m.role for m in given}),
        newest_first=True,
        limit=len(given) + _ALIGN_EXTRA,
    )
    tail = newest[::-1]
    return align([(m.role, m.content) for m in tail], [(m.role, m.content) for m in given]), tail


def _alone(reader: Reader, session_id: str, message: Incoming, *, now: datetime) -> Judged:
    stored = None
    if message.id is not None:
        stored = reader.message(message.id, session_id=session_id)
    elif message.role == "assistant" and message.reply_to is not None:
        stored = next(
            (
                m
                for m in reader.messages(session_id=session_id, roles=("assistant",), newest_first=True, limit=8)
                if m.reply_to == message.reply_to and not m.has_caller_id
            ),
            None,
        )
    if _is_erased(reader, session_id, message, now=now):
        return Judged("erased", stored)
    if stored is None:
        return Judged("new")
    if stored.redacted_at is not None:
        return Judged("erased", stored)
    return Judged("duplicate" if stored.content == message.content else "edit", stored)


def _is_erased(reader: Reader, session_id: str, message: Incoming, *, now: datetime) -> bool:
    said = message.at or now
    watermark = reader.erased_before()
    if watermark is not None and message.at is not None and said <= watermark:
        return True
    if message.id is not None and reader.is_tombstoned("message", message_key(session_id, message.id)):
        return True
    # Without an id the words themselves are the only trace. Told again now, they are a new statement; dated
    # back or replayed as part of a history, they are the old one.
    erased = reader.is_tombstoned("content", message.content)
    return erased is not None and (message.aligned or (message.at is not None and said <= erased))


def message_key(session_id: str, message_id: str) -> str:
    """What a tombstone remembers of a message id: ids are unique inside a session."""
    return f"{session_id}\x1f{message_id}"
