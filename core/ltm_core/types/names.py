"""The words that fields take: roles, kinds, operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
Act: TypeAlias = Literal["statement", "question", "request", "other"]
Tier: TypeAlias = Literal["working", "semantic", "episodic"]
Importance: TypeAlias = Literal["high", "medium", "low"]
FactKind: TypeAlias = Literal["fact", "preference", "solution", "procedure", "status"]
Modality: TypeAlias = Literal["asserted", "habitual", "temporary", "past", "planned"]
AssertedBy: TypeAlias = Literal["user", "app", "assistant_confirmed"]
AnchorKind: TypeAlias = Literal[
    "explicit_request",
    "identifier",
    "confirmation",
    "cross_session_reference",
    "stated_fact",
    "scheduled_archive",
]
ORDINARY = "ordinary"
"""The retention class of a user who was given none."""
ForgetReason: TypeAlias = Literal["decay", "capacity", "ttl"]
MessageState: TypeAlias = Literal["stored", "duplicate", "edited", "erased", "queued"]
ChangeOp: TypeAlias = Literal[
    "add", "reinforce", "supersede", "close", "retract", "suppress", "unsuppress", "erase", "skip", "restore"
]
SpanState: TypeAlias = Literal["holds", "replaced", "ended", "retracted", "suppressed", "expired", "not_yet"]
Metadata: TypeAlias = Mapping[str, Any]
TokenCounter: TypeAlias = Callable[[str], int]


__all__ = [
    "Act",
    "AnchorKind",
    "AssertedBy",
    "ChangeOp",
    "FactKind",
    "Importance",
    "MessageState",
    "Metadata",
    "Modality",
    "Role",
    "SpanState",
    "Tier",
    "TokenCounter",
]
