"""Chat models of LlamaIndex that say what they are told to, and remember what they were asked."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Callable, Sequence
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
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import LLM, ToolSelection


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


class ScriptedAgentLLM(ScriptedLLM, FunctionCallingLLM):
    """Calls the tool that ``calls(messages)`` names with its arguments; answers with ``reply`` when it is None.

    The calls are in ``additional_kwargs``, as every version of the host understands them.
    """

    calls: Callable[[list[ChatMessage]], tuple[str, dict[str, Any]] | None]

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.context_window, is_chat_model=True, is_function_calling_model=True)

    def _next(self, messages: Sequence[ChatMessage]) -> ChatMessage:
        call = self.calls(list(messages))
        if call is None:
            return ChatMessage(role=MessageRole.ASSISTANT, content=self._answer(messages))
        self._prompts.append(list(messages))
        name, arguments = call
        function = {"name": name, "arguments": json.dumps(arguments)}
        made = {"id": f"call{len(self._prompts)}", "type": "function", "function": function}
        return ChatMessage(role=MessageRole.ASSISTANT, content="", additional_kwargs={"tool_calls": [made]})

    def _prepare_chat_with_tools(  # type: ignore[override]  # its options grow from version to version
        self, tools: Any, **options: Any
    ) -> dict[str, Any]:
        said = options.get("user_msg")
        last = [ChatMessage(role=MessageRole.USER, content=said)] if isinstance(said, str) else [said] if said else []
        return {"messages": [*(options.get("chat_history") or []), *last]}

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._next(messages))

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        async def whole() -> AsyncGenerator[ChatResponse, None]:
            said = self._next(messages)
            yield ChatResponse(message=said, delta=said.content or "")

        return whole()

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = False, **options: Any
    ) -> list[ToolSelection]:
        made = response.message.additional_kwargs.get("tool_calls") or []
        return [
            ToolSelection(
                tool_id=c["id"],
                tool_name=c["function"]["name"],
                tool_kwargs=json.loads(c["function"]["arguments"]),
            )
            for c in made
        ]


def from_environment() -> LLM | None:
    """The model of the OpenAI-compatible server at ``OPENAI_BASE_URL``, named ``OPENAI_MODEL``, with the key
    ``OPENAI_API_KEY`` if it wants one; None when there is no address. Needs llama-index-llms-openai-like."""
    address = os.environ.get("OPENAI_BASE_URL")
    if not address:
        return None
    from llama_index.llms.openai_like import OpenAILike

    made: LLM = OpenAILike(
        api_base=address,
        api_key=os.environ.get("OPENAI_API_KEY", "none"),
        model=os.environ["OPENAI_MODEL"],
        is_chat_model=True,
        is_function_calling_model=True,
    )
    return made


__all__ = ["ScriptedAgentLLM", "ScriptedLLM", "from_environment"]
