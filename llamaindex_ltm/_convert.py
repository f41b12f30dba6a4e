"""LlamaIndex's chat messages and ours, both ways.

Everything that can hold somebody's words is in the stored text, where forgetting and masking reach it: text
blocks as they are, a picture as ``[image: https://…]``, tool calls as ``[tool calls: …]``. The metadata keep
only the shape, that is which stretch of the text was which block, and the message's own ``additional_kwargs``.
A text whose length changed since (it was edited, or masked on the way in) no longer fits its shape and comes
back as one text block. Left out: reasoning, citations, cache marks, and inline bytes of pictures and files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock

from ltm_core.text.fence import without_memory
from ltm_core.text.normalize import clean
from ltm_core.types import Message, Role, StoredMessage
from ltm_core.write.incoming.content import text_of

try:
    from llama_index.core.base.llms.types import ToolCallBlock
except ImportError:  # before 0.14.5, tool calls were in additional_kwargs only
    ToolCallBlock = None  # type: ignore[assignment, misc]

SHAPE = "llamaindex"
"""Metadata key of the shape."""
_ROLES: Mapping[MessageRole, Role] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}
_MEDIA = ("image", "audio", "video", "document")
_PLACEHOLDERS = frozenset({"Empty Response"})
"""What the host stores as an answer when nothing was retrieved and no model was asked."""
_ANSWER = re.compile(r"^Answer:[ \t]*", re.MULTILINE)
_MOST_KWARGS = 4096
"""Bytes of JSON of a message's additional_kwargs that are kept; larger ones are left out."""
_MOST_METADATA = 16_000
"""Bytes of JSON of all metadata; a message of so many blocks comes back as one text block."""
_CALLS, _NOTHING = "[tool calls: ", "[no text]"


class _Part(NamedTuple):
    """One block: the text that stands for it, and what it was."""

    text: str
    kind: str
    extra: dict[str, Any]


def role_of(message: ChatMessage) -> Role:
    """Who speaks."""
    return _ROLES.get(message.role, "system")


def words_of(value: Any) -> str:
    """The words of an input: text, a chat message, or nothing."""
    if isinstance(value, ChatMessage):
        return "\n".join(b.text for b in value.blocks if isinstance(b, TextBlock))
    return value if isinstance(value, str) else ""


def to_message(message: ChatMessage, *, id: str | None = None) -> Message | None:
    """Our form of a chat message; None when nothing of it is to be remembered: no content, our own memory
    block, the host's placeholder for an answer, a reasoning trace without an answer."""
    role = role_of(message)
    parts = [p for p in map(_part, message.blocks) if p is not None]
    if role == "assistant" and len(parts) == 1 and parts[0].kind == "text":
        said = _answer(parts[0].text)
        if said is None:
            return None
        parts = [parts[0]._replace(text=said)]
    parts = [p._replace(text=without_memory(p.text)) if p.kind == "text" else p for p in parts]
    kwargs = _kwargs(message)
    calls = kwargs.pop("tool_calls", None) or []
    if calls:
        parts.append(_Part(f"{_CALLS}{_json(calls)}]", "kwargs_calls", {}))
    call_ids = [_call_id(c) for c in calls] if calls else [p.extra["id"] for p in parts if p.kind == "tool_call"]
    if not any(p.text.strip() for p in parts):
        # A tool may answer with nothing; without it the call before it would have no result.
        if role != "tool":
            return None
        parts = [*parts, _Part(_NOTHING, "nothing", {})]
    metadata: dict[str, Any] = {}
    if len(parts) != 1 or parts[0].kind != "text" or kwargs or message.role.value != role:
        metadata[SHAPE] = _shape(parts, kwargs, "" if message.role.value == role else message.role.value)
    if call_ids:
        metadata["tool_calls"] = call_ids
    if len(_json(metadata).encode()) > _MOST_METADATA:
        metadata = {}
    return Message(role=role, content=_joined(parts), id=id, metadata=metadata)


def to_chat_message(stored: StoredMessage | Message) -> ChatMessage:
    """A fresh chat message as the host gave it, with what was forgotten since overwritten."""
    shape = stored.metadata.get(SHAPE)
    if not isinstance(shape, Mapping) or shape.get("length") != len(stored.content):
        return ChatMessage(role=MessageRole(stored.role), blocks=[TextBlock(text=stored.content)])
    kwargs = json.loads(json.dumps(shape.get("kwargs") or {}))
    blocks: list[Any] = []
    for kind, start, end, extra in shape["blocks"]:
        text = stored.content[start:end]
        if kind == "kwargs_calls":
            calls = _parsed(text[len(_CALLS) : -1])
            if calls is not None:
                kwargs["tool_calls"] = calls
        elif kind != "nothing":
            blocks.append(_block(kind, text, extra))
    return ChatMessage(role=MessageRole(shape.get("role") or stored.role), blocks=blocks, additional_kwargs=kwargs)


def is_trace(message: ChatMessage) -> bool:
    """Whether an assistant's message is the reasoning of a ReAct agent."""
    return role_of(message) == "assistant" and words_of(message).lstrip().startswith("Thought:")


