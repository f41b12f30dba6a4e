"""What a message does: states, asks, orders, or none of these."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.types import Act
from ltm_core.write.read.scopes import Read


def act_of(reads: Sequence[Read], *, has_facts: bool) -> Act:
    """A message that states a fact is a statement even when it also asks; then question, request, statement."""
    if not reads:
        return "other"
    if has_facts:
        return "statement"
    if any(r["question"] for r in reads):
        return "question"
    if any(r["command"] or r.veto in ("fiction", "injection") for r in reads):
        return "request"
    if all(r["smalltalk"] or r["mood"] for r in reads):
        return "other"
    return "statement"
