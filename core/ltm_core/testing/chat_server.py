"""The chat side of the OpenAI protocol, scripted: answers, streams and tool calls over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ltm_core.testing.openai_server import OpenAIServer, Request, _Step

CHAT = "/v1/chat/completions"


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants called."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


Said: TypeAlias = str | ToolCall
Reply: TypeAlias = Callable[[list[dict[str, Any]]], Said]


class ChatServer(OpenAIServer):
    """An OpenAIServer whose ``POST /v1/chat/completions`` answers ``reply(messages)``: text, or a ToolCall.

    With ``"stream": true`` it sends events, word by word, a call's arguments in pieces, as the protocol has them;
    with ``stream_options.include_usage`` the usage at the end. ``fail``, ``hang``, ``drop`` and ``garbage`` come
    first, as for the other paths. What ``reply`` raises ends the connection.
    """

    def __init__(self, reply: Reply, *, dimension: int = 64) -> None:
        super().__init__(dimension=dimension)
        self._reply = reply
        self.route(CHAT, self._complete)

    @property
    def chats(self) -> list[Request]:
        """The chat requests so far."""
        return [r for r in self.requests if r.path == CHAT]

    def _answer(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> _Step:
        if path != CHAT or not body.get("stream") or self._steps:
            return super()._answer(path, headers, body)
        self.requests.append(Request(path, headers, body))
        events = "".join(f"data: {json.dumps(e)}\n\n" for e in self._stream(body))
        return _Step(headers={"Content-Type": "text/event-stream"}, content=f"{events}data: [DONE]\n\n".encode())

    def _complete(self, body: dict[str, Any]) -> dict[str, Any]:
        said = self._reply(body["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": said if isinstance(said, str) else None}
        if isinstance(said, ToolCall):
            message["tool_calls"] = [self._call(said, json.dumps(dict(said.arguments)))]
        choice = {"index": 0, "message": message, "finish_reason": _reason(said)}
        return {**self._head(body, "chat.completion"), "choices": [choice], "usage": _USAGE}

    def _stream(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        said = self._reply(body["messages"])
        head = self._head(body, "chat.completion.chunk")

        def event(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
            return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

        yield event({"role": "assistant", "content": "" if isinstance(said, str) else None})
        if isinstance(said, str):
            words = said.split(" ")
            yield from (event({"content": w if i == len(words) - 1 else f"{w} "}) for i, w in enumerate(words))
        else:
            yield event({"tool_calls": [{"index": 0, **self._call(said, "")}]})
            arguments = json.dumps(dict(said.arguments))
            half = len(arguments) // 2
            for part in (arguments[:half], arguments[half:]):
                yield event({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
        yield event({}, _reason(said))
        if (body.get("stream_options") or {}).get("include_usage"):
            yield {**head, "choices": [], "usage": _USAGE}

    def _head(self, body: dict[str, Any], kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{len(self.requests)}", "object": kind, "created": 0, "model": body["model"]}

    def _call(self, said: ToolCall, arguments: str) -> dict[str, Any]:
        function = {"name": said.name, "arguments": arguments}
        return {"id": f"call_{len(self.requests)}", "type": "function", "function": function}


def _reason(said: Said) -> str:
    return "stop" if isinstance(said, str) else "tool_calls"


_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}

__all__ = ["CHAT", "ChatServer", "ToolCall"]
