"""An agent's list of messages, read as turns: what the user said, and how it was answered in the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_ltm._convert import role_of, to_message
from ltm_core.types import Message

TOOLS_USED = "tools_used"
"""Key in an answer's metadata: the tools it rests on. What they returned is not kept."""
_MOST_TOOLS = 16
Change = Callable[[str], str]
"""Makes of the words what may be stored."""


def waiting(messages: Sequence[BaseMessage], change: Change) -> list[Message]:
    """The user's messages at the end, which are not answered yet."""
    said: list[Message] = []
    for message in reversed(messages):
        role = role_of(message)
        if role in ("assistant", "tool"):
            break
        if role == "user":
            said += [_changed(m, change) for m in (to_message(message),) if m is not None]
    return said[::-1]


def last_said(messages: Sequence[BaseMessage]) -> Message | None:
    """The last message of the user; summaries that the host wrote are none."""
    return next((m for m in map(_user, reversed(messages)) if m is not None), None)


def exchanges(messages: Sequence[BaseMessage], change: Change) -> list[Message]:
    """The user's messages, each run of them with the answer that closed it: in order, without tool calls, their
    results and what was said between them. An answer names the tools it rests on in its metadata."""
    out: list[Message] = []
    answer: Message | None = None
    tools: dict[str, None] = {}
    for message in messages:
        role = role_of(message)
        said = to_message(message)
        if role == "tool":
            answer = None  # what was said before a tool was asked is no answer
            tools[(message.name if isinstance(message, ToolMessage) else None) or "tool"] = None
        elif role == "assistant" and not (isinstance(message, AIMessage) and message.tool_calls):
            answer = None if said is None else _changed(_resting(said, tools), change)
        elif role == "user" and said is not None:
            out += [answer] if answer is not None else []
            out.append(_changed(said, change))
            answer, tools = None, {}
    return [*out, answer] if answer is not None else out


def answer_id(message_id: str) -> str:
    """The id under which the answer to that message is stored: another answer to it replaces the first."""
    return f"{message_id}/answer"


def _user(message: BaseMessage) -> Message | None:
    return to_message(message) if role_of(message) == "user" else None


def _resting(answer: Message, tools: dict[str, None]) -> Message:
    return replace(answer, metadata={TOOLS_USED: list(tools)[:_MOST_TOOLS]} if tools else {})


def _changed(message: Message, change: Change) -> Message:
    return replace(message, content=change(message.content))


__all__ = ["TOOLS_USED", "answer_id", "exchanges", "last_said", "waiting"]
