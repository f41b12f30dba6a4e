"""The step of a chain that recalls, and stores the user's words when they arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from langchain_ltm._identity import serving
from langchain_ltm._pending import Pending
from langchain_ltm.history import LTMChatMessageHistory, spoken
from ltm_core.adapting import Call, Steps, adrive, checked_id, drive, labels, surviving
from ltm_core.errors import ConfigError, InvalidInputError
from ltm_core.types import Tier

_INPUTS = ("input", "question", "query", "messages")


def ltm_recall(
    memory: Any = None,
    *,
    input_key: str | None = None,
    user_id: str | None = None,
    max_tokens: int = 1200,
    tiers: Sequence[Tier] = ("semantic", "episodic"),
    observe: bool = True,
    strict: bool = False,
) -> Runnable[Any, str]:
    """A step that turns a chain's input into the memories that fit it, as text for the prompt.

    Inside RunnableWithMessageHistory with `ltm_history_factory` it needs no ``memory``: it serves the same user and
    session, and does not repeat the turns that the history shows. Elsewhere give ``memory``; user and session come
    from ``user_id``, ``configurable`` or the active scope. With ``observe`` the user's words are stored first, so
    they survive a failing model and a stream that is closed early; ``False`` only reads.

    ``input_key`` names the user's value in a dict; it is found when it is the only one, or called ``input``,
    ``question``, ``query`` or ``messages``. What fails is logged and gives "", unless ``strict=True``.
    """
    checked_id(user_id, "user_id")
    pending = Pending()

    def history(config: RunnableConfig) -> LTMChatMessageHistory:
        there = config.get("configurable", {}).get("message_history")
        if isinstance(there, LTMChatMessageHistory) and memory in (None, there.memory):
            return there
        if memory is None:
            raise ConfigError("ltm_recall needs memory= outside RunnableWithMessageHistory with ltm_history_factory")
        scope = serving(user_id, config=config)
        return LTMChatMessageHistory(
            memory, user_id=scope.user_id, session_id=scope.session_id, strict=strict, _pending=pending
        )

    def steps(value: Any, kept: LTMChatMessageHistory) -> Steps[str]:
        asked = _asked_value(value, input_key)
        ids: tuple[str, ...] = ()
        if observe:
            ids = yield from kept.observing(asked)
        with surviving("recall", strict=strict):
            turns = spoken(asked)
            words = next((m.content for m in reversed(turns) if m.role == "user"), "")
            options = {"query": words or None, "max_tokens": max_tokens, "tiers": tuple(tiers)}
            hidden = {"exclude_message_ids": (*kept.shown_ids, *ids)}
            shown: dict[str, Any] = {"current_messages": turns} if len(turns) > 1 else {}
            context = yield Call("context", {**labels(kept.scope), **options, **hidden, **shown})
            return str(context.text)
        return ""

    def recall(value: Any, config: RunnableConfig) -> str:
        kept = history(config)
        return drive(kept.memory, steps(value, kept))

    async def arecall(value: Any, config: RunnableConfig) -> str:
        kept = history(config)
        return await adrive(kept.memory, steps(value, kept))

    return RunnableLambda(recall, arecall, name="ltm_recall")


def _asked_value(value: Any, input_key: str | None) -> Any:
    if not isinstance(value, Mapping):
        return value
    if input_key is not None:
        return value.get(input_key, "")
    if len(value) == 1:
        return next(iter(value.values()))
    for key in _INPUTS:
        if key in value:
            return value[key]
    raise InvalidInputError(f"which of {', '.join(sorted(map(str, value)))} is the user's? Name it with input_key=")


__all__ = ["ltm_recall"]
