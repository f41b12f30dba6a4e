"""One question to an LLM of LlamaIndex, for what reads and for what sums up."""

from __future__ import annotations

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM

from ltm_core.errors import ConfigError, UnavailableError
from ltm_core.llm.chat import ChatModel, FormatRefusedError, Mode, refuses_format, response_format


class AskedLLM(ChatModel):
    """Asked through ``chat``, first with OpenAI's ``response_format``, then without."""

    def __init__(self, llm: LLM, *, name: str | None = None) -> None:
        if not isinstance(llm, LLM):
            raise ConfigError(f"llm must be an LLM of LlamaIndex, not {type(llm).__name__}")
        super().__init__(name or llm.metadata.model_name or type(llm).__name__)
        self._llm = llm

    def complete(self, system: str, user: str, mode: Mode) -> str:
        wanted = response_format(mode, self.wanted)
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


__all__ = ["AskedLLM"]
