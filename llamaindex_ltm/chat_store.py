"""Chat stores for memories of the host that keep their messages in one, such as ChatMemoryBuffer."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.storage.chat_store.base import BaseChatStore

from llamaindex_ltm._convert import to_chat_message, to_message
from llamaindex_ltm._link import Linked
from llamaindex_ltm._turns import Turns, place, stored
from ltm_core.adapting import Call, Steps, adrive, drive, served, surviving
from ltm_core.ids import new_uuid7
from ltm_core.scoping import LONGEST_ID, identifier
from ltm_core.types import Scope, StoredMessage


class LTMChatStore(Linked, BaseChatStore):
    """The conversations of one user, or of the user of the active ``ltm_core.scope(...)``; a key is a session id.

    What is added is stored and learnt from at once. Every ``delete`` takes turns out of the session's window,
    as ``reset`` of the host's memories does with the whole of it; what was learnt stays, erasing is
    ``memory.forget_*``. Messages that come back are fresh copies. It recalls nothing: put an `LTMMemoryBlock`
    or an `LTMNodePostprocessor` beside it, or use `LTMMemory`, which does both.
    """

    _turns: Turns = PrivateAttr(default_factory=Turns)

    def __init__(self, memory: Any = None, **options: Any) -> None:
        """On an open ``memory``, or on the one at ``location=`` (default ``./ltm-data``). ``options``: the fields."""
        super().__init__(memory, **options)

    @classmethod
    def class_name(cls) -> str:
        """The name it is serialised under."""
        return "LTMChatStore"

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """The session's window holds exactly these; those that are stored already are not learnt again."""
        drive(self._memory, self._setting(key, messages))

    async def aset_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Async form of `set_messages`."""
        await adrive(self._memory, self._setting(key, messages))

    def get_messages(self, key: str, **_: Any) -> list[ChatMessage]:
        """The session's window. Keywords that the host's memories pass on are ignored."""
        return drive(self._memory, self._getting(key))

    async def aget_messages(self, key: str, **_: Any) -> list[ChatMessage]:
        """Async form of `get_messages`."""
        return await adrive(self._memory, self._getting(key))

    def add_message(self, key: str, message: ChatMessage, idx: int | None = None) -> None:
        """The message is the last of the session's window. ``idx`` is not supported: turns have their time."""
        drive(self._memory, self._adding(key, message, idx))

    async def async_add_message(self, key: str, message: ChatMessage, idx: int | None = None) -> None:
        """Async form of `add_message`."""
        await adrive(self._memory, self._adding(key, message, idx))

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        """The session's window is empty; returns what was in it, None when it was empty already."""
        return drive(self._memory, self._clearing(key))

    async def adelete_messages(self, key: str) -> list[ChatMessage] | None:
        """Async form of `delete_messages`."""
        return await adrive(self._memory, self._clearing(key))

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """The message at that place is out of the window and returned; None when there is no such place."""
        return drive(self._memory, self._removing(key, idx))

    async def adelete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Async form of `delete_message`."""
        return await adrive(self._memory, self._removing(key, idx))

    def delete_last_message(self, key: str) -> ChatMessage | None:
        """The last message is out of the window and returned; None when it is empty."""
        return drive(self._memory, self._removing(key, -1))

    async def adelete_last_message(self, key: str) -> ChatMessage | None:
        """Async form of `delete_last_message`."""
        return await adrive(self._memory, self._removing(key, -1))

    def get_keys(self) -> list[str]:
        """The user's sessions that have turns in their window, the latest activity first."""
        return drive(self._memory, keys(served(self.user_id, None), strict=self.strict))

    async def aget_keys(self) -> list[str]:
        """Async form of `get_keys`."""
        return await adrive(self._memory, keys(served(self.user_id, None), strict=self.strict))

    # the work, once for both -------------------------------------------------------------------------------
    def _setting(self, key: str, messages: list[ChatMessage]) -> Steps[None]:
        given = [m for m in map(to_message, messages) if m is not None]
        yield from self._turns.replace(session_of(self.user_id, key), given, strict=self.strict)

    def _getting(self, key: str) -> Steps[list[ChatMessage]]:
        window = yield from self._turns.window(session_of(self.user_id, key), strict=self.strict)
        return [to_chat_message(m) for m in window]

    def _adding(self, key: str, message: ChatMessage, idx: int | None) -> Steps[None]:
        if idx is not None:
            raise NotImplementedError("LTMChatStore adds at the end only: turns are ordered by their time")
        given = to_message(message, id=new_uuid7())
        if given is not None:
            yield from self._turns.add(session_of(self.user_id, key), [given], strict=self.strict)

    def _clearing(self, key: str) -> Steps[list[ChatMessage] | None]:
        scope = session_of(self.user_id, key)
        window = yield from self._turns.window(scope, strict=self.strict)
        yield from self._turns.clear(scope, strict=self.strict)
        return [to_chat_message(m) for m in window] or None

    def _removing(self, key: str, idx: int) -> Steps[ChatMessage | None]:
        scope = session_of(self.user_id, key)
        with surviving("removing a message", strict=self.strict):
            window: list[StoredMessage] = yield from stored(scope, window_only=True)
            if not -len(window) <= idx < len(window):
                return None
            removed = window[idx]
            yield Call("clear_window", {**place(scope), "message_ids": [removed.id]})
            return to_chat_message(removed)
        return None


def session_of(user_id: str | None, key: str) -> Scope:
    """The session that a key names; InvalidScopeError for a blank one."""
    return served(user_id, identifier(key, "key", limit=LONGEST_ID))


def keys(scope: Scope, *, strict: bool) -> Steps[list[str]]:
    """The sessions of the scope's user that have turns in their window, the latest activity first."""
    found: list[str] = []
    with surviving("listing the conversations", strict=strict):
        cursor: str | None = None
        while True:
            page = yield Call("sessions", {"user_id": scope.user_id, "limit": 1000, "cursor": cursor})
            for session in page.items:
                where = {"user_id": scope.user_id, "session_id": session.id}
                turns = yield Call("messages", {**where, "window_only": True, "limit": 1})
                found += [session.id] if turns.items else []
            cursor = page.next_cursor
            if cursor is None:
                break
    return found


__all__ = ["LTMChatStore", "keys", "session_of"]
