"""What a store must be able to do. SQLite and PostgreSQL implement the same few protocols.

A store knows users, rows and transactions; it decides nothing. One `Reader` sees one user at one moment, one
`Writer` changes one user in one all-or-nothing transaction, and `Operations` is the only door that looks across
users (sweeps, jobs, statistics): it never returns the content of a memory.

Items: everything of one user (messages, facts, chunks, …) draws its number from one per-user counter, so an
item number is unique inside the user, grows with insertion and is never reused.
"""

from __future__ import annotations

from ltm_core.store.base.operations import Operations
from ltm_core.store.base.reading import Reader, RowReader, Snapshot
from ltm_core.store.base.records import (
    ACT_CODES,
    CHANGES_DROPPED,
    CONSOLIDATE_JOB,
    DROPPED,
    IMPORTANCE_CODES,
    OWNER_CODES,
    RESTORE_JOB,
    ROLE_CODES,
    SCRUB_JOB,
    ChunkWrite,
    DocumentRow,
    DocumentUnit,
    IndexFaults,
    Job,
    LogKind,
    MessageRow,
    Namespace,
    OwnerKind,
    Rows,
    SlotRow,
    TurnMark,
    UserState,
    VectorSets,
)
from ltm_core.store.base.store import Store, StoreFactory
from ltm_core.store.base.writing import Writer

__all__ = [
    "ACT_CODES",
    "CHANGES_DROPPED",
    "CONSOLIDATE_JOB",
    "DROPPED",
    "IMPORTANCE_CODES",
    "OWNER_CODES",
    "RESTORE_JOB",
    "ROLE_CODES",
    "SCRUB_JOB",
    "ChunkWrite",
    "DocumentRow",
    "DocumentUnit",
    "IndexFaults",
    "Job",
    "LogKind",
    "MessageRow",
    "Namespace",
    "Operations",
    "OwnerKind",
    "Reader",
    "RowReader",
    "Rows",
    "SlotRow",
    "Snapshot",
    "Store",
    "StoreFactory",
    "TurnMark",
    "UserState",
    "VectorSets",
    "Writer",
]
