"""A conversation's messages for RunnableWithMessageHistory."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage
from langchain_core.runnables import ConfigurableFieldSpec

from langchain_ltm._convert import from_messages, to_messages, words_of
from langchain_ltm._pending import Pending, runner
from ltm_core.adapting import Call, Steps, adrive, checked_id, drive, labels, served, surviving
from ltm_core.errors import ConfigError, InvalidInputError
from ltm_core.ids import new_uuid7
from ltm_core.types import Message, Scope

_PAGE = 1000
_WINDOW_TURNS = 12
"""Turns shown when the memory is a remote one that does not tell its configuration."""


class LTMChatMessageHistory(BaseChatMessageHistory):
    """The last turns of one session, as LangChain's messages. Making one reads and writes nothing.

    ``messages`` holds the working window: the last ``window_turns`` turns (default: ``Config.window_turns``),
    beginning with a message of the user. Tool calls and their results are stored, and not shown without each
    other's arguments. ``add_messages`` appends in one transaction; a list that repeats the conversation adds only
    its new end, streamed chunks become whole messages, the same id is stored once. ``clear`` empties the window;
    erasing is ``memory.forget_*``.

    `observe` (used by `ltm_recall`) stores the user's words before the model is asked; the ``add_messages`` that
    follows then adds the answer to that very turn. What fails is logged and the chat goes on, unless
    ``strict=True``.
    """

    def __init__(
        self,
        memory: Any,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        window_turns: int | None = None,
        strict: bool = False,
        _pending: Pending | None = None,
    ) -> None:
        _check(memory, window_turns)
        self.memory = memory
        scope = served(checked_id(user_id, "user_id"), checked_id(session_id, "session_id"))
        self.scope: Scope = replace(scope, agent_id=checked_id(agent_id, "agent_id") or scope.agent_id)
        self.window_turns = window_turns
        self.strict = strict
        self.shown_ids: tuple[str, ...] = ()
        """Ids of the turns that were read last: the host shows them."""
        self._pending = Pending() if _pending is None else _pending
        # A run's steps may be in several threads: the run is known by who made its history, and when.
        self._who, self._made = runner(), self._pending.now()
        self._asked: tuple[str, str] | None = None

    # the methods of the host, and their async forms ----------------------------------------------------
    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the host reads it, and calls add_messages
        """The window, oldest first."""
        return drive(self.memory, self._reading())

    async def aget_messages(self) -> list[BaseMessage]:
        """Async form of `messages`; the loop is not blocked."""
        return await adrive(self.memory, self._reading())

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """The turns are stored, in order; those that are stored already are not stored again."""
        drive(self.memory, self._adding(messages))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Async form of `add_messages`; the loop is not blocked."""
        await adrive(self.memory, self._adding(messages))

    def clear(self) -> None:
        """The window of this session is empty. Facts and episodes stay: forgetting is ``memory.forget_*``."""
        drive(self.memory, self._clearing())

    async def aclear(self) -> None:
        """Async form of `clear`."""
        await adrive(self.memory, self._clearing())

    def observe(self, value: Any) -> None:
        """The user's words, a message or a whole conversation, are stored before they are answered."""
        drive(self.memory, self.observing(value))

    async def aobserve(self, value: Any) -> None:
        """Async form of `observe`; the loop is not blocked."""
        await adrive(self.memory, self.observing(value))

    # the work, once for both ---------------------------------------------------------------------------
    def observing(self, value: Any) -> Steps[tuple[str, ...]]:
        """The steps of `observe`; returns the ids of the turns that the value holds."""
        with surviving("storing the user's words", strict=self.strict):
            turns = spoken(value)
            if not turns or turns[-1].role != "user":
                return ()
            words = turns[-1].content
            if len(turns) == 1:
                turns = [replace(turns[0], id=turns[0].id or self._again(words) or new_uuid7())]
            else:
                turns = _without_ids(turns)
            seen = yield Call("observe", {**labels(self.scope), "messages": turns})
            ids = tuple(s.id for s in seen.messages)
            if ids:
                self._asked = words, ids[-1]
                self._pending.add(self._who, self.scope, words, ids[-1])
            return ids
        return ()

    def _again(self, words: str) -> str | None:
        """The id of the same turn, when it is tried once more: in this run, or by who failed with it before."""
        if self._asked is not None and self._asked[0] == words:
            return self._asked[1]
        return self._pending.again(self._who, self.scope, words, before=self._made)

    def _answered(self, words: str | None) -> str | None:
        """The id of the turn with these words (None: of whatever was asked last) that waits for its answer."""
        mine = self._asked if self._asked is not None and words in (None, self._asked[0]) else None
        words = mine[0] if mine is not None else words
        other = None if words is None else self._pending.take(self._who, self.scope, words)
        return mine[1] if mine is not None else other

    def _adding(self, messages: Sequence[BaseMessage]) -> Steps[None]:
        with surviving("storing the turn", strict=self.strict):
            turns = [m for m in to_messages(messages) if m.role != "system"]
            said = [i for i, m in enumerate(turns) if m.role == "user"]
            asked = self._answered(turns[said[-1]].content if said else None)
            if not turns:
                return
            if len(turns) == 1 and turns[0].role == "assistant":
                # The answer alone: the host cut off what it was told was stored.
                alone = {"assistant": turns[0].content, "message_id": turns[0].id, "reply_to": asked}
                yield Call("observe", {**labels(self.scope), **{k: v for k, v in alone.items() if v is not None}})
                self._asked = None
                return
            if len(said) == 1 and said[0] == 0:
                turns = [replace(m, id=m.id or new_uuid7()) for m in turns]
                turns[0] = replace(turns[0], id=asked or turns[0].id)
            else:
                # A conversation: the store keeps its new end, found by place and words.
                turns = _without_ids(turns)
            seen = yield Call("observe", {**labels(self.scope), "messages": turns})
            open_end = turns[-1].role == "user" and seen.messages
            self._asked = (turns[-1].content, seen.messages[-1].id) if open_end else None

    def _reading(self) -> Steps[list[BaseMessage]]:
        with surviving("reading the conversation", strict=self.strict):
            config = getattr(self.memory, "config", None)
            turns = self.window_turns or getattr(config, "window_turns", None) or _WINDOW_TURNS
            where = {"user_id": self.scope.user_id, "session_id": self.scope.session_id}
            options = {**where, "window_only": True, "newest_first": True, "limit": min(_PAGE, turns * 4)}
            page = yield Call("messages", options)
            rows = list(page.items)
            while page.next_cursor and sum(m.role == "user" for m in rows) < turns:
                page = yield Call("messages", {**options, "cursor": page.next_cursor})
                rows += page.items
            rows.reverse()
            starts = [i for i, m in enumerate(rows) if m.role == "user"]
            rows = rows[starts[-turns] if len(starts) >= turns else 0 :]
            self.shown_ids = tuple(m.id for m in rows)
            return from_messages([Message(role=m.role, content=m.content, id=m.id, name=m.name) for m in rows])
        return []

    def _clearing(self) -> Steps[None]:
        self._pending.drop(self.scope)
        self._asked = None
        yield Call("clear_window", {"user_id": self.scope.user_id, "session_id": self.scope.session_id})


