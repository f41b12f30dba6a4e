"""The message store of core Memory: `Memory.from_defaults(chat_store=LTMDBChatStore(...))`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus

from llamaindex_ltm._convert import to_chat_message, to_message
from llamaindex_ltm._link import Linked
from llamaindex_ltm._turns import Turns, place, stored
from llamaindex_ltm.chat_store import keys, session_of
from ltm_core.adapting import Call, Steps, adrive, served, surviving
from ltm_core.errors import InvalidInputError
from ltm_core.ids import new_uuid7
from ltm_core.types import Message, StoredMessage

_BEGINS = "conversation_begins"
"""Metadata key of a turn that was added to an empty window, or set as the first: what is before it belongs to an
earlier talk. Of several that begin a talk at the same moment the last one counts."""


class LTMDBChatStore(Linked, AsyncDBChatStore):
    """The messages of core ``Memory``, stored and learnt from when they are put, not when they are flushed.

    A key is a session id. Active messages are the session's window, archived ones those of the same talk that
    left it; a talk begins when something is added to an empty window. Deleting takes turns out of the window:
    what was learnt stays, erasing is ``memory.forget_*``. ``Memory`` takes such a store since llama-index-core
    0.14.24.
    """

    _turns: Turns = PrivateAttr(default_factory=Turns)

    def __init__(self, memory: Any = None, **options: Any) -> None:
        """On an open ``memory``, or on the one at ``location=`` (default ``./ltm-data``). ``options``: the fields."""
        super().__init__(memory, **options)

    @classmethod
    def class_name(cls) -> str:
        """The name it is known under."""
        return "LTMDBChatStore"

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        """The session's messages of that status, of both when it is None; fresh copies, in order of time."""
        found = await adrive(self._memory, self._reading(key, status))
        start = offset or 0
        return [to_chat_message(m) for m in found[start : None if limit is None else start + limit]]

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        """How many messages of that status the session has."""
        return len(await adrive(self._memory, self._reading(key, status)))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """The message is the last of the window, and what a user's message tells is learnt."""
        await adrive(self._memory, self._adding(key, [message], status))

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """The messages are the last of the window, in one transaction."""
        await adrive(self._memory, self._adding(key, messages, status))

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """The window holds exactly these; those that are stored already are not learnt again."""
        await adrive(self._memory, self._setting(key, messages, status))

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """The message at that place of the window is out of it and returned; None when there is none."""
        gone = await adrive(self._memory, self._leaving(key, idx, idx + 1)) if idx >= 0 else []
        return gone[0] if gone else None

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """The window is empty. InvalidInputError for archived messages: they are what is remembered."""
        _refuse_archived(status)
        await adrive(self._memory, self._turns.clear(session_of(self.user_id, key), strict=self.strict))

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """The first ``n`` messages of the window are out of it and returned, as `archive_oldest_messages`."""
        return await self.archive_oldest_messages(key, n)

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """The first ``n`` messages of the window are archived and returned; what came meanwhile stays."""
        return await adrive(self._memory, self._leaving(key, 0, max(0, n)))

    async def get_keys(self) -> list[str]:
        """The user's sessions that have turns in their window, the latest activity first."""
        return await adrive(self._memory, keys(served(self.user_id, None), strict=self.strict))

    # the work ------------------------------------------------------------------------------------------------
    def _reading(self, key: str, status: MessageStatus | None) -> Steps[list[StoredMessage | Message]]:
        scope = session_of(self.user_id, key)
        window = yield from self._turns.window(scope, strict=self.strict)
        if status == MessageStatus.ACTIVE:
            return window
        archived: list[StoredMessage] = []
        with surviving("reading the conversation", strict=self.strict):
            everything = yield from stored(scope, window_only=False)
            archived = _before(everything, window)
        return [*archived, *(window if status is None else ())]

    def _adding(self, key: str, messages: Sequence[ChatMessage], status: MessageStatus) -> Steps[None]:
        _refuse_archived(status)
        scope = session_of(self.user_id, key)
        given = [m for m in (to_message(m, id=new_uuid7()) for m in messages) if m is not None]
        if not given:
            return
        with surviving("reading the conversation", strict=self.strict):
            page = yield Call("messages", {**place(scope), "window_only": True, "limit": 1})
            if not page.items:
                given[0] = _beginning(given[0])
        yield from self._turns.add(scope, given, strict=self.strict)

    def _setting(self, key: str, messages: Sequence[ChatMessage], status: MessageStatus) -> Steps[None]:
        _refuse_archived(status)
        given = [m for m in map(to_message, messages) if m is not None]
        if given:
            given[0] = _beginning(given[0])
        yield from self._turns.replace(session_of(self.user_id, key), given, strict=self.strict)

    def _leaving(self, key: str, start: int, end: int) -> Steps[list[ChatMessage]]:
        scope = session_of(self.user_id, key)
        with surviving("archiving messages", strict=self.strict):
            window = yield from stored(scope, window_only=True)
            leaving = window[start:end]
            if leaving:
                yield Call("clear_window", {**place(scope), "message_ids": [m.id for m in leaving]})
            return [to_chat_message(m) for m in leaving]
        return []


def _beginning(message: Message) -> Message:
    return replace(message, metadata={**message.metadata, _BEGINS: True})


def _before(everything: Sequence[StoredMessage], window: Sequence[StoredMessage | Message]) -> list[StoredMessage]:
    """The turns of the window's talk that are before it."""
    places = {m.id: i for i, m in enumerate(everything)}
    first = next((places[m.id] for m in window if m.id in places), 0)
    begin = next((i for i in range(first, -1, -1) if everything and _BEGINS in everything[i].metadata), 0)
    return list(everything[begin:first])


def _refuse_archived(status: MessageStatus | None) -> None:
    if status == MessageStatus.ARCHIVED:
        raise InvalidInputError(
            "archived messages are what is remembered: put messages as active ones, and erase with "
            "memory.delete_messages or memory.forget_session"
        )


__all__ = ["LTMDBChatStore"]
