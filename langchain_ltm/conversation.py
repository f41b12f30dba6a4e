"""A drop-in memory for ConversationChain and every other chain with ``memory=``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from langchain_core.messages import BaseMessage
from pydantic import ConfigDict, Field, PrivateAttr

from langchain_ltm._convert import from_messages, to_messages, words_of
from langchain_ltm._pending import Pending, runner
from ltm_core.adapting import Call, Steps, adrive, checked_id, drive, labels, served, surviving
from ltm_core.errors import ConfigError, InvalidInputError
from ltm_core.handles import find, name_of
from ltm_core.ids import new_uuid7
from ltm_core.types import Context, Scope, Tier

try:
    from langchain_classic.base_memory import BaseMemory
except ModuleNotFoundError:  # langchain-core 0.3 still has it
    from langchain_core.memory import BaseMemory  # type: ignore[import-not-found, no-redef]

_INPUTS = ("input", "question", "query")
_OUTPUTS = ("response", "answer", "output", "text", "result")
_TIERS: tuple[Tier, ...] = ("working", "semantic", "episodic")


class LTMConversationMemory(BaseMemory):
    """What was said and learnt, in the prompt of a chain.

    With the default prompt of ConversationChain the one variable ``history`` holds known facts, fitting
    episodes and the last turns as text. With ``return_messages=True`` it is a list for a MessagesPlaceholder:
    one leading system message with what is remembered, then the turns. With ``tier_keys`` each tier has a
    variable of its own.

    **How a turn is stored.** `load_memory_variables` stores the user's words before the model is asked, so
    they survive its failure; `save_context` adds the answer to that very turn. The turn is found again by the
    asyncio task or thread that loads and saves, the session and the words: equal inputs that run at once, as
    in ``batch()``, are turns of their own; loading twice before an answer came is one turn. The words being
    answered are not part of the recalled history.

    A failing store is logged (logger "ltm") and the chain answers without memory, unless ``strict=True``.
    `clear` empties the window of this session; what was learnt stays. Erasing is ``memory.forget_*``.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: Any = Field(exclude=True, repr=False)
    """An open LongTermMemory, or a client with its methods. Copies share it; a pickle names its location."""
    user_id: str | None = None
    """Whose memory; None serves the user of the active ``ltm_core.scope(...)``."""
    session_id: str | None = "default"
    memory_key: str = "history"
    input_key: str | None = None
    output_key: str | None = None
    return_messages: bool = False
    max_tokens: int = Field(1200, ge=0)
    """Budget of everything that is put into the prompt, all variables together."""
    strict: bool = False
    """True raises what goes wrong with the store instead of logging it."""
    tier_keys: dict[Tier, str] | None = None
    """Variable per tier, for prompts of your own; tiers that are not named are not recalled."""

    _pending: Pending = PrivateAttr(default_factory=Pending)

    def __init__(self, **data: Any) -> None:
        # Before pydantic, which would turn these errors into its own.
        for name in ("user_id", "session_id"):
            if name in data:
                data[name] = checked_id(data[name], name)
        for method in ("observe", "context"):
            if "memory" in data and not callable(getattr(data["memory"], method, None)):
                raise ConfigError(f"memory must be a LongTermMemory, not {type(data['memory']).__name__}")
        super().__init__(**data)
        keys = self.memory_variables
        if len(set(keys)) != len(keys) or not all(k.strip() for k in keys):
            raise ConfigError("the memory variables need different names that are not blank")

    @property
    def memory_variables(self) -> list[str]:
        """The prompt variables that are filled."""
        if self.tier_keys:
            return [self.tier_keys[t] for t in _TIERS if t in self.tier_keys]
        return [self.memory_key]

    # the four methods of the host, and their async forms -----------------------------------------------
    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """The user's words are stored; what fits them is recalled, without the words themselves."""
        return drive(self.memory, self._loading(inputs))

    async def aload_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Async form of `load_memory_variables`; the loop is not blocked."""
        return await adrive(self.memory, self._loading(inputs))

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """The answer is stored as the reply to the turn that was loaded."""
        drive(self.memory, self._saving(inputs, outputs))

    async def asave_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Async form of `save_context`; the loop is not blocked."""
        await adrive(self.memory, self._saving(inputs, outputs))

    def clear(self) -> None:
        """The window of this session is empty. Facts and episodes stay: forgetting is ``memory.forget_*``."""
        drive(self.memory, self._clearing())

    async def aclear(self) -> None:
        """Async form of `clear`."""
        await adrive(self.memory, self._clearing())

    # the work, once for both ---------------------------------------------------------------------------
    def _loading(self, inputs: Mapping[str, Any]) -> Steps[dict[str, Any]]:
        scope = self._scope()
        value = self._input(inputs)
        words = _last_words(value)
        shown: tuple[str, ...] = ()
        with surviving("storing the user's words", strict=self.strict):
            shown = yield from self._arriving(scope, value, words)
        with surviving("recall", strict=self.strict):
            return (yield from self._recalling(scope, words, shown))
        listed = (self.tier_keys or {"working": self.memory_key}).get("working") if self.return_messages else None
        return {key: [] if key == listed else "" for key in self.memory_variables}

    def _arriving(self, scope: Scope, value: Any, words: str) -> Steps[tuple[str, ...]]:
        """The words are stored once and wait for their answer; returns the ids of what the host shows."""
        if not words.strip():
            return ()
        who = runner()
        if _is_talk(value):
            # The host passes the whole conversation: the store keeps its new tail, found by place and words.
            # System prompts are no turns.
            turns = [replace(m, id=None) for m in to_messages(value) if m.role != "system"]
            seen = yield Call("observe", {**labels(scope), "messages": turns})
            ids = tuple(s.id for s in seen.messages)
            asked = ids[-1] if ids and turns[-1].role == "user" else None
        else:
            given = value.id if isinstance(value, BaseMessage) else None
            own = self._pending.again(who, scope, words) or given or new_uuid7()
            seen = yield Call("observe", {**labels(scope), "user": words, "message_id": own})
            if any(s.status == "erased" for s in seen.messages):
                seen = yield Call("observe", {**labels(scope), "user": words, "message_id": new_uuid7()})
            ids = tuple(s.id for s in seen.messages)
            asked = ids[0] if ids else None
        if asked is not None:
            self._pending.add(who, scope, words, asked)
        return ids

    def _recalling(self, scope: Scope, words: str, shown: tuple[str, ...]) -> Steps[dict[str, Any]]:
        options: dict[str, Any] = {
            **labels(scope),
            "query": words if words.strip() else None,
            "exclude_message_ids": shown,
            "format": "messages" if self.return_messages else "text",
        }
        if not self.tier_keys:
            context = yield Call("context", {**options, "max_tokens": self.max_tokens})
            return {self.memory_key: self._shown(context)}
        out: dict[str, Any] = {}
        left, tiers = self.max_tokens, [t for t in _TIERS if t in self.tier_keys]
        for index, tier in enumerate(tiers):
            # Each tier may use an even part of what the ones before it left.
            budget = left // (len(tiers) - index)
            if tier != "working":
                options["format"] = "text"
            context = yield Call("context", {**options, "tiers": (tier,), "max_tokens": budget})
            left -= context.token_count
            out[self.tier_keys[tier]] = self._shown(context) if tier == "working" else context.text
        return out

    def _saving(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Steps[None]:
        scope = self._scope()
        with surviving("storing the answer", strict=self.strict):
            value = self._input(inputs)
            words = _last_words(value)
            asked = self._pending.take(runner(), scope, words)
            if asked is None:
                # Nothing waits: this host only saves, or storing the words failed when they came.
                yield from self._arriving(scope, value, words)
                asked = self._pending.take(runner(), scope, words)
            answer = self._output(outputs)
            text = words_of(answer)
            if text.strip():
                options: dict[str, Any] = {**labels(scope), "assistant": text, "reply_to": asked}
                if isinstance(answer, BaseMessage) and answer.id:
                    options["message_id"] = answer.id
                yield Call("observe", options)

    def _clearing(self) -> Steps[None]:
        scope = self._scope()
        self._pending.drop(scope)
        yield Call("clear_window", {"user_id": scope.user_id, "session_id": scope.session_id})

    def _scope(self) -> Scope:
        # A session that was not chosen gives way to the one of the surrounding ``ltm_core.scope(...)``.
        return served(self.user_id, self.session_id if "session_id" in self.model_fields_set else None)

    # what a chain calls its values -----------------------------------------------------------------------
    def _input(self, inputs: Mapping[str, Any]) -> Any:
        """The user's value: the named key, the only one, else input, question or query. Our own variables,
        which the chain passes back, are never it. "" when there is none."""
        if self.input_key is not None:
            return inputs.get(self.input_key, "")
        ours = set(self.memory_variables)
        keys = [k for k in inputs if k not in ours and k != "stop"]
        if len(keys) == 1:
            return inputs[keys[0]]
        for key in _INPUTS:
            if key in keys:
                return inputs[key]
        if not keys:
            return ""
        raise InvalidInputError(
            f"which of the inputs {', '.join(sorted(keys))} is the user's? Name it with input_key="
        )

    def _output(self, outputs: Mapping[str, Any]) -> Any:
        if self.output_key is not None:
            return outputs.get(self.output_key, "")
        if len(outputs) == 1:
            return next(iter(outputs.values()))
        for key in _OUTPUTS:
            if key in outputs:
                return outputs[key]
        if not outputs:
            return ""
        raise InvalidInputError(
            f"which of the outputs {', '.join(sorted(outputs))} is the answer? Name it with output_key="
        )

    def _shown(self, context: Context) -> str | list[BaseMessage]:
        return from_messages(context.messages) if self.return_messages else context.text

    # copies ----------------------------------------------------------------------------------------------
    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.model_fields_set}

    def __copy__(self) -> Self:
        return type(self)(**self._options())

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        options = self._options()
        return _restored, (type(self), {**options, "memory": name_of(options["memory"])})


def _restored(cls: type[LTMConversationMemory], options: dict[str, Any]) -> LTMConversationMemory:
    return cls(**{**options, "memory": find(options["memory"])})


def _last_words(value: Any) -> str:
    """The words of the user's value; of a conversation, those of its last user turn."""
    if _is_talk(value):
        return next((m.content for m in reversed(to_messages(value)) if m.role == "user"), "")
    return words_of(value)


def _is_talk(value: Any) -> bool:
    """Whether the value is a conversation: a list of messages."""
    return isinstance(value, list) and bool(value) and all(isinstance(m, BaseMessage) for m in value)


__all__ = ["LTMConversationMemory"]
