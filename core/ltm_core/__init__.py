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
    Document,
    DocumentWrite,
    Dropped,
    Evidence,
    Fact,
    FactChange,
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
    Recalled,
    Receipt,
    RefusedLine,
    RelatedFact,
    RestoreReport,
    Scope,
    Session,
    Stats,
    StoredMessage,
)

if TYPE_CHECKING:
    from ltm_core.config import Config

__version__ = "0.1.0"

__all__ = [
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
    "Document",
    "DocumentWrite",
    "Dropped",
    "EmbedderMismatchError",
    "ErasurePendingError",
    "Evidence",
    "ExtractionError",
    "Fact",
    "FactChange",
    "ForgetPreview",
    "HealthProblem",
    "HealthReport",
    "ImportResult",
    "InvalidFilterError",
    "InvalidInputError",
    "InvalidScopeError",
    "InvalidTimeError",
    "LTMError",
    "LongTermMemory",
    "MaintenanceReport",
    "Message",
    "MessageStatus",
    "MissingExtraError",
    "NotFoundError",
    "Observation",
    "Page",
    "Profile",
    "Recalled",
    "Receipt",
    "RefusedLine",
    "RelatedFact",
    "RestoreReport",
    "SchemaTooNewError",
    "Scope",
    "Session",
    "Stats",
    "StoreError",
    "StoredMessage",
    "UnavailableError",
    "acting",
    "current_scope",
    "scope",
]


def __getattr__(name: str) -> Any:
    # Config brings pydantic, which costs more to import than all the rest.
    if name == "Config":
        from ltm_core.config import Config

        return Config
    raise AttributeError(f"module 'ltm_core' has no attribute {name!r}")
