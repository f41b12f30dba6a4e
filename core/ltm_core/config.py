"""Every number of the product, with its unit and its reason.

``Config`` is frozen. `Config.load` reads a TOML file and ``LTM_*`` environment variables; keyword arguments
win over the environment, the environment over the file.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, ValidationError, field_validator, model_validator

from ltm_core.config_consolidation import ConsolidationConfig
from ltm_core.config_keeping import KeepingConfig
from ltm_core.errors import ConfigError

ENV_PREFIX = "LTM_"


class Config(KeepingConfig, ConsolidationConfig):
    """Immutable settings of one open memory; unknown names are refused."""

    # store --------------------------------------------------------------------------------------------
    durability: Literal["process", "power"] = Field(
        "process",
        description='"process": a write survives the death of any process; "power": also a power cut '
        "(one disk flush per write).",
    )
    busy_timeout_seconds: float = Field(
        30.0, gt=0, le=600, description="How long a write waits for other writers before BusyError."
    )
    vector_cache_mb: int = Field(
        512,
        ge=1,
        description="Memory for cached vectors of all users together; 512 MB hold about eight users of "
        "30,000 chunks at 512 dimensions. The least recently used user goes first.",
    )
    postgres_connections: int = Field(
        16,
        ge=2,
        le=1000,
        description="Most connections of one process to PostgreSQL; a call that finds none free within "
        "busy_timeout_seconds raises BusyError.",
    )
    external_vectors_from: int = Field(
        100_000,
        ge=1,
        description="Chunks of one user from which an external index (vectors=) is asked; smaller users are searched "
        "exactly, which is faster: 7 ms at 30,000 chunks.",
    )
    external_candidates: int = Field(
        512,
        ge=10,
        le=10_000,
        description="Rows an external index names per question; their cosines are then computed exactly.",
    )
    pgvector_graph_from: int = Field(
        10_000,
        ge=1,
        description="Chunks of one user from which pgvector searches its graph (HNSW); it compares all vectors of "
        "smaller ones, which is as fast and misses none.",
    )
    allow_external_vectors: bool = Field(
        False,
        description="Whether an encrypted store may give its vectors to an external index, where they lie in plain.",
    )
    allow_network_filesystem: bool = Field(
        False, description="SQLite's locks are unreliable on network file systems; True takes that risk."
    )
    erase_wait_seconds: float = Field(
        5.0, ge=0, description="How long an erasure waits for open readers before it is left to maintain()."
    )

    # scope and input ----------------------------------------------------------------------------------
    timezone: str = Field("", description="IANA zone of users who have none; empty means UTC with one warning.")
    max_id_characters: int = Field(
        512, ge=16, le=4096, description="Longest id of a user, session or message; longer ones are refused."
    )
    max_metadata_bytes: int = Field(16_384, ge=0, description="Largest metadata of one item, as JSON in UTF-8.")
    max_message_characters: int = Field(
        1_000_000, ge=1000, description="Longest message; about 200,000 words. Longer ones are refused whole."
    )
    max_document_bytes: int = Field(
        1_000_000,
        ge=1000,
        description="Largest value of a document, as JSON in UTF-8: what fits into a message fits into a document.",
    )
    redact_pii: bool = Field(False, description="Mask phone, id card, bank card and email before anything is stored.")

    # working memory -----------------------------------------------------------------------------------
    window_turns: int = Field(
        6,
        ge=0,
        le=200,
        description="Turns (a user message and its answer) of the session that stay in the prompt.",
    )
    slot_ttl_seconds: float = Field(1800.0, gt=0, description="How long an entity slot lives when no time is given.")
    session_idle_seconds: float = Field(
        900.0,
        gt=0,
        description="A session in which nothing arrived for this long is closed by maintain() (15 minutes).",
    )

    # indexing -----------------------------------------------------------------------------------------
    chunk_tokens: int = Field(
        60,
        ge=8,
        le=512,
        description="Largest indexed unit. A fact among ten filler sentences falls from 0.70 to 0.01 cosine, "
        "so units are small.",
    )
    chunk_sentences: int = Field(3, ge=1, le=20, description="Most sentences in one indexed unit.")
    max_chunks_per_message: int = Field(
        64,
        ge=1,
        description="Units indexed of one message; the rest of a pasted file stays readable, unindexed.",
    )

    # write path ---------------------------------------------------------------------------------------
    fact_threshold: float = Field(
        0.6,
        ge=0,
        le=1,
        description="Gate probability from which a clause becomes a fact (5-fold calibration).",
    )
    doubt_threshold: float = Field(
        0.3,
        ge=0,
        le=1,
        description="Gate probability from which an extractor may read a clause: of 178 natural statements it then "
        "sees 162 (the rules keep 117), of 249 others 14.",
    )
    relation_threshold: float = Field(
        0.7, ge=0, le=1, description="A relation guessed below this never supersedes another fact."
    )
    duplicate_similarity: float = Field(
        0.92, ge=0, le=1, description="Cosine from which two facts of one subject and relation are one."
    )
    confirmations_from_tools: bool = Field(
        False, description="Keep a confirmed proposal even when it came from a tool or web result."
    )
    archive_doc_types: tuple[str, ...] = Field(
        ("meeting_notes", "minutes", "contract"),
        description="Messages of these doc_types are kept for the long term by maintain().",
    )
    archive_after_seconds: float = Field(
        3600.0, ge=0, description="Age at which maintain() promotes a message of an archived doc_type."
    )
    identifier_patterns: tuple[str, ...] = Field(
        (),
        description="Further identifier patterns, such as 'PRJ-\\d{4}' or '(?P<contract>K/\\d+)'. Only expressions "
        "that match in linear time are taken; a named group says what the identifier is of (order, contract, …).",
    )

    # recall -------------------------------------------------------------------------------------------
    max_tokens: int = Field(1200, ge=0, description="Context budget: five turns and three memories fit (row R12).")
    weight_relevance: float = Field(0.6, ge=0, le=1, description="Share of relevance in the score.")
    weight_importance: float = Field(0.25, ge=0, le=1, description="Share of importance in the score.")
    weight_recency: float = Field(0.15, ge=0, le=1, description="Share of recency in the score.")
    ranking_decay_per_day: float = Field(
        0.995, gt=0, le=1, description="Recency signal lost per day: 0.995 halves it in 138 days."
    )
    min_similarity: float | None = Field(
        None, ge=0, le=1, description="Floor on cosine; None takes the calibrated floor of the embedder."
    )
    working_share: float = Field(
        0.45, ge=0, le=1, description="Share of the budget that working memory may claim first."
    )
    semantic_share: float = Field(0.25, ge=0, le=1, description="Share of the budget that facts may claim first.")
    episodic_candidates: int = Field(
        32, ge=1, le=2000, description="Episodes that are ranked in full after the first cut."
    )
    semantic_candidates: int = Field(
        32, ge=1, le=2000, description="Facts that are ranked in full after the first cut."
    )
    context_episodes: int = Field(24, ge=0, le=500, description="Most episodes offered to the packer.")
    context_facts: int = Field(24, ge=0, le=500, description="Most facts offered to the packer.")

    rerank_candidates: int = Field(
        50, ge=2, le=1000, description="Best candidates that a reranker judges; its time grows with them (row R8)."
    )
    rerank_weight: float = Field(
        0.7,
        ge=0,
        le=1,
        description="Share of the reranker in the score of what it judged; the rest keeps recency, importance "
        "and role, which it does not see.",
    )
    rerank_characters: int = Field(
        1000,
        ge=50,
        description="Longest text handed to a reranker; cross-encoders read 512 tokens.",
    )
    rerank_seconds: float = Field(
        2.0, gt=0, le=600, description="How long recall waits for a reranker before it goes on without."
    )
    rewrite_queries: int = Field(
        3, ge=1, le=10, description="Most questions taken from a rewriter; each is one more search."
    )
    rewrite_seconds: float = Field(
        4.0, gt=0, le=600, description="How long recall waits for a rewriter before it goes on without."
    )

    recall_cache_entries: int = Field(
        128,
        ge=0,
        description="Results of recent recalls kept per process, about 40 kB each, for the same call made again; 0 "
        "keeps none. Any write or erasure of the user, in any process, makes them void.",
    )
    recall_cache_seconds: float = Field(
        30.0, ge=0, le=3600, description="How long such a result may be used: recency moves on with time."
    )

    aliases: tuple[str, ...] = Field(
        (), description="Further names of one thing, each group as invoice=bill=发票; the packaged ones stay."
    )

    # maintenance --------------------------------------------------------------------------------------
    maintenance_batch: int = Field(500, ge=1, le=10_000, description="Rows changed per short transaction.")
    audit_reads: bool = Field(
        False, description="Whether reads are in the audit log too; they are written down later, with other writes."
    )
    max_import_line_bytes: int = Field(
        8 * 1024 * 1024,
        ge=65_536,
        description="Longest line of an import (8 MB): a message of a million characters at 4 bytes each fits, with "
        "its metadata.",
    )
    telemetry: bool = Field(False, description="Spans for OpenTelemetry, without words (docs/telemetry.md).")
    job_attempts: int = Field(3, ge=1, le=20, description="Tries of a queued job before it becomes a dead letter.")
    job_retry_seconds: float = Field(60.0, ge=0, description="Wait before the second try; doubled each time.")
    job_lease_seconds: float = Field(
        900.0,
        gt=0,
        description="How long a claimed job belongs to its worker; longer than the slowest answer of a model. A job "
        "whose worker died is run by another after that.",
    )
    extract_in_background: bool = Field(
        True, description="An open memory with an extractor runs the queue in a thread; False leaves it to work()."
    )
    close_wait_seconds: float = Field(
        5.0,
        ge=0,
        description="How long close() waits for the extraction that runs; after that it is run again later.",
    )

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        if value:
            try:
                ZoneInfo(value)
            except (ZoneInfoNotFoundError, ValueError, OSError) as e:
                raise ValueError(f"{value!r} is not an IANA time zone such as 'Asia/Shanghai'") from e
        return value

    @model_validator(mode="after")
    def _shares_fit(self) -> Config:
        if self.working_share + self.semantic_share > 1:
            raise ValueError("working_share + semantic_share must not exceed 1")
        return self

    @classmethod
    def make(cls, **values: Any) -> Config:
        """A Config of these values; any refusal is a ConfigError that names the option."""
        try:
            return cls(**values)
        except ValidationError as e:
            raise ConfigError(_readable(e)) from e

    def replaced(self, **values: Any) -> Config:
        """The same settings with some replaced, checked again."""
        return type(self).make(**{**self.model_dump(), **values})

    @classmethod
    def load(cls, path: str | Path | None = None, **overrides: Any) -> Config:
        """Settings from a TOML file (given, or named by ``LTM_CONFIG``), the environment, and ``overrides``."""
        name = path or os.environ.get(f"{ENV_PREFIX}CONFIG")
        values: dict[str, Any] = {}
        if name:
            try:
                values.update(tomllib.loads(Path(name).read_text(encoding="utf-8")))
            except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
                raise ConfigError(f"configuration file {name} cannot be read: {e}") from e
        for field, info in cls.model_fields.items():
            raw = os.environ.get(f"{ENV_PREFIX}{field.upper()}")
            if raw is not None:
                many = str(info.annotation).startswith("tuple")
                values[field] = tuple(p for p in raw.split(",") if p) if many else raw
        values.update(overrides)
        return cls.make(**values)


def _readable(error: ValidationError) -> str:
    lines = []
    for e in error.errors():
        name = ".".join(str(p) for p in e["loc"]) or "config"
        hint = "no such option" if e["type"] == "extra_forbidden" else e["msg"]
        lines.append(f"{name}: {hint}")
    return "; ".join(lines)
