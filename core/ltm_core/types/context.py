"""What is recalled, and what goes into the next prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from ltm_core.types.names import Role, Tier
from ltm_core.types.turns import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """One thing recalled, with the reasons for it."""

    text: str
    tier: Tier
    at: datetime
    score: float = 0.0
    similarity: float | None = None
    """Cosine in [0, 1] to the query; None when no vector was compared."""
    signals: Mapping[str, float] = field(default_factory=dict)
    source_id: str = ""
    """Id of the fact (semantic), or of the message or summary (working, episodic)."""
    source_message_ids: tuple[str, ...] = ()
    session_id: str | None = None
    role: Role | None = None
    speaker: str | None = None
    is_current: bool = True
    label: Literal["", "previous", "corrected", "partly", "assistant", "summary"] = ""
    """What stands beside it in a prompt: ``partly`` means that some of what it says no longer holds."""
    reasons: tuple[str, ...] = ()
    period: tuple[datetime, datetime] | None = None
    """Of a summary the time it is about, half-open; None for what was said or is known."""


Recalled: TypeAlias = ContextItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """One candidate that is not in the context, and why."""

    source_id: str
    tier: Tier
    reason: str
    tokens: int = 0
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What goes into the next prompt. ``token_count <= max_tokens`` by the counter in use."""

    text: str
    token_count: int
    max_tokens: int
    working: tuple[ContextItem, ...] = ()
    semantic: tuple[ContextItem, ...] = ()
    episodic: tuple[ContextItem, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    messages: tuple[Message, ...] = ()
    """With ``format="messages"``: one leading system message of memories, then the working turns."""
    language: str = "en"
    query: str = ""
    notes: tuple[str, ...] = ()
    """What the recall did: ranges read from the question, legs that were skipped, tokens per tier."""

    @property
    def items(self) -> tuple[ContextItem, ...]:
        return self.working + self.semantic + self.episodic

    def __bool__(self) -> bool:
        return bool(self.text)

    def explain(self) -> str:
        """A readable account: every item with its signals and reasons, every drop with its cause."""
        from ltm_core.recall.explain import explain

        return explain(self)


__all__ = [
    "Context",
    "ContextItem",
    "Dropped",
    "Recalled",
]
