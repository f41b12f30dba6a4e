"""The values that cross the product's door: frozen, keyword-only, framework-free.

Times are aware UTC datetimes. ``similarity`` is a cosine in [0, 1], higher is nearer, and is what floors
and thresholds use; ``score`` only orders.
"""

from __future__ import annotations

from ltm_core.types.changes_of_store import EncryptionReport, RecallComparison, ReembedReport
from ltm_core.types.context import Context, ContextItem, Dropped, Recalled
from ltm_core.types.documents import Document, DocumentWrite
from ltm_core.types.erasure import AuditEntry, ForgetPreview, Receipt
from ltm_core.types.facts import (
    Anchor,
    Evidence,
    Fact,
    FactChange,
    FactSpan,
    MessageStatus,
    Observation,
    Profile,
    RelatedFact,
    SlotTimeline,
)
from ltm_core.types.names import (
    Act,
    AnchorKind,
    AssertedBy,
    ChangeOp,
    FactKind,
    ForgetReason,
    Importance,
    MessageState,
    Metadata,
    Modality,
    Role,
    Tier,
    TokenCounter,
)
from ltm_core.types.page import Page
from ltm_core.types.portability import BackupReport, CopyReport, ImportResult, RefusedLine, RestoreReport
from ltm_core.types.reports import (
    Calibration,
    CalibrationRow,
    DeadLetter,
    ForgetDecision,
    HealthProblem,
    HealthReport,
    MaintenanceReport,
    Stats,
    SummaryMade,
    WorkReport,
)
from ltm_core.types.turns import Message, Scope, Session, StoredMessage

__all__ = [
    "Act",
    "Anchor",
    "AnchorKind",
    "AssertedBy",
    "AuditEntry",
    "BackupReport",
    "Calibration",
    "CalibrationRow",
    "ChangeOp",
    "Context",
    "ContextItem",
    "CopyReport",
    "DeadLetter",
    "Document",
    "DocumentWrite",
    "Dropped",
    "EncryptionReport",
    "Evidence",
    "Fact",
    "FactChange",
    "FactKind",
    "FactSpan",
    "ForgetDecision",
    "ForgetPreview",
    "ForgetReason",
    "HealthProblem",
    "HealthReport",
    "ImportResult",
    "Importance",
    "MaintenanceReport",
    "Message",
    "MessageState",
    "MessageStatus",
    "Metadata",
    "Modality",
    "Observation",
    "Page",
    "Profile",
    "RecallComparison",
    "Recalled",
    "Receipt",
    "ReembedReport",
    "RefusedLine",
    "RelatedFact",
    "RestoreReport",
    "Role",
    "Scope",
    "Session",
    "SlotTimeline",
    "Stats",
    "StoredMessage",
    "SummaryMade",
    "Tier",
    "TokenCounter",
    "WorkReport",
]
