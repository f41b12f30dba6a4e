"""Conversations that other histories of LangChain hold become memory."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage

from langchain_ltm._convert import to_message
from ltm_core.adapting import Call, Steps, adrive, checked_id, drive, labels, served
from ltm_core.errors import ConfigError, InvalidInputError
from ltm_core.types import Message, Scope

Source: TypeAlias = BaseChatMessageHistory | Iterable[BaseMessage]
Times: TypeAlias = Callable[[BaseMessage, int], datetime | str | None] | None
Progress: TypeAlias = Callable[[int, int], None] | None
_BATCH = 50
"""Messages per transaction: small enough to let others write in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of the messages of one import."""

    read: int
    """Messages that the history held."""
    stored: int
    known: int
    """Stored before, by this import or live."""
    edited: int
    """Known under the same id with other words: the new words count now."""
    erased: int
    """Not stored, because they were forgotten before."""
    left_out: int
    """System prompts, blank messages and summaries: they are no turns. And all, while the user is paused."""
    facts: int
    """Facts that were added or reinforced."""


def import_history(
    history: Source,
    *,
    memory: Any,
    user_id: str | None = None,
    session_id: str | None = None,
    at: Times = None,
    timezone: str | None = None,
    progress: Progress = None,
    batch_size: int = _BATCH,
) -> ImportReport:
    """The conversation is stored and learnt from as if it had been held here, in its order.

    ``history`` is any BaseChatMessageHistory, or messages. Doing it again, after more was said, after a break or
    from a cut history, adds only what is new: a message is known by its id, one without by its words and by how
    many of the same came before it. What was forgotten stays forgotten.

    Histories hold no times: ``at(message, index)`` gives them where you know them; else all count as said now, and
    "yesterday" in them is yesterday. ``progress(done, total)`` is called after each batch. Errors are raised; what
    was stored before stays, and the next import goes on from there.
    """
    scope = _scope(memory, user_id, session_id)
    messages = history.messages if isinstance(history, BaseChatMessageHistory) else history
    return drive(memory, _importing(scope, list(messages), at, timezone, progress, batch_size))


async def aimport_history(
    history: Source,
    *,
    memory: Any,
    user_id: str | None = None,
    session_id: str | None = None,
    at: Times = None,
    timezone: str | None = None,
    progress: Progress = None,
    batch_size: int = _BATCH,
) -> ImportReport:
    """Async form of `import_history`; the loop is not blocked."""
    scope = _scope(memory, user_id, session_id)
    messages = await history.aget_messages() if isinstance(history, BaseChatMessageHistory) else history
    return await adrive(memory, _importing(scope, list(messages), at, timezone, progress, batch_size))


def _scope(memory: Any, user_id: str | None, session_id: str | None) -> Scope:
    if not callable(getattr(memory, "observe", None)):
        raise ConfigError(f"memory must be a LongTermMemory, not {type(memory).__name__}")
    return served(checked_id(user_id, "user_id"), checked_id(session_id, "session_id"))


def _importing(
    scope: Scope, messages: Sequence[BaseMessage], at: Times, timezone: str | None, progress: Progress, size: int
) -> Steps[ImportReport]:
    if size < 1:
        raise InvalidInputError(f"batch_size must be at least 1, not {size}")
    turns = _turns(messages, at)
    counts: Counter[str] = Counter()
    done = facts = 0
    for batch in _batches(turns, size):
        zone = {} if timezone is None else {"timezone": timezone}
        seen = yield Call("observe", {**labels(scope), "messages": batch, **zone})
        counts.update(s.status for s in seen.messages)
        facts += len(seen.facts)
        done += len(batch)
        if progress is not None:
            progress(done, len(turns))
    return ImportReport(
        read=len(messages),
        stored=counts["stored"],
        known=counts["duplicate"],
        edited=counts["edited"],
        erased=counts["erased"],
        left_out=len(messages) - counts.total(),
        facts=facts,
    )


def _turns(messages: Sequence[BaseMessage], at: Times) -> list[Message]:
    turns: list[Message] = []
    seen: Counter[str] = Counter()
    for index, message in enumerate(messages):
        turn = to_message(message)
        if turn is None or turn.role == "system":
            continue
        if turn.id is None:
            words = f"{turn.role}\x1f{turn.name or ''}\x1f{turn.content}"
            seen[words] += 1
            digest = hashlib.sha256(f"{seen[words]}\x1f{words}".encode("utf-8", "surrogatepass")).hexdigest()
            turn = replace(turn, id=f"import-{digest[:32]}")
        turns.append(replace(turn, at=at(message, index)) if at is not None else turn)
    return turns


def _batches(turns: Sequence[Message], size: int) -> Iterator[list[Message]]:
    """Parts of about ``size`` turns that begin with the user: an answer is stored with what it answers."""
    batch: list[Message] = []
    for turn in turns:
        if len(batch) >= size and turn.role == "user":
            yield batch
            batch = []
        batch.append(turn)
    if batch:
        yield batch


__all__ = ["ImportReport", "aimport_history", "import_history"]
