"""LangChain's messages and ours, both ways. Pictures leave a marker, tool results stay tool results, and what
recall put into a prompt is recognised and left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from ltm_core.text.fence import without_memory
from ltm_core.types import Message, Role
from ltm_core.write.incoming.content import text_of

_SPOKEN: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}


def role_of(message: BaseMessage) -> Role | None:
    """Who speaks; None for what is no turn (a removal, an unknown role). Chunks count as whole messages."""
    if isinstance(message, ChatMessage):
        return _SPOKEN.get(message.role.lower())
    for kind, role in _KINDS:
        if isinstance(message, kind):
            return role
    return None


_KINDS: tuple[tuple[type[BaseMessage], Role], ...] = (
    (HumanMessage, "user"),
    (AIMessage, "assistant"),
    (SystemMessage, "system"),
    (ToolMessage, "tool"),
    (FunctionMessage, "tool"),
)


def to_message(message: BaseMessage) -> Message | None:
    """Our form of a turn, with its id; None when nothing of it is to be remembered.

    Memory blocks that recall rendered are cut out. A summary that the host wrote into the history is not a
    user's turn.
    """
    role = role_of(message)
    if role is None or message.additional_kwargs.get("lc_source") == "summarization":
        return None
    content = without_memory(text_of(message.content))
    if not content.strip():
        return None
    calls = [c.get("id") or "" for c in message.tool_calls] if isinstance(message, AIMessage) else []
    return Message(
        role=role,
        content=content,
        id=message.id or None,
        name=message.name,
        metadata={"tool_calls": calls} if calls else {},
    )


def to_messages(messages: Sequence[BaseMessage]) -> list[Message]:
    """The turns worth remembering, in order."""
    return [m for m in map(to_message, messages) if m is not None]


def from_messages(messages: Sequence[Message]) -> list[BaseMessage]:
    """LangChain's form of a recalled conversation. A tool's result and the call before it are left out: they
    could not be shown to a model without their arguments."""
    out: list[BaseMessage] = []
    for index, message in enumerate(messages):
        following = messages[index + 1].role if index + 1 < len(messages) else None
        if message.role == "tool" or (message.role == "assistant" and following == "tool"):
            continue
        if message.role == "system":
            out.append(SystemMessage(content=message.content))
        elif message.role == "assistant":
            out.append(AIMessage(content=message.content, id=message.id, name=message.name))
        else:
            out.append(HumanMessage(content=message.content, id=message.id, name=message.name))
    return out


def words_of(value: Any) -> str:
    """The words in a chain's input or output value: text, a message, messages, or parts of content."""
    if isinstance(value, str):
        return without_memory(value)
    if isinstance(value, BaseMessage):
        return without_memory(text_of(value.content))
    if isinstance(value, Sequence) and any(isinstance(v, BaseMessage) for v in value):
        return "\n".join(w for w in (words_of(v) for v in value if isinstance(v, BaseMessage)) if w)
    if isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, bytes | bytearray)):
        return without_memory(text_of(value)) or ("" if not value else str(value))
    return "" if value is None else str(value)
