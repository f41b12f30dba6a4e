"""Which tables a store has, by which range a user is erased from each, and where words stand."""

from __future__ import annotations

ID_RANGE_TABLES = (
    "sessions",
    "messages",
    "chunks",
    "vectors",
    "second_vectors",
    "facts",
    "anchors",
    "documents",
    "document_units",
    "summaries",
    "cold_files",
    "cold_turns",
)
"""Erased by range of ``id``."""
FACT_RANGE_TABLES = ("fact_versions", "evidence")
"""Erased by range of ``fact``."""
SUMMARY_RANGE_TABLES = ("summary_sources",)
"""Erased by range of ``summary``."""
KEY_RANGE_TABLES = ("postings",)
"""Erased by range of ``key``."""
USER_NO_TABLES = ("slots", "changes", "jobs", "audit", "external_vectors", "user_keys", "users")
"""Erased by ``user_no``; the user's own row goes last."""
USER_TABLES = ID_RANGE_TABLES + FACT_RANGE_TABLES + SUMMARY_RANGE_TABLES + KEY_RANGE_TABLES + USER_NO_TABLES
STORE_TABLES = ("state", "meta", "embedders", "tombstones", "erasures", "ghosts", "receipts", "outbox")
"""Hold no content of any user: settings, keyed hashes, counts, and row numbers for external indexes."""

BODIES = (
    *((t, "body") for t in ("messages", "facts", "anchors", "slots", "evidence", "sessions", "changes", "documents")),
    ("documents", "path"),
    ("summaries", "body"),
    ("cold_files", "body"),
)
"""Where words of users stand, in envelopes."""
ENVELOPES = (*BODIES, *((t, "body") for t in ("fact_versions", "jobs", "audit", "users")))
"""Every column of `USER_TABLES` that holds an envelope: sealed under the user's data key in an encrypted store."""
_KEYS = {
    "slots": ("session", "name"),
    "evidence": ("fact", "ordinal"),
    "fact_versions": ("fact", "known_until"),
    "changes": ("at",),
    "audit": ("at",),
    "jobs": (),
    "users": ("user_no",),
}
"""What names a row for its envelope, where that is not ``id``: numbers that are known before a row is inserted."""


def place_of(table: str, column: str) -> tuple[str, tuple[str, ...]]:
    """(name, columns) of the place (`codec.Place`) to which the envelopes of this column are bound."""
    return table if column == "body" else f"{table}.{column}", _KEYS.get(table, ("id",))


VECTORS = (
    ("vectors", "vector", "codec"),
    ("second_vectors", "vector", "codec"),
    ("document_units", "vector", "codec"),
    ("document_units", "second_vector", "second_codec"),
)
"""Every column that holds a vector, and the one that says how."""
KEYED_COLUMNS = frozenset(
    {"id_mac", "message_mac", "content_mac", "superseded_by", "namespace", "key_mac", "user_mac", "terms", "wrapped"}
)
"""The other BLOB columns of `USER_TABLES`: keyed hashes, and wrapped keys."""