class LTMHistoryFactory:
    """What ``RunnableWithMessageHistory`` calls for each run; see `ltm_history_factory`."""

    def __init__(self, memory: Any, user_id: str | None, options: Mapping[str, Any]) -> None:
        self._memory, self._user_id, self._options = memory, user_id, dict(options)
        self._pending = Pending()
        names = ["session_id"] if user_id is not None else ["user_id", "session_id"]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        # The host looks at the names of the parameters: they must be those of the fields.
        self.__signature__ = inspect.Signature([inspect.Parameter(n, kind, annotation=str) for n in names])
        _check(memory, options.get("window_turns"))

    @property
    def fields(self) -> list[ConfigurableFieldSpec]:
        """For ``history_factory_config``: the keys that a call's ``configurable`` must hold."""
        about = {"user_id": ("User ID", "Whose memory."), "session_id": ("Session ID", "Which conversation.")}
        return [
            ConfigurableFieldSpec(id=n, annotation=str, name=about[n][0], description=about[n][1], is_shared=True)
            for n in self.__signature__.parameters
        ]

    def __call__(self, *args: Any, **kwargs: Any) -> LTMChatMessageHistory:
        ids = self.__signature__.bind(*args, **kwargs).arguments
        for name, value in ids.items():
            if checked_id(value, name) is None:
                raise InvalidInputError(f"{name} is missing: give it in config={{'configurable': {{...}}}}")
        who = {"user_id": self._user_id, **ids}
        return LTMChatMessageHistory(self._memory, **self._options, **who, _pending=self._pending)


def ltm_history_factory(
    memory: Any,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    window_turns: int | None = None,
    strict: bool = False,
) -> LTMHistoryFactory:
    """The ``get_session_history`` of RunnableWithMessageHistory; calling it reads and writes nothing.

    With ``user_id`` it takes ``session_id``. Without, it takes ``user_id`` and ``session_id`` from
    ``configurable``: pass its ``fields`` as ``history_factory_config``. Missing or blank ids raise.
    """
    options = {"agent_id": agent_id, "window_turns": window_turns, "strict": strict}
    return LTMHistoryFactory(memory, checked_id(user_id, "user_id"), options)


def _check(memory: Any, window_turns: int | None) -> None:
    for method in ("observe", "messages"):
        if not callable(getattr(memory, method, None)):
            raise ConfigError(f"memory must be a LongTermMemory, not {type(memory).__name__}")
    if window_turns is not None and window_turns < 1:
        raise ConfigError(f"window_turns must be at least 1, not {window_turns}")


def spoken(value: Any) -> list[Message]:
    """The turns in a chain's value: a conversation's, one message's, or the words as the user's."""
    if isinstance(value, BaseMessage):
        value = [value]
    if isinstance(value, Sequence) and value and all(isinstance(m, BaseMessage) for m in value):
        return [m for m in to_messages(value) if m.role != "system"]
    words = words_of(value)
    return [Message(role="user", content=words)] if words.strip() else []


def _without_ids(turns: Sequence[Message]) -> list[Message]:
    return [replace(m, id=None) for m in turns]


__all__ = ["LTMChatMessageHistory", "LTMHistoryFactory", "ltm_history_factory", "spoken"]
