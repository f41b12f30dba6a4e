"""Long-term memory for agents of ``langchain.agents.create_agent``."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import ensure_config
from langchain_core.tools import BaseTool

from langchain_ltm._convert import to_messages
from langchain_ltm._identity import serving
from langchain_ltm._turns import answer_id, exchanges, last_said, waiting
from ltm_core.adapting import Call, Steps, adrive, checked_id, drive, labels, surviving
from ltm_core.errors import ConfigError
from ltm_core.types import Context, Message, Scope, Tier
from ltm_core.write.incoming.redact import redact

_CHECKPOINTER = "__pregel_checkpointer"
"""Where LangGraph tells its nodes what keeps the thread."""
_MOST_SHOWN = 64
"""Turns whose rendering is kept, so that the calls of one tool loop see the same bytes."""


class LTMMiddleware(AgentMiddleware[AgentState[Any], Any]):
    """What the user says is stored when it comes; what fits is in the system message of each model call; the
    answer is stored as the reply.

    ``before_agent`` stores the user's new messages, so they survive a failing model. ``wrap_model_call`` recalls
    and adds the memories to the request alone: they are in no state, checkpoint or stream of the agent. (Traces and
    callbacks of the model call show them.) ``after_agent`` stores the final answer with the names of the tools it
    rests on; what tools returned is not stored and never becomes a fact.

    **Nothing is written twice.** With a checkpointer, turns are known by the ids of their messages: resuming,
    going back, asking for another answer or editing a message changes the stored turn. Without one the host sends
    the conversation anew each time, with new ids; then turns are known by their place in the conversation.
    ``stable_ids`` says which it is where the guess (whether there is a checkpointer) is wrong.

    **Who.** ``user_id``, or ``user_id`` of the runtime context, the server's authenticated user, ``user_id`` of
    ``configurable``, the active ``ltm_core.scope(...)``; none raises InvalidScopeError, and so do two that
    differ. The session is ``session_id`` of the same places, else the thread.

    ``redact_pii=True`` masks phone and card numbers, e-mail addresses and the like before anything is stored; a
    function does it your way. ``tools`` are registered with the agent (see `ltm_tools`). Several instances in one
    agent need different names. A failing store is logged and the agent answers without memory, unless
    ``strict=True``.
    """

    def __init__(
        self,
        memory: Any,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        max_tokens: int = 1200,
        tiers: Sequence[Tier] = ("semantic", "episodic"),
        redact_pii: bool | Callable[[str], str] = False,
        me: str | None = None,
        tools: Sequence[BaseTool] = (),
        stable_ids: bool | None = None,
        name: str | None = None,
        strict: bool = False,
    ) -> None:
        super().__init__()
        for method in ("observe", "context"):
            if not callable(getattr(memory, method, None)):
                raise ConfigError(f"memory must be a LongTermMemory, not {type(memory).__name__}")
        self.memory = memory
        self.user_id = checked_id(user_id, "user_id")
        self.session_id = checked_id(session_id, "session_id")
        self.agent_id = checked_id(agent_id, "agent_id")
        self.max_tokens = max_tokens
        self.tiers = tuple(tiers)
        self.me = me
        self.tools = list(tools)
        self.stable_ids = stable_ids
        self.strict = strict
        self._name = name or type(self).__name__
        self._change = redact_pii if callable(redact_pii) else (_masked if redact_pii else _as_said)
        self._shown = _Shown()

    @property
    def name(self) -> str:
        """Two of one name in one agent are refused by the host."""
        return self._name

    # the hooks of the host, and their async forms ------------------------------------------------------
    def before_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """The user's new messages are stored."""
        drive(self.memory, self._arriving(self._scope(runtime), state["messages"]))

    async def abefore_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """Async form of `before_agent`."""
        await adrive(self.memory, self._arriving(self._scope(runtime), state["messages"]))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """The model is asked with what is remembered."""
        return handler(drive(self.memory, self._recalling(self._scope(request.runtime), request)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Async form of `wrap_model_call`."""
        return await handler(await adrive(self.memory, self._recalling(self._scope(request.runtime), request)))

    def after_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """The answer is stored, with the words it answers if they are not yet."""
        drive(self.memory, self._answered(self._scope(runtime), state["messages"]))

    async def aafter_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """Async form of `after_agent`."""
        await adrive(self.memory, self._answered(self._scope(runtime), state["messages"]))

    # the work, once for both ---------------------------------------------------------------------------
    def _arriving(self, scope: Scope, messages: Sequence[BaseMessage]) -> Steps[None]:
        with surviving("storing the user's words", strict=self.strict):
            if self._by_id():
                yield from self._observe(scope, waiting(messages, self._change))
            elif waiting(messages, self._change):
                yield from self._observe(scope, _without_ids(exchanges(messages, self._change)))

    def _answered(self, scope: Scope, messages: Sequence[BaseMessage]) -> Steps[None]:
        with surviving("storing the answer", strict=self.strict):
            turns = exchanges(messages, self._change)
            if not self._by_id():
                yield from self._observe(scope, _without_ids(turns))
                return
            if not turns or turns[-1].role != "assistant":
                return
            asked = next((m for m in reversed(turns) if m.role == "user"), None)
            asked_id = asked.id if asked is not None else (yield from self._newest_question(scope))
            answer = turns[-1] if asked_id is None else replace(turns[-1], id=answer_id(asked_id))
            if asked is None and asked_id is not None:
                # The host cut the question out of the thread, to summarise it: it is stored.
                said = {"assistant": answer.content, "message_id": answer.id, "reply_to": asked_id}
                yield Call("observe", {**labels(scope), **said, "metadata": answer.metadata})
            else:
                yield from self._observe(scope, [m for m in (asked, answer) if m is not None])

    def _newest_question(self, scope: Scope) -> Steps[str | None]:
        where = {"user_id": scope.user_id, "session_id": scope.session_id}
        page = yield Call("messages", {**where, "newest_first": True, "limit": 20})
        return next((m.id for m in page.items if m.role == "user"), None)

    def _observe(self, scope: Scope, turns: Sequence[Message]) -> Steps[None]:
        if turns:
            me = {} if self.me is None else {"me": self.me}
            yield Call("observe", {**labels(scope), "messages": list(turns), **me})

    def _recalling(self, scope: Scope, request: ModelRequest[Any]) -> Steps[ModelRequest[Any]]:
        with surviving("recall", strict=self.strict):
            asked = last_said(request.messages)
            shown = [m for m in to_messages(request.messages) if m.role in ("user", "assistant")]
            ids = [m.id for m in shown if m.role == "user" and m.id]
            context: Context = yield Call(
                "context",
                {
                    **labels(scope),
                    "query": None if asked is None else asked.content,
                    "max_tokens": self.max_tokens,
                    "tiers": self.tiers,
                    "current_messages": [replace(m, content=self._change(m.content)) for m in shown],
                    "exclude_message_ids": [*ids, *map(answer_id, ids)],
                },
            )
            text = self._shown.text(scope, asked.id if asked else None, context)
            return request.override(system_message=_with(request.system_message, text)) if text else request
        return request

    def _scope(self, runtime: Any) -> Scope:
        return serving(self.user_id, self.session_id, agent_id=self.agent_id, runtime=runtime)

    def _by_id(self) -> bool:
        """Whether a message comes with the same id each time: a checkpointer keeps it, or the host says so."""
        if self.stable_ids is not None:
            return self.stable_ids
        settings = ensure_config().get("configurable", {})
        return settings.get(_CHECKPOINTER, settings.get("thread_id")) is not None


class _Shown:
    """The last renderings. The same memories for the same turn are shown in the same bytes, so that a provider's
    prompt cache holds through a tool loop; what they are is looked up each time. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: OrderedDict[tuple[Scope, str], tuple[object, str]] = OrderedDict()

    def text(self, scope: Scope, message_id: str | None, context: Context) -> str:
        if message_id is None:
            return context.text
        key, what = (scope, message_id), tuple((i.source_id, i.text, i.is_current) for i in context.items)
        with self._lock:
            known, text = self._texts.get(key, (None, ""))
            if known != what:
                text = context.text
            self._texts[key] = what, text
            self._texts.move_to_end(key)
            while len(self._texts) > _MOST_SHOWN:
                self._texts.popitem(last=False)
        return text


def _with(system: SystemMessage | None, text: str) -> SystemMessage:
    """The system message with the memories at its end. Text stays text: not every model takes a list of parts."""
    if system is None:
        return SystemMessage(content=text)
    content = system.content
    added = (
        f"{content}\n\n{text}" if isinstance(content, str) else [*content, {"type": "text", "text": f"\n\n{text}"}]
    )
    return system.model_copy(update={"content": added})


def _without_ids(turns: Sequence[Message]) -> list[Message]:
    return [replace(m, id=None) for m in turns]


def _masked(text: str) -> str:
    return redact(text)[0]


def _as_said(text: str) -> str:
    return text


__all__ = ["LTMMiddleware"]
