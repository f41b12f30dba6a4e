"""Drop-in long-term memory for LangChain and LlamaIndex.

from ltm_core import LongTermMemory

memory = LongTermMemory.open("./ltm-data")
memory.observe(user_id="ana", session_id="s1", user="I moved to Porto last month.")
print(memory.context("Where do I live?", user_id="ana").text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltm_core.acting import acting
from ltm_core.ambient import current_scope, scope
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
from ltm_core.types import (
    Anchor,
    AuditEntry,
    BackupReport,
    Calibration,
    CalibrationRow,
    Context,
    ContextItem,
    DeadLetter,
    Document,
    DocumentWrite,
    Dropped,
    EncryptionReport,
    Evidence,
    Fact,
    FactChange,
    FactSpan,
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

if TYPE_CHECKING:
    from ltm_core.config import Config
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


_LATER = {
    "Config": "ltm_core.config",
    "ExtractedFact": "ltm_core.protocols",
    "ExtractionRequest": "ltm_core.protocols",
    "Extractor": "ltm_core.protocols",
    "GatedClause": "ltm_core.protocols",
    "KeyProvider": "ltm_core.store.keys",
    "Summarizer": "ltm_core.protocols",
    "SummaryRequest": "ltm_core.protocols",
    "SummarySentence": "ltm_core.protocols",
    "SummaryTurn": "ltm_core.protocols",
}
"""Loaded when first asked for. Config brings pydantic, which costs more to import than all the rest."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'ltm_core' has no attribute {name!r}")
