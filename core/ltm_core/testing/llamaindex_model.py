"""A chat model of LlamaIndex that says what it is told to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback


class ScriptedLLM(CustomLLM):
    """Answers with ``reply(messages)``; what that raises is the model's failure.

    ``prompts`` holds the messages of every call, in order. Streams word by word.
    """

    reply: Callable[[list[ChatMessage]], str]
    context_window: int = 8192

    _prompts: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

    @property
    def prompts(self) -> list[list[ChatMessage]]:
        """What was asked so far."""
        return list(self._prompts)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=self.context_window, num_output=256, is_chat_model=True, model_name="scripted"
        )

    def _answer(self, messages: Sequence[ChatMessage]) -> str:
        self._prompts.append(list(messages))
        return self.reply(list(messages))

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        answer = self._answer(messages)
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=answer))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        answer = self._answer(messages)

        def words() -> ChatResponseGen:
            said = ""
            for word in answer.split(" "):
                delta = f" {word}" if said else word
                said += delta
                yield ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=said), delta=delta)

        return words()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._answer([ChatMessage(role=MessageRole.USER, content=prompt)]))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        answer = self._answer([ChatMessage(role=MessageRole.USER, content=prompt)])

        def whole() -> CompletionResponseGen:
            yield CompletionResponse(text=answer, delta=answer)

        return whole()


__all__ = ["ScriptedLLM"]
