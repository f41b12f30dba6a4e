"""What upkeep did, counted and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ltm_core.types.names import ForgetReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetDecision:
    """One memory that a policy drops, and why; no words."""

    user_id: str
    kind: Literal["fact", "message"]
    id: str
    session_id: str | None = None
    reason: ForgetReason
    """``decay``: worth less than ``forget_below``; ``capacity``: the least valuable of too many; ``ttl``: too old
    for its kind."""
    value: float
    """What it was worth when this was decided, in [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryMade:
    """One summary that ``maintain`` made, or would make; no words."""

    user_id: str
    summary_id: str | None
    """None when nothing was written."""
    level: Literal["day", "week"]
    begins: datetime
    ends: datetime
    """The period, half-open."""
    turns: int
    retired: int = 0
    """Of them, those that are no longer searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What one run of ``maintain`` did, or would do."""

    at: datetime
    dry_run: bool
    sessions_closed: int = 0
    slots_expired: int = 0
    items_expired: int = 0
    archived: int = 0
    jobs_done: int = 0
    embedded: int = 0
    forgotten: Mapping[str, int] = field(default_factory=dict)
    """Memories that the policies dropped, by `ForgetDecision.reason`."""
    spared: Mapping[str, int] = field(default_factory=dict)
    """Memories that a policy named and that stay, by what protects them."""
    decisions: tuple[ForgetDecision, ...] = ()
    """The first 1000 that were dropped, users in the order of their ids, the least valuable first."""
    cold: int = 0
    """Turns moved to files, see ``Config.cold_after_days``."""
    logs_dropped: Mapping[str, int] = field(default_factory=dict)
    """Rows of the audit log, of the feed of changes, and marks of what policies dropped, that were older than
    ``Config`` keeps them."""
    summarised: int = 0
    """Summaries made."""
    retired: int = 0
    """Turns for which a summary stands now."""
    summaries: tuple[SummaryMade, ...] = ()
    """The first 1000 of them."""
    consolidation: Mapping[str, int] = field(default_factory=dict)
    """What did not go as wished: failed (the model's summary could not be used), rejected (its sentences that were
    dropped), missed (summaries not found by their own topic), overtaken (turns changed meanwhile)."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthProblem:
    """One disagreement inside a store, named by ids and numbers."""

    kind: Literal["file", "orphans", "index", "counter", "several_current", "plain", "external", "archive", "stray"]
    """``file``: the engine finds its file damaged, or a row cannot be read; ``orphans``: derived rows that belong to
    nothing; ``index``: a message or fact that is not found as its words say; ``counter``: a stored number is wrong;
    ``several_current``: two values of a relation that takes one; ``plain``: users of an encrypted store whose
    memories are not sealed yet; ``external``: a user's vectors in an external index differ from the store's;
    ``archive``: a file of old turns that is gone, damaged, or holds others than the store says, with the number of
    turns; ``stray``: files of the archive that the store does not know."""
    user_id: str | None = None
    count: int = 1
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """What ``doctor`` found and mended."""

    at: datetime
    users: int
    problems: tuple[HealthProblem, ...]
    """What is wrong now: after the repair, if there was one."""
    repaired: int = 0
    seconds: float = 0.0

    @property
    def healthy(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts and sizes of one user, or of the store when no user was named."""

    users: int
    sessions: int
    messages: int
    facts: int
    current_facts: int
    chunks: int
    vectors: int
    terms: int
    jobs: int
    bytes_on_disk: int
    embedder: str
    schema_version: int
    durability: str
    documents: int = 0
    summaries: int = 0
    dead_jobs: int = 0
    """Of ``jobs``, those that failed too often and wait for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkReport:
    """What one call of ``work`` did with the queue."""

    jobs_done: int = 0
    jobs_retried: int = 0
    """Failed, and due again later."""
    jobs_dead: int = 0
    """Failed for the last time, or once too often: dead letters."""
    changes: Mapping[str, int] = field(default_factory=dict)
    """What became of the model's facts, by `FactChange.op`."""
    rejected: Mapping[str, int] = field(default_factory=dict)
    """The model's facts that were refused, by reason; see ``write.models.supported`` and ``write.models.refine``."""
    stopped: bool = False
    """The model could not be reached: the rest of the queue waits."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A job that failed too often. No words of any memory."""

    id: int
    kind: str
    user_id: str | None
    attempts: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRow:
    """What a threshold does to labelled pairs; all but the counts in [0, 1]."""

    threshold: float
    precision: float
    """Share of the pairs that pass which are related; 1 when none passes."""
    recall: float
    """Share of the related pairs that pass."""
    f1: float
    false_positives: float
    """Share of the unrelated pairs that pass."""
    passed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The floor that labelled pairs call for, and what it does to them."""

    embedder: str
    rule: str
    pairs: int
    related: int
    similarity: float
    """Cosine from which a memory counts as about the question without a shared word."""
    mixed_similarity: float
    """Cosine from which it does together with ``mixed_coverage`` of the question's words."""
    coverage: float
    mixed_coverage: float
    thresholds: tuple[CalibrationRow, ...] = ()
    """Cosine alone, threshold by threshold, the chosen one among them."""
    before: CalibrationRow | None = None
    """The whole packaged floor, with words."""
    after: CalibrationRow | None = None
    """The whole new floor, with words."""
    written: bool = False


__all__ = [
    "Calibration",
    "CalibrationRow",
    "DeadLetter",
    "HealthProblem",
    "HealthReport",
    "MaintenanceReport",
    "Stats",
    "WorkReport",
]
