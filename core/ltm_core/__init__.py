"""Drop-in long-term memory for LangChain and LlamaIndex.

from ltm_core import LongTermMemory

memory = LongTermMemory.open("./ltm-data")
memory.observe(user_id="ana", session_id="s1", user="I moved to Porto last month.")
print(memory.context("Where do I live?", user_id="ana").text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltm_core.acting import acting

if TYPE_CHECKING:
    from ltm_core.ambient import current_scope, scope
    from ltm_core.config import Config
    from ltm_core.errors import (
        AccessDeniedError,
        BusyError,
        ConfigError,
        ConflictError,
        CorruptError,
        EmbedderMismatchError,
        ErasurePendingError,
        ExtractionError,
        InvalidFilterError,
        InvalidInputError,
        InvalidScopeError,
        InvalidTimeError,
        LTMError,
        MasterKeyError,
        MissingExtraError,
        NotFoundError,
        SchemaTooNewError,
        StoreError,
        UnavailableError,
    )
    from ltm_core.memory import LongTermMemory
    from ltm_core.protocols import (
        ExtractedFact,
        ExtractionRequest,
        Extractor,
        GatedClause,
        Summarizer,
        SummaryRequest,
        SummarySentence,
        SummaryTurn,
    )
    from ltm_core.store.keys import KeyProvider
    from ltm_core.types import (
        Anchor,
        AuditEntry,
        BackupReport,
        Calibration,
        CalibrationRow,
        Context,
        ContextItem,
        CopyReport,
        DeadLetter,
        Document,
        DocumentWrite,
        Dropped,
        EncryptionReport,
        Evidence,
        Fact,
        FactChange,
        FactSpan,
        ForgetDecision,
        ForgetPreview,
        HealthProblem,
        HealthReport,
        ImportResult,
        MaintenanceReport,
        Message,
        MessageStatus,
        Observation,
        Page,
        Profile,
        RecallComparison,
        Recalled,
        Receipt,
        ReembedReport,
        RefusedLine,
        RelatedFact,
        RestoreReport,
        Scope,
        Session,
        SlotTimeline,
        Stats,
        StoredMessage,
        SummaryMade,
        WorkReport,
    )

__version__ = "0.1.0"

__all__ = [
    "AccessDeniedError",
    "Anchor",
    "AuditEntry",
    "BackupReport",
    "BusyError",
    "Calibration",
    "CalibrationRow",
    "Config",
    "ConfigError",
    "ConflictError",
    "Context",
    "ContextItem",
    "CopyReport",
    "CorruptError",
    "DeadLetter",
    "Document",
    "DocumentWrite",
    "Dropped",
    "EmbedderMismatchError",
    "EncryptionReport",
    "ErasurePendingError",
    "Evidence",
    "ExtractedFact",
    "ExtractionError",
    "ExtractionRequest",
    "Extractor",
    "Fact",
    "FactChange",
    "FactSpan",
    "ForgetDecision",
    "ForgetPreview",
    "GatedClause",
    "HealthProblem",
    "HealthReport",
    "ImportResult",
    "InvalidFilterError",
    "InvalidInputError",
    "InvalidScopeError",
    "InvalidTimeError",
    "KeyProvider",
    "LTMError",
    "LongTermMemory",
    "MaintenanceReport",
    "MasterKeyError",
    "Message",
    "MessageStatus",
    "MissingExtraError",
    "NotFoundError",
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
    "SchemaTooNewError",
    "Scope",
    "Session",
    "SlotTimeline",
    "Stats",
    "StoreError",
    "StoredMessage",
    "Summarizer",
    "SummaryMade",
    "SummaryRequest",
    "SummarySentence",
    "SummaryTurn",
    "UnavailableError",
    "WorkReport",
    "acting",
    "current_scope",
    "scope",
]


_WHERE = {
    "ambient": ("current_scope", "scope"),
    "config": ("Config",),
    "errors": (
        "AccessDeniedError",
        "BusyError",
        "ConfigError",
        "ConflictError",
        "CorruptError",
        "EmbedderMismatchError",
        "ErasurePendingError",
        "ExtractionError",
        "InvalidFilterError",
        "InvalidInputError",
        "InvalidScopeError",
        "InvalidTimeError",
        "LTMError",
        "MasterKeyError",
        "MissingExtraError",
        "NotFoundError",
        "SchemaTooNewError",
        "StoreError",
        "UnavailableError",
    ),
    "memory": ("LongTermMemory",),
    "protocols": (
        "ExtractedFact",
        "ExtractionRequest",
        "Extractor",
        "GatedClause",
        "Summarizer",
        "SummaryRequest",
        "SummarySentence",
        "SummaryTurn",
    ),
    "types": (
        "Anchor",
        "AuditEntry",
        "BackupReport",
        "Calibration",
        "CalibrationRow",
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
        "FactSpan",
        "ForgetDecision",
        "ForgetPreview",
        "HealthProblem",
        "HealthReport",
        "ImportResult",
        "MaintenanceReport",
        "Message",
        "MessageStatus",
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
        "Scope",
        "Session",
        "SlotTimeline",
        "Stats",
        "StoredMessage",
        "SummaryMade",
        "WorkReport",
    ),
    "store.keys": ("KeyProvider",),
}
_LATER = {name: f"ltm_core.{module}" for module, names in _WHERE.items() for name in names}
"""Loaded when first asked for: importing the package costs next to nothing, and whoever needs only an error or a
type loads no more than that. `acting` is bound at once, because its module has the same name."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'ltm_core' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_LATER[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
