"""A chat model of LangChain that says what it is told to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import PrivateAttr


class ScriptedChatModel(BaseChatModel):
    """Answers with ``reply(messages)``, text or a message with tool calls; what that raises is the model's failure.
    Thread-safe.

    ``prompts`` holds the messages of every call, in order. Streams word by word.
    """

    reply: Callable[[list[BaseMessage]], str | AIMessage]

    _prompts: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def prompts(self) -> list[list[BaseMessage]]:
        """What was asked so far."""
        return list(self._prompts)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any) -> Any:
        """The same model: which tools it calls is in its script."""
        return self

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        with self._lock:
            self._prompts.append(list(messages))
        said = self.reply(messages)
        return AIMessage(content=said) if isinstance(said, str) else said

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        said = self._answer(messages)
        for word in said.text.split(" ") if said.text else ():
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
        calls = [
            tool_call_chunk(name=c["name"], args=json.dumps(c["args"]), id=c["id"], index=index)
            for index, c in enumerate(said.tool_calls)
        ]
        if calls:
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))


__all__ = ["ScriptedChatModel"]
