"""Any LLM of LlamaIndex as an extractor of facts."""

from __future__ import annotations

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM

from ltm_core.errors import ConfigError, UnavailableError
from ltm_core.llm.chat import ChatExtractor, FormatRefusedError, Mode, refuses_format, response_format


class LLMExtractor(ChatExtractor):
    """``LongTermMemory.open(extractor=LLMExtractor(llm))``.

    The model is asked through ``chat``, first with OpenAI's ``response_format``, then without: what a provider does
    not know only costs one refused call. Give the model a temperature of 0 and a timeout of its own.
    """

    def __init__(self, llm: LLM, *, name: str | None = None) -> None:
        if not isinstance(llm, LLM):
            raise ConfigError(f"llm must be an LLM of LlamaIndex, not {type(llm).__name__}")
        super().__init__(name or llm.metadata.model_name or type(llm).__name__)
        self._llm = llm

    def complete(self, system: str, user: str, mode: Mode) -> str:
        wanted = response_format(mode)
        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=system),
            ChatMessage(role=MessageRole.USER, content=user),
        ]
        try:
            answer = self._llm.chat(messages) if wanted is None else self._llm.chat(messages, response_format=wanted)
        except Exception as e:  # noqa: BLE001  no provider's error is known here; its message may hold the turn
            if wanted is not None and refuses_format(e):
                raise FormatRefusedError(type(e).__name__) from None
            raise UnavailableError(f"LLM {self.name} failed: {type(e).__name__}") from None
        return answer.message.content or ""


__all__ = ["LLMExtractor"]
