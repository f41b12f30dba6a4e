"""When a fact holds, in SQL and in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REPLACED = (
    "FROM facts AS s WHERE s.user_no = facts.user_no AND facts.superseded_by = s.id_mac AND s.slot = facts.slot "
    "AND s.is_positive = 1 AND facts.is_positive = 1 AND s.valid_to IS NULL AND s.superseded_by IS NULL "
    "AND s.retracted_at IS NULL "
    "AND (facts.recorded_at <= s.recorded_at AND facts.valid_from <= s.recorded_at "
    "OR (facts.valid_to = s.valid_from AND facts.valid_from < facts.valid_to))"
)
"""The value of the same slot that took a fact's place and was never replaced itself: when it expires, the fact
holds again. What was told late, of a time in which the other one held already, or had not begun
before the other one was told, does not."""


def holds(times: Mapping[str, Any], moment: int) -> bool:
    """Whether a fact of these times is current at ``moment``; `CURRENT` says the same in SQL."""
    valid_to, expires = times.get("valid_to"), times.get("expires_at")
    return (
        times["valid_from"] <= moment
        and (valid_to > moment if valid_to is not None else times.get("superseded_by") is None)
        and times.get("retracted_at") is None
        and times.get("suppressed_at") is None
        and (expires is None or expires > moment)
    )


CURRENT = (
    "valid_from <= ? AND (valid_to > ? OR (valid_to IS NULL AND superseded_by IS NULL) "
    f"OR (superseded_by IS NOT NULL AND EXISTS (SELECT 1 {REPLACED} AND s.expires_at <= ?))) "
    "AND retracted_at IS NULL AND suppressed_at IS NULL AND (expires_at IS NULL OR expires_at > ?)"
)
CURRENT_TAKES = 4
"""How often `CURRENT` takes the moment."""
WAITING = (
    "retracted_at IS NULL AND (suppressed_at IS NOT NULL OR valid_from > ?) "
    "AND ((valid_to > ? AND valid_to > valid_from) OR (valid_to IS NULL AND superseded_by IS NULL)) "
    "AND (expires_at IS NULL OR expires_at > ?)"
)
"""Suppressed or not valid yet, and neither closed, retracted nor expired."""
WAITING_TAKES = 3
"""How often `WAITING` takes the moment."""


def later(column: str) -> str:
    """The later one of a column, which may be empty, and an instant, which the expression takes twice."""
    return f"CASE WHEN {column} > ? THEN {column} ELSE ? END"
