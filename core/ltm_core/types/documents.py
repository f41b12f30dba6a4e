"""Application data by namespace and key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Application data of one user by namespace and key. It is no memory: no context and no fact ever shows it."""

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    similarity: float | None = None
    """To the query it was found by: the cosine of its nearest text, or, where no vector can be compared, the
    share of the query's terms it holds. None when nothing of it is indexed, or there was no query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWrite:
    """One document to put; ``value`` None deletes it. See `LongTermMemory.put_document`."""

    namespace: Sequence[str]
    key: str
    value: Mapping[str, Any] | None
    index: bool | Sequence[str] = True
    ttl: float | timedelta | None = None


__all__ = [
    "Document",
    "DocumentWrite",
]
