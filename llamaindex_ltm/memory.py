"""A drop-in memory for LlamaIndex's chat engines and agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from pathlib import Path
from typing import Any, Literal, Self

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemory

from llamaindex_ltm._convert import is_trace, role_of, to_chat_message, to_message, words_of
from llamaindex_ltm._link import Linked
from llamaindex_ltm._recall import SPOKEN, inert
from llamaindex_ltm._trim import Shown, cost, split
from llamaindex_ltm._turns import Turns, place
from ltm_core.adapting import Call, Steps, adrive, drive, labels, log, served, surviving
from ltm_core.ids import new_uuid7
from ltm_core.text.tokens import estimate_tokens
from ltm_core.types import Message, Scope, StoredMessage

_TOKEN_LIMIT = 30_000
"""Tokens of history and memory together when no limit and no model is given: the host's own default."""
_SHARE_OF_MODEL = 0.75
"""Of the model's context window, when a model is given: the host's own share."""
_PAGE = 200


def _estimated(text: str) -> Sized:
    # The host takes the length of what it gets; nobody needs the tokens themselves.
    return range(estimate_tokens(text))


class LTMMemory(Linked, BaseMemory):
    """The conversation at hand, word for word, and before it what is remembered of earlier ones.

    `get` gives one message of memories, when there are any, and the newest turns, together within
    ``token_limit``; the user's unanswered words are always among them. `put` stores and learns at once, not
    when something falls out of a buffer. `reset` empties the window of this session and `set` replaces it;
    neither forgets what was learnt: erasing is ``memory.forget_*``.

    A failing store is logged (logger "ltm") and the chat goes on with the messages held in RAM until they can
    be stored, unless ``strict=True``.
    """

    session_id: str | None = None
    """Which conversation; None takes that of the active scope, else "default"."""
    token_limit: int = Field(_TOKEN_LIMIT, ge=0)
    context_tokens: int = Field(1200, ge=0)
    """Most tokens of the memory message."""
    insert_as: Literal["system", "user"] = "system"
    """Role of the memory message. A ReActAgent without a ``system_prompt`` drops a first system message: there,
    "user"."""
    tokenizer_fn: Callable[[str], Sized] = Field(default=_estimated, exclude=True)
    """Counts tokens by the length of what it returns. The default never counts fewer than the common
    tokenizers, and needs no files."""

    _turns: Turns = PrivateAttr(default_factory=Turns)
    _told_of_react: bool = PrivateAttr(default=False)

    def __init__(self, memory: Any = None, **options: Any) -> None:
        """On an open ``memory``, or on the one at ``location=`` (default ``./ltm-data``). ``options``: the fields."""
        super().__init__(memory, **options)

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
        if tokenizer_fn is not None:
            options["tokenizer_fn"] = tokenizer_fn
        made = cls(memory, location=location, **options)
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
        shown += [self._shown(m.id or "", m) for m in self._turns.waiting(scope)]
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
                "filters": SPOKEN,
                "token_counter": lambda text: self._count(inert(text)),
            },
        )
        return inert(context.text)

    def _newest(self, scope: Scope, budget: int) -> Steps[list[Shown]]:
        """As much of the end of the window as could fit, in order, and the system messages at its head."""
        where: dict[str, Any] = {**place(scope), "window_only": True}
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
        window = yield from self._turns.window(self._scope(), strict=self.strict)
        return [to_chat_message(m) for m in window]

    def _putting(self, messages: Sequence[ChatMessage]) -> Steps[None]:
        # An id of our own makes a second try harmless, also when the first one did succeed unseen.
        given = [c for c in (to_message(m, id=new_uuid7()) for m in messages) if c is not None]
        if self.insert_as == "system" and not self._told_of_react and any(map(is_trace, messages)):
            self._told_of_react = True
            log.warning(
                "a ReActAgent without a system_prompt drops the system message that holds the memories: "
                'give the agent one, or the memory insert_as="user"'
            )
        yield from self._turns.add(self._scope(), given, strict=self.strict)

    def _setting(self, messages: Sequence[ChatMessage]) -> Steps[None]:
        given = [c for c in map(to_message, messages) if c is not None]
        yield from self._turns.replace(self._scope(), given, strict=self.strict)

    def _resetting(self) -> Steps[None]:
        yield from self._turns.clear(self._scope(), strict=self.strict)

    # helpers -------------------------------------------------------------------------------------------------
    def _scope(self) -> Scope:
        return served(self.user_id, self.session_id)

    def _count(self, text: str) -> int:
        return len(self.tokenizer_fn(text))

    def _shown(self, id: str, stored: StoredMessage | Message) -> Shown:
        message = to_chat_message(stored)
        return Shown(id, message, cost(message, self._count))


__all__ = ["LTMMemory"]
