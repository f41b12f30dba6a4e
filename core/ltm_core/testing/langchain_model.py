"""A chat model of LangChain that says what it is told to, and remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import PrivateAttr


class ScriptedChatModel(BaseChatModel):
    """Answers with ``reply(messages)``; what that raises is the model's failure. Thread-safe.

    ``prompts`` holds the messages of every call, in order. Streams word by word.
    """

    reply: Callable[[list[BaseMessage]], str]

    _prompts: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def prompts(self) -> list[list[BaseMessage]]:
        """What was asked so far."""
        return list(self._prompts)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _answer(self, messages: list[BaseMessage]) -> str:
        with self._lock:
            self._prompts.append(list(messages))
        return self.reply(messages)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=self._answer(messages)))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for word in self._answer(messages).split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))


__all__ = ["ScriptedChatModel"]
