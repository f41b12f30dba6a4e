"""What a recall is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ltm_core.types import Message, Scope, Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """One recall. The session of ``scope`` names the conversation at hand: its turns are the working memory and
    rank a little higher; memories of other sessions are found all the same. The other labels filter."""

    scope: Scope
    query: str | None
    """None: the session's last user message, else what matters most."""
    now: datetime
    """Aware, in the user's zone."""
    tiers: tuple[Tier, ...] = ("working", "semantic", "episodic")
    exclude_message_ids: tuple[str, ...] = ()
    current_messages: Sequence[Message] | None = None
    """Turns the host shows anyway."""
    filters: Mapping[str, Any] | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Half-open range of the event time."""
    language: str | None = None
    top_k: int = 8
    min_similarity: float | None = None
    candidates: int = 0
    """Least number of candidates per tier: a reranker wants some to choose from."""
    queries: tuple[str, ...] = ()
    """What a rewriter made of the query; recall looks for these instead."""


__all__ = ["RecallRequest"]
