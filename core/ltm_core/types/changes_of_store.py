"""What changing a whole store did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionReport:
    """What `LongTermMemory.encrypt` or `LongTermMemory.rekey` did."""

    location: str
    users: int
    """Users that were sealed, or whose keys were wrapped anew, by this call."""
    master_key: str
    """Fingerprint of the master key that now opens the store."""
    seconds: float
    not_reached: tuple[str, ...] = ()
    """Key files beside backups that still have the former master key: run it again when they can be reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallComparison:
    """The same questions asked of both sets of vectors, by meaning alone."""

    questions: int
    """Stored questions and statements that were asked."""
    overlap_at_10: float
    """Mean share of the first ten that both sets find; 1 when nothing was asked."""
    known: int
    """Questions of which it is known what should be found: facts and the turns they come from, or given pairs."""
    mrr_before: float
    mrr_after: float
    """Mean reciprocal rank of what should be found, among all chunks of the user."""
    recall_at_10_before: float
    recall_at_10_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembedReport:
    """What `LongTermMemory.reembed` did."""

    state: Literal["none", "ready", "switched", "rolled_back", "dropped"]
    """``none``: one set of vectors, nothing to do; ``ready``: both sets are whole and the former one is searched;
    ``switched``: the new one is searched and the former one is kept; ``rolled_back``: the former one is searched
    again and the new one is kept; ``dropped``: only the one that is searched is left."""
    embedder: str
    """Identity of the embedder whose vectors are searched now."""
    other: str = ""
    """Identity of the set beside it; empty when there is none."""
    embedded: int = 0
    """Vectors made by this call."""
    waiting: int = 0
    """Chunks and units that wait for a vector after a switch; `maintain` sees to them."""
    comparison: RecallComparison | None = None
    seconds: float = 0.0


__all__ = ["EncryptionReport", "RecallComparison", "ReembedReport"]
