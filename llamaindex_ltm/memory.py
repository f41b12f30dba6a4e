"""A drop-in memory for LlamaIndex's chat engines and agents."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence, Sized
from pathlib import Path
from typing import Any, Literal, Self

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemory

from llamaindex_ltm._convert import role_of, to_chat_message, to_message, words_of
from llamaindex_ltm._trim import Shown, cost, split
from ltm_core.adapting import Call, Steps, adrive, checked_id, drive, labels, served, surviving
from ltm_core.errors import ConfigError, InvalidScopeError, StoreError
from ltm_core.handles import find, name_of
from ltm_core.ids import new_uuid7
from ltm_core.text.tokens import estimate_tokens
from ltm_core.types import Message, Scope, StoredMessage

_LOCATION = "./ltm-data"
_TOKEN_LIMIT = 30_000
"""Tokens of history and memory together when no limit and no model is given: the host's own default."""
_SHARE_OF_MODEL = 0.75
"""Of the model's context window, when a model is given: the host's own share."""
_PAGE = 200
_MOST_UNSAVED = 100
"""Messages kept in RAM while the store cannot be written; the oldest go first."""
_VARIABLE = re.compile(r"\{([A-Za-z_][\w.]*)\}")
_SPOKEN = {"role": {"$in": ["user", "assistant"]}, "tool_calls": {"$exists": False}}
"""What may be recalled from other conversations: no tool calls, no tool results."""


def _estimated(text: str) -> Sized:
    # The host takes the length of what it gets; nobody needs the tokens themselves.
    return range(estimate_tokens(text))