def calls_of(message: ChatMessage) -> list[str]:
    """The ids of the tool calls the message makes; "" for a call without an id."""
    ids = [_call_id(c) for c in _sequence(message.additional_kwargs.get("tool_calls"))]
    if not ids and ToolCallBlock is not None:
        ids = [b.tool_call_id or "" for b in message.blocks if isinstance(b, ToolCallBlock)]
    return ids


def answered_by(message: ChatMessage) -> str:
    """The id of the tool call this message is the result of, "" when it names none."""
    return str(message.additional_kwargs.get("tool_call_id") or "")


def countable(message: ChatMessage) -> str:
    """The text a model is sent for the message, tool calls with their arguments included."""
    out = []
    for block in message.blocks:
        part = _part(block)
        if part is not None:
            out.append(f"{part.extra.get('name', '')} {part.text}")
    if message.additional_kwargs:
        out.append(_json(_plain(message.additional_kwargs)))
    return "\n".join(out)


def media_in(message: ChatMessage) -> int:
    """How many pictures, recordings and files the message carries."""
    return sum(getattr(b, "block_type", "") in _MEDIA for b in message.blocks)


# blocks ---------------------------------------------------------------------------------------------------
def _part(block: Any) -> _Part | None:
    kind = str(getattr(block, "block_type", ""))
    if kind == "text":
        return _Part(clean(block.text), "text", {})
    if kind == "tool_call":
        name, args = str(block.tool_name), block.tool_kwargs
        text = clean(args) if isinstance(args, str) else _json(_plain(args))
        extra = {"id": block.tool_call_id or "", "name": name, "raw": isinstance(args, str)}
        return _Part(f"[tool call {name}: {text}]", "tool_call", extra)
    if kind in _MEDIA:
        url = str(getattr(block, "url", None) or "")
        extra = {"detail": block.detail} if kind == "image" and getattr(block, "detail", None) else {}
        return _Part(text_of([{"type": kind, "url": url}]), kind, extra)
    if kind == "citable":
        return _Part("\n".join(p.text for p in map(_part, block.content) if p is not None), "text", {})
    return None


def _block(kind: str, text: str, extra: Mapping[str, Any]) -> Any:
    if kind == "tool_call" and ToolCallBlock is not None:
        raw = text[len(f"[tool call {extra['name']}: ") : -1]
        args = raw if extra.get("raw") else _parsed(raw)
        if isinstance(args, str | dict):
            return ToolCallBlock(tool_call_id=extra["id"] or None, tool_name=extra["name"], tool_kwargs=args)
    if kind == "image" and text.startswith("[image: ") and "█" not in text:
        return ImageBlock(url=text[len("[image: ") : -1], detail=extra.get("detail"))
    return TextBlock(text=text)


def _joined(parts: Sequence[_Part]) -> str:
    return "\n".join(p.text for p in parts)


def _shape(parts: Sequence[_Part], kwargs: Mapping[str, Any], role: str) -> dict[str, Any]:
    blocks, start = [], 0
    for part in parts:
        blocks.append([part.kind, start, start + len(part.text), part.extra])
        start += len(part.text) + 1
    shape: dict[str, Any] = {"length": max(0, start - 1), "blocks": blocks}
    if kwargs:
        shape["kwargs"] = dict(kwargs)
    if role:
        shape["role"] = role
    return shape


def _answer(text: str) -> str | None:
    """What an assistant's text tells the user: of a reasoning trace only the answer; None for no answer."""
    if text.strip() in _PLACEHOLDERS:
        return None
    if not text.lstrip().startswith("Thought:"):
        return text
    answers = list(_ANSWER.finditer(text))
    if answers:
        return text[answers[-1].end() :].strip() or None
    return None if "\nAction:" in text else text


# additional_kwargs ------------------------------------------------------------------------------------------
def _kwargs(message: ChatMessage) -> dict[str, Any]:
    """The message's own keywords as plain JSON; those that are none, or too large, are left out."""
    kept: dict[str, Any] = {}
    for key, value in message.additional_kwargs.items():
        plain = _plain(value)
        if plain is not None and (key == "tool_calls" or len(_json(plain).encode()) <= _MOST_KWARGS):
            kept[str(key)] = plain
    rest = {k: v for k, v in kept.items() if k != "tool_calls"}
    if len(_json(rest).encode()) > _MOST_KWARGS:
        kept = {k: v for k, v in kept.items() if k in ("tool_calls", "tool_call_id", "name")}
    return kept


def _plain(value: Any) -> Any:
    """``value`` as JSON data; None where it holds something else."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        value = [v.model_dump(mode="json") if hasattr(v, "model_dump") else v for v in value]
    try:
        return json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None


def _json(value: Any) -> str:
    return clean(json.dumps(value, ensure_ascii=False))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _call_id(call: Any) -> str:
    for key in ("id", "tool_id", "tool_call_id"):
        found = call.get(key) if isinstance(call, Mapping) else getattr(call, key, None)
        if found:
            return str(found)
    return ""


__all__ = [
    "SHAPE",
    "answered_by",
    "calls_of",
    "countable",
    "is_trace",
    "media_in",
    "role_of",
    "to_chat_message",
    "to_message",
    "words_of",
]
