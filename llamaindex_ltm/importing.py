"""Conversations that another memory of the host holds, brought into this one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.memory.types import BaseChatStoreMemory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.base import BaseChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from sqlalchemy import Table, select

from llamaindex_ltm._convert import to_message
from ltm_core.errors import InvalidInputError
from ltm_core.types import Message, Observation

_BATCH = 200
"""Turns of one transaction."""
Named = str | Callable[[str], str]
"""An id, or what makes one of a key."""


class _Turn(NamedTuple):
    message: ChatMessage
    at: datetime | None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: sessions read, turns ``stored``, turns ``known`` from an earlier one or edited, and
    messages ``left_out``: without content, or a placeholder of the host."""

    sessions: int = 0
    stored: int = 0
    known: int = 0
    left_out: int = 0


def import_chat_store(
    source: Any,
    memory: Any,
    *,
    user_id: Named,
    session_id: Named | None = None,
    keys: Sequence[str] | None = None,
) -> ImportReport:
    """The conversations of ``source`` are stored and learnt from, in their order; importing again adds only what
    came since.

    ``source``: a chat store of the host (``SimpleChatStore``, the file it persisted to, any other), core
    ``Memory`` or its SQL store (archived messages too, with their times), or a buffer on a chat store. ``keys``:
    which conversations; a ``Memory`` or a buffer has one, a store all of them. ``user_id`` is whose they are, or
    a function of the key; ``session_id`` the same for the session, which is the key when nothing is given.
    Not inside a running event loop: there, `aimport_chat_store`.
    """
    report: ImportReport = asyncio_run(
        aimport_chat_store(source, memory, user_id=user_id, session_id=session_id, keys=keys)
    )
    return report


async def aimport_chat_store(
    source: Any,
    memory: Any,
    *,
    user_id: Named,
    session_id: Named | None = None,
    keys: Sequence[str] | None = None,
) -> ImportReport:
    """Async form of `import_chat_store`; the loop is not blocked."""
    store, own = _opened(source)
    if keys is None:
        keys = own if own is not None else await _keys(store)
    report = ImportReport()
    for key in keys:
        who = user_id(key) if callable(user_id) else user_id
        where = session_id(key) if callable(session_id) else session_id or key
        turns = await _turns(store, key)
        given = list(_identified(key, turns))
        report = replace(report, sessions=report.sessions + 1, left_out=report.left_out + len(turns) - len(given))
        async for seen in _batches(memory, given, {"user_id": who, "session_id": where}):
            new = sum(m.status == "stored" for m in seen.messages)
            report = replace(report, stored=report.stored + new, known=report.known + len(seen.messages) - new)
    return report


async def _batches(memory: Any, given: Sequence[Message], scope: dict[str, str]) -> AsyncIterator[Observation]:
    for start in range(0, len(given), _BATCH):
        yield await memory.aobserve(**scope, messages=given[start : start + _BATCH])


def _identified(key: str, turns: Sequence[_Turn]) -> Iterator[Message]:
    """The turns with ids that a second import makes again: the key, who said what, and how often until then.

    A place in the list would name another turn as soon as the source drops its oldest.
    """
    times: dict[tuple[str, str], int] = {}
    for turn in turns:
        message = to_message(turn.message)
        if message is None:
            continue
        said = (message.role, message.content)
        times[said] = times.get(said, 0) + 1
        digest = sha256("\0".join((key, *said, str(times[said]))).encode())
        yield replace(message, id=f"llamaindex-{digest.hexdigest()[:32]}", at=turn.at)


def _opened(source: Any) -> tuple[BaseChatStore | AsyncDBChatStore, list[str] | None]:
    """The store behind ``source``, and the keys that are meant when none are named; None for all."""
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.is_file():
            raise InvalidInputError("there is no file with a persisted SimpleChatStore at the path given")
        return SimpleChatStore.from_persist_path(str(path)), None
    if isinstance(source, Memory):
        return source.sql_store, [source.session_id]
    if isinstance(source, BaseChatStoreMemory):
        return source.chat_store, [source.chat_store_key]
    if isinstance(source, BaseChatStore | AsyncDBChatStore):
        return source, None
    raise InvalidInputError(f"{type(source).__name__} is no chat store, no Memory, and no buffer on a chat store")


async def _keys(store: BaseChatStore | AsyncDBChatStore) -> list[str]:
    return await (store.get_keys() if isinstance(store, AsyncDBChatStore) else store.aget_keys())


async def _turns(store: BaseChatStore | AsyncDBChatStore, key: str) -> list[_Turn]:
    if isinstance(store, SQLAlchemyChatStore):
        return await _timed(store, key)
    if isinstance(store, AsyncDBChatStore):
        return [_Turn(m, None) for m in await store.get_messages(key, status=None)]
    return [_Turn(m, None) for m in await store.aget_messages(key)]


async def _timed(store: SQLAlchemyChatStore, key: str) -> list[_Turn]:
    # The store's own reading leaves the times out, and when something was said decides what is true now.
    sessions, table = await store._initialize()
    if not isinstance(table, Table):
        raise InvalidInputError("this version of the host keeps its messages in a way that is not known here")
    query = select(table.c.data, table.c.timestamp).where(table.c.key == key)
    async with sessions() as session:
        rows = (await session.execute(query.order_by(table.c.timestamp, table.c.id))).fetchall()
    return [_Turn(ChatMessage.model_validate(r.data), datetime.fromtimestamp(r.timestamp / 1e9, UTC)) for r in rows]


__all__ = ["ImportReport", "aimport_chat_store", "import_chat_store"]