class LTMMemory(BaseMemory):
    """The conversation at hand, word for word, and before it what is remembered of earlier ones.

    `get` gives one message of memories, when there are any, and the newest turns, together within
    ``token_limit``; the user's unanswered words are always among them. `put` stores and learns at once, not
    when something falls out of a buffer. `reset` empties the window of this session and `set` replaces it;
    neither forgets what was learnt: erasing is ``memory.forget_*``.

    A failing store is logged (logger "ltm") and the chat goes on with the messages held in RAM until they can
    be stored, unless ``strict=True``.
    """

    model_config = ConfigDict(extra="forbid")

    location: str = _LOCATION
    """Where the memory is; `from_dict` and unpickling connect to it again. Holds no password."""
    user_id: str | None = None
    """Whose memory; None serves the user of the active ``ltm_core.scope(...)``."""
    session_id: str | None = None
    """Which conversation; None takes that of the active scope, else "default"."""
    token_limit: int = Field(_TOKEN_LIMIT, ge=0)
    context_tokens: int = Field(1200, ge=0)
    """Most tokens of the memory message."""
    insert_as: Literal["system", "user"] = "system"
    strict: bool = False
    """True raises what goes wrong with the store instead of logging it."""
    tokenizer_fn: Callable[[str], Sized] = Field(default=_estimated, exclude=True)
    """Counts tokens by the length of what it returns. The default never counts fewer than the common
    tokenizers, and needs no files."""

    _memory: Any = PrivateAttr(default=None)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)
    _unsaved: dict[Scope, list[Message]] = PrivateAttr(default_factory=dict)

    def __init__(self, memory: Any = None, **data: Any) -> None:
        for name in ("user_id", "session_id"):
            # Before pydantic, which would turn the error into its own.
            if name in data:
                data[name] = checked_id(data[name], name)
        if memory is not None:
            if not callable(getattr(memory, "observe", None)):
                raise ConfigError(f"memory must be a LongTermMemory, not {type(memory).__name__}")
            data["location"] = name_of(memory)
        super().__init__(**data)
        self._memory = find(self.location) if memory is None else memory
        self.location = name_of(self._memory)

    @classmethod
    def class_name(cls) -> str:
        """The name it is serialised under."""
        return "LTMMemory"

    @classmethod
    def from_defaults(  # type: ignore[override]
        cls,
        memory: Any = None,
        *,
        location: str | Path | None = None,
        user_id: str | int | None = None,
        session_id: str | int | None = None,
        chat_history: Sequence[ChatMessage] | None = None,
        llm: LLM | None = None,
        token_limit: int | None = None,
        tokenizer_fn: Callable[[str], Sized] | None = None,
        context_tokens: int = 1200,
        insert_as: Literal["system", "user"] = "system",
        strict: bool = False,
    ) -> Self:
        """A memory on an open ``memory``, or on the one at ``location`` (default ``./ltm-data``), which is
        opened when this process has not opened it.

        ``llm`` is only asked for its context window. A ``chat_history`` that is not empty becomes the window
        of the session; an empty one changes nothing.
        """
        if memory is not None and location is not None:
            raise ConfigError("give either an open memory or a location, not both")
        if token_limit is None:
            token_limit = _TOKEN_LIMIT if llm is None else int(llm.metadata.context_window * _SHARE_OF_MODEL)
        options: dict[str, Any] = {
            "user_id": user_id,
            "session_id": session_id,
            "token_limit": token_limit,
            "context_tokens": context_tokens,
            "insert_as": insert_as,
            "strict": strict,
        }
        if location is not None:
            options["location"] = str(location)
        if tokenizer_fn is not None:
            options["tokenizer_fn"] = tokenizer_fn
        made = cls(memory, **options)
        if chat_history:
            made.set(list(chat_history))
        return made

    # the host's methods, and their async forms -----------------------------------------------------------
    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Memories that fit ``input`` (else the last words of the user), then the newest turns; all fresh
        copies. ``initial_token_count`` is what the host's own prompt takes of ``token_limit``. Reading stores
        nothing."""
        return drive(self._memory, self._getting(input, **kwargs))

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Async form of `get`; the loop is not blocked."""
        return await adrive(self._memory, self._getting(input, **kwargs))

    def get_all(self) -> list[ChatMessage]:
        """The whole window of the session, without memories."""
        return drive(self._memory, self._getting_all())

    async def aget_all(self) -> list[ChatMessage]:
        """Async form of `get_all`."""
        return await adrive(self._memory, self._getting_all())

    def put(self, message: ChatMessage) -> None:
        """The message is stored, and what a user's message tells is learnt."""
        drive(self._memory, self._putting([message]))

    async def aput(self, message: ChatMessage) -> None:
        """Async form of `put`."""
        await adrive(self._memory, self._putting([message]))

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """All of them are stored, in one transaction."""
        drive(self._memory, self._putting(messages))

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Async form of `put_messages`."""
        await adrive(self._memory, self._putting(messages))

    def set(self, messages: list[ChatMessage]) -> None:
        """The window holds exactly these; those that are stored already are not learnt again."""
        drive(self._memory, self._setting(messages))

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Async form of `set`."""
        await adrive(self._memory, self._setting(messages))

    def reset(self) -> None:
        """The window of this session is empty; what was learnt stays."""
        drive(self._memory, self._resetting())

    async def areset(self) -> None:
        """Async form of `reset`."""
        await adrive(self._memory, self._resetting())

    # the work, once for both -------------------------------------------------------------------------------
    def _getting(self, input: Any = None, initial_token_count: int = 0, **_: Any) -> Steps[list[ChatMessage]]:
        scope = self._scope()
        budget = max(0, self.token_limit - initial_token_count)
        shown: list[Shown] = []
        with surviving("reading the conversation", strict=self.strict):
            shown = yield from self._newest(scope, budget)
        shown += [self._shown(m.id or "", m) for m in self._waiting(scope)]
        window = split(shown)
        said = (words_of(m.message).strip() for m in reversed(shown) if role_of(m.message) == "user")
        query = words_of(input).strip() or next((w for w in said if w), "")
        left = max(0, budget - window.fixed)
        # Memories may always claim half of what is left, more when the turns need less.
        room = min(self.context_tokens, max(left - window.flexible, left // 2))
        kept = window.within(left - room)
        recalled = ""
        if query and room:
            with surviving("recall", strict=self.strict):
                recalled = yield from self._recalling(scope, query, room, [m.id for m in kept])
        if not recalled:
            return [m.message for m in window.within(left)]
        first = ChatMessage(role=MessageRole(self.insert_as), content=recalled)
        return [first, *(m.message for m in kept)]

    def _recalling(self, scope: Scope, query: str, room: int, shown: Sequence[str]) -> Steps[str]:
        context = yield Call(
            "context",
            {
                **labels(scope),
                "query": query,
                "max_tokens": room,
                "tiers": ("semantic", "episodic"),
                "exclude_message_ids": tuple(i for i in shown if i),
                "filters": _SPOKEN,
                "token_counter": lambda text: self._count(_inert(text)),
            },
        )
        return _inert(context.text)

    def _newest(self, scope: Scope, budget: int) -> Steps[list[Shown]]:
        """As much of the end of the window as could fit, in order, and the system messages at its head."""
        where: dict[str, Any] = {**_place(scope), "window_only": True}
        found: list[Shown] = []
        cursor: str | None = None
        while True:
            page = yield Call("messages", {**where, "newest_first": True, "limit": _PAGE, "cursor": cursor})
            found += [self._shown(m.id, m) for m in page.items]
            cursor = page.next_cursor
            if cursor is None:
                return found[::-1]
            if sum(m.tokens for m in found) > budget:
                break
        head = yield Call("messages", {**where, "limit": 1})
        first = [self._shown(m.id, m) for m in head.items if m.role == "system"]
        return [*first, *found[::-1]]

    def _getting_all(self) -> Steps[list[ChatMessage]]:
        scope = self._scope()
        found: list[StoredMessage | Message] = []
        with surviving("reading the conversation", strict=self.strict):
            cursor: str | None = None
            while True:
                page = yield Call("messages", {**_place(scope), "window_only": True, "limit": 1000, "cursor": cursor})
                found += page.items
                cursor = page.next_cursor
                if cursor is None:
                    break
        return [to_chat_message(m) for m in (*found, *self._waiting(scope))]

    def _putting(self, messages: Sequence[ChatMessage]) -> Steps[None]:
        scope = self._scope()
        # An id of our own makes a second try harmless, also when the first one did succeed unseen.
        given = [c for c in (to_message(m, id=new_uuid7()) for m in messages) if c is not None]
        with self._lock:
            batch = [*self._unsaved.pop(scope, ()), *given]
        if not batch:
            return
        try:
            yield Call("observe", {**labels(scope), "messages": batch})
        except InvalidScopeError:
            raise
        except Exception as e:
            self._keep(scope, batch if isinstance(e, StoreError) else given)
            with surviving("storing a message", strict=self.strict):
                raise

    def _setting(self, messages: Sequence[ChatMessage]) -> Steps[None]:
        scope = self._scope()
        given = [c for c in map(to_message, messages) if c is not None]
        with self._lock:
            self._unsaved.pop(scope, None)
        with surviving("replacing the conversation", strict=self.strict):
            if given:
                yield Call("replace_messages", {**_place(scope), "messages": given})
            else:
                yield Call("clear_window", _place(scope))

    def _resetting(self) -> Steps[None]:
        scope = self._scope()
        with self._lock:
            self._unsaved.pop(scope, None)
        with surviving("clearing the conversation", strict=self.strict):
            yield Call("clear_window", _place(scope))

    # helpers -------------------------------------------------------------------------------------------------
    def _scope(self) -> Scope:
        return served(self.user_id, self.session_id)

    def _count(self, text: str) -> int:
        return len(self.tokenizer_fn(text))

    def _shown(self, id: str, stored: StoredMessage | Message) -> Shown:
        message = to_chat_message(stored)
        return Shown(id, message, cost(message, self._count))

    def _waiting(self, scope: Scope) -> list[Message]:
        with self._lock:
            return list(self._unsaved.get(scope, ()))

    def _keep(self, scope: Scope, messages: Sequence[Message]) -> None:
        with self._lock:
            self._unsaved[scope] = [*self._unsaved.get(scope, ()), *messages][-_MOST_UNSAVED:]

    # copies ----------------------------------------------------------------------------------------------------
    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields if name != "location"}

    def __copy__(self) -> Self:
        return type(self)(self._memory, **self._options())

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), {**self._options(), "location": self.location})


def _restored(cls: type[LTMMemory], options: dict[str, Any]) -> LTMMemory:
    return cls(**options)


def _place(scope: Scope) -> dict[str, Any]:
    return {"user_id": scope.user_id, "session_id": scope.session_id}


def _inert(text: str) -> str:
    """The text with no template variable: some engines put the history through a prompt template."""
    return _VARIABLE.sub(r"{ \1 }", text)


__all__ = ["LTMMemory"]
