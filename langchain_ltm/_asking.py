"""One question to a chat model of LangChain, for what reads and for what sums up."""

from __future__ import annotations

from contextvars import Context
from typing import ClassVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from ltm_core.errors import ConfigError, UnavailableError
from ltm_core.llm.chat import ChatModel, FormatRefusedError, Mode, refuses_format, response_format
from ltm_core.write.incoming.content import text_of


class AskedChatModel(ChatModel):
    """Asked through ``invoke``, first with OpenAI's ``response_format`` bound to the model, then as it is."""

    _run_name: ClassVar[str]

    def __init__(self, model: BaseChatModel, *, name: str | None = None) -> None:
        if not isinstance(model, BaseChatModel):
            raise ConfigError(f"model must be a BaseChatModel, not {type(model).__name__}")
        told = (getattr(model, field, None) for field in ("model_name", "model", "model_id"))
        super().__init__(name or next((t for t in told if isinstance(t, str) and t), type(model).__name__))
        self._model = model

    def complete(self, system: str, user: str, mode: Mode) -> str:
        wanted = response_format(mode, self.wanted)
        model = self._model if wanted is None else self._model.bind(response_format=wanted)
        messages: list[BaseMessage] = [SystemMessage(content=system), HumanMessage(content=user)]
        config: RunnableConfig = {"run_name": self._run_name, "tags": ["ltm"]}
        try:
            # In a context of its own: the callbacks of a chain that happens to run here must not see this call.
            answer = Context().run(lambda: model.invoke(messages, config=config))
        except Exception as e:  # noqa: BLE001  no provider's error is known here; its message may hold the turn
            if wanted is not None and refuses_format(e):
                raise FormatRefusedError(type(e).__name__) from None
            raise UnavailableError(f"chat model {self.name} failed: {type(e).__name__}") from None
        return text_of(answer.content)


__all__ = ["AskedChatModel"]
