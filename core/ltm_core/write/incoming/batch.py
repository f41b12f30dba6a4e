"""One call of ``observe``, and what is made of its messages before the transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ltm_core.types import Evidence, Scope
from ltm_core.write.incoming.index import Unit
from ltm_core.write.incoming.intake import Incoming
from ltm_core.write.plan import Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One call of ``observe``, checked."""

    scope: Scope
    messages: tuple[Incoming, ...]
    timezone: str | None = None
    doc_type: str | None = None
    ttl: timedelta | None = None
    metadata: Mapping[str, Any]
    me: str | None = None


@dataclass(slots=True, kw_only=True)
class Prepared:
    """A message with everything that does not depend on other writers."""

    message: Incoming
    id: str
    analysis: Analysis
    units: tuple[Unit, ...]
    at: datetime
    for_model: bool = False
    """There is something in it that an extractor is to read."""
    other: bool = False
    """Another than the account's owner speaks."""
    meanings: Mapping[Evidence, str] = field(default_factory=dict)
    """What its references to earlier conversations mean, by their place."""
