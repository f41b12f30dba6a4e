"""Fills a store with memories through its writer. Vectors are random: the figures need rows, not meaning."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import numpy as np

from benchmarks.talk import sentences
from ltm_core.ids import new_uuid7
from ltm_core.memory import LongTermMemory
from ltm_core.store.base import ChunkWrite, MessageRow, Writer
from ltm_core.types import Evidence, Fact
from ltm_core.write.incoming.index import fact_unit, message_units

START = datetime(2024, 1, 1, tzinfo=UTC)
_PER_TRANSACTION = 500
_PER_SESSION = 40
FACT_EVERY = 10
"""One memory in ten is a fact, the others are turns."""


def vectors_like(rng: np.random.Generator, size: int, dimension: int, *, topics: int = 0) -> np.ndarray:
    """Unit vectors; with ``topics`` in so many weak clusters, the same ones whoever asks, as texts make them."""
    made = rng.standard_normal((size, dimension), dtype=np.float32)
    if topics:
        centres = np.random.default_rng(0).standard_normal((topics, dimension), dtype=np.float32)
        made += 0.6 * centres[rng.integers(topics, size=size)]
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def fill(memory: LongTermMemory, user_id: str, count: int, *, seed: int, topics: int = 0) -> None:
    """The user has ``count`` more memories, spread over the time since 2024; ``topics``: see `vectors_like`."""
    runtime = memory._runtime
    rng = np.random.default_rng(seed)
    source = sentences(seed)
    for start in range(0, count, _PER_TRANSACTION):
        size = min(_PER_TRANSACTION, count - start)
        vectors = vectors_like(rng, size, runtime.embedder.dimension, topics=topics)
        with runtime.store.write(user_id) as writer:
            writer.ensure_user(now=START)
            for offset, text in enumerate(islice(source, size)):
                number = start + offset
                at = START + timedelta(minutes=17 * number)
                if number % FACT_EVERY:
                    _turn(writer, memory, text, number, at, vectors[offset])
                else:
                    _fact(writer, user_id, text, number, at, vectors[offset])


def _turn(writer: Writer, memory: LongTermMemory, text: str, number: int, at: datetime, vector: np.ndarray) -> None:
    session = f"session-{number // _PER_SESSION}"
    writer.touch_session(session, at=at, now=at)
    row = writer.add_message(
        MessageRow(
            id=new_uuid7(), session_id=session, role="user", content=text, at=at, recorded_at=at, act="statement"
        )
    )
    units = message_units(text, speaker="user", on=at.date(), named=False, config=memory.config)
    chunks = [ChunkWrite(start=u.start, end=u.end, terms=u.terms, vector=vector) for u in units]
    writer.set_chunks("message", row.item, chunks, at=at, session_id=session)


def _fact(writer: Writer, user_id: str, text: str, number: int, at: datetime, vector: np.ndarray) -> None:
    fact = Fact(
        id=new_uuid7(),
        user_id=user_id,
        subject="user",
        relation=f"topic_{number % 97}",
        object=text[:40],
        object_normalized=text[:40].lower(),
        text=text,
        valid_from=at,
        recorded_at=at,
        last_seen_at=at,
        evidence=(Evidence(message_id=new_uuid7(), start=0, end=len(text)),),
    )
    unit = fact_unit(text)
    chunks = [ChunkWrite(start=0, end=len(text), terms=unit.terms, vector=vector)]
    writer.set_chunks("fact", writer.add_fact(fact), chunks, at=at)
