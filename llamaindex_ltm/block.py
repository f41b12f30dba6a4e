"""A long-term memory block for the host's own Memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock, Memory

from llamaindex_ltm._convert import role_of, to_message, words_of
from llamaindex_ltm._link import Linked
from llamaindex_ltm._recall import SPOKEN, inert
from llamaindex_ltm._turns import Turns, stored
from ltm_core.adapting import Call, Steps, adrive, labels, served, surviving
from ltm_core.text.tokens import estimate_tokens
from ltm_core.types import Message, Observation, Scope

_SESSION = "session_id"


class LTMMemoryBlock(Linked, BaseMemoryBlock[str]):
    """What is remembered of the user, in core ``Memory``; one block may serve many memories, sessions and users.

    The host gives a block messages only when its own queue overflows, which a short session never does. So the
    block learns when it is *asked*: each ``Memory.get`` shows it the conversation, and what of it is not stored
    yet is stored and learnt from, before the model answers. Nothing has to be done for the user's words. The
    last answer of a session is seen by the next ``get`` only: `alearn` it, or let ``Memory`` write to an
    `LTMDBChatStore` and set ``learns=False`` here.

    A failing store is logged and the chat goes on; flushed messages wait in RAM until they can be stored.
    """

    name: str = "long_term_memory"
    priority: int = 1
    """1 shortens the memories when the host's token limit is reached; 0 never does."""
    context_tokens: int = Field(1200, ge=0)
    """Most tokens of the memories."""
    learns: bool = True
    """False only recalls."""

    _turns: Turns = PrivateAttr(default_factory=Turns)

    def __init__(self, memory: Any = None, **options: Any) -> None:
        """On an open ``memory``, or on the one at ``location=`` (default ``./ltm-data``). ``options``: the fields."""
        super().__init__(memory, **options)

    async def alearn(self, memory: Memory) -> None:
        """What the memory's conversation holds beyond what was seen is stored and learnt from."""
        given = await memory.sql_store.get_messages(memory.session_id)
        await adrive(self._memory, self._learning(self._scope(memory.session_id), given))

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        scope = self._scope(block_kwargs.get(_SESSION))
        return await adrive(self._memory, self._answering(scope, _without_echo(messages or [])))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        if messages:
            # The host writes the session into the messages themselves.
            session = messages[0].additional_kwargs.get(_SESSION)
            await adrive(self._memory, self._learning(self._scope(session), messages, flushed=True))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The content without its last memories, at least so many tokens shorter; None when none is left."""
        lines = content.split("\n") if content else []
        while lines and tokens_to_truncate > 0:
            at = next((i for i in range(len(lines) - 1, -1, -1) if lines[i].startswith("- ")), None)
            if at is None:
                return None
            # What is behind the last memory is the end of the fence; further lines of a memory are indented.
            end = next((i for i in range(at + 1, len(lines)) if not lines[i].startswith("  ")), len(lines))
            tokens_to_truncate -= estimate_tokens("\n".join(lines[at:end]))
            del lines[at:end]
        return "\n".join(lines) if any(line.startswith("- ") for line in lines) else None

    # the work ------------------------------------------------------------------------------------------------
    def _scope(self, session_id: Any) -> Scope:
        return served(self.user_id, None if session_id is None else str(session_id))

    def _answering(self, scope: Scope, messages: Sequence[ChatMessage]) -> Steps[str]:
        seen = yield from self._learning(scope, messages)
        query = next((w for m in reversed(messages) if role_of(m) == "user" and (w := words_of(m).strip())), "")
        if not query or not self.context_tokens:
            return ""
        with surviving("recall", strict=self.strict):
            context = yield Call(
                "context",
                {
                    **labels(scope),
                    "query": query,
                    "max_tokens": self.context_tokens,
                    "tiers": ("semantic", "episodic"),
                    "exclude_message_ids": tuple(m.id for m in seen.messages),
                    "filters": SPOKEN,
                    "token_counter": lambda text: estimate_tokens(inert(text)),
                },
            )
            return inert(context.text)
        return ""

    def _learning(
        self, scope: Scope, messages: Sequence[ChatMessage], *, flushed: bool = False
    ) -> Steps[Observation]:
        given = [m for m in map(_ours, messages) if m is not None]
        if not given or not self.learns:
            return Observation()
        if flushed:
            # As a rule they were seen by an earlier get. The host shows them for the last time: what the store
            # cannot take now must wait for it.
            if not (yield from self._known(scope, given)):
                yield from self._turns.add(scope, given, strict=self.strict)
            return Observation()
        # These are shown again by the next get, so nothing has to wait; what waits was said before them.
        if self._turns.waiting(scope):
            yield from self._turns.add(scope, (), strict=self.strict)
        seen: Observation = Observation()
        with surviving("storing the conversation", strict=self.strict):
            seen = yield Call("observe", {**labels(scope), "messages": given})
        return seen

    def _known(self, scope: Scope, given: Sequence[Message]) -> Steps[bool]:
        """Whether the session holds all of these, in this order."""
        with surviving("reading the conversation", strict=self.strict):
            found = iter((yield from stored(scope, window_only=False)))
            return all(any((m.role, m.content) == (s.role, s.content) for s in found) for m in given)
        return False


def _ours(message: ChatMessage) -> Message | None:
    kwargs = {k: v for k, v in message.additional_kwargs.items() if k != _SESSION}
    return to_message(ChatMessage(role=message.role, blocks=list(message.blocks), additional_kwargs=kwargs))


def _without_echo(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages without a last one that repeats the one before: agents ask with words they have put already."""
    if len(messages) > 1:
        last, before = messages[-1], messages[-2]
        if role_of(last) == role_of(before) == "user" and words_of(last) == words_of(before):
            return list(messages[:-1])
    return list(messages)


__all__ = ["LTMMemoryBlock"]
