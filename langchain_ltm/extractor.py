"""Any chat model of LangChain as an extractor of facts."""

from __future__ import annotations

from contextvars import Context

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from ltm_core.errors import ConfigError, UnavailableError
from ltm_core.llm.chat import ChatExtractor, FormatRefusedError, Mode, refuses_format, response_format
from ltm_core.write.content import text_of

_CONFIG: RunnableConfig = {"run_name": "ltm_extract", "tags": ["ltm"]}


class ChatModelExtractor(ChatExtractor):
    """``LongTermMemory.open(extractor=ChatModelExtractor(model))``.

    The model is asked through ``invoke``, first with OpenAI's ``response_format`` bound to it, then as it is: what a
    provider does not know only costs one refused call. Runs are named ``ltm_extract`` and tagged ``ltm``. Give the
    model a temperature of 0 and a timeout of its own.
    """

    def __init__(self, model: BaseChatModel, *, name: str | None = None) -> None:
        if not isinstance(model, BaseChatModel):
            raise ConfigError(f"model must be a BaseChatModel, not {type(model).__name__}")
        told = (getattr(model, field, None) for field in ("model_name", "model", "model_id"))
        super().__init__(name or next((t for t in told if isinstance(t, str) and t), type(model).__name__))
        self._model = model

    def complete(self, system: str, user: str, mode: Mode) -> str:
        wanted = response_format(mode)
        model = self._model if wanted is None else self._model.bind(response_format=wanted)
        messages: list[BaseMessage] = [SystemMessage(content=system), HumanMessage(content=user)]
        try:
            # In a context of its own: the callbacks of a chain that happens to run here must not see this call.
            answer = Context().run(lambda: model.invoke(messages, config=_CONFIG))
        except Exception as e:  # noqa: BLE001  no provider's error is known here; its message may hold the turn
            if wanted is not None and refuses_format(e):
                raise FormatRefusedError(type(e).__name__) from None
            raise UnavailableError(f"chat model {self.name} failed: {type(e).__name__}") from None
        return text_of(answer.content)


__all__ = ["ChatModelExtractor"]
