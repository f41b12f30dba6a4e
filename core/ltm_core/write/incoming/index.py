"""From words to what the store indexes: chunks with terms and vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from ltm_core.store.base import ChunkWrite
from ltm_core.text.chunks import chunk, embedded_text
from ltm_core.text.terms import terms
from ltm_core.text.tokens import estimate_tokens
from ltm_core.when import stored_zone

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.config import Config
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, Writer
    from ltm_core.store.rows import SummaryRow
    from ltm_core.types import Fact


TASK, PROCEDURE = "task:", "procedure"
"""How the subject of a procedure begins, and its relation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One chunk before it has a vector: its span, its counted terms, the text to embed."""

    start: int
    end: int
    terms: Mapping[str, int]
    embed: str


def message_units(content: str, *, speaker: str, on: date, named: bool, config: Config) -> tuple[Unit, ...]:
    """The indexed units of a turn. The speaker and the day go into the embedded text; a real name also counts
    as a term, so that "what did Ana say" finds her turns."""
    spans = chunk(
        content,
        max_tokens=config.chunk_tokens,
        max_sentences=config.chunk_sentences,
        max_chunks=config.max_chunks_per_message,
        count=estimate_tokens,
    )
    units = []
    for span in spans:
        text = content[span.start : span.end]
        counted = Counter(terms(f"{speaker} {text}" if named else text))
        embed = embedded_text(text, at=on, speaker=speaker)
        units.append(Unit(start=span.start, end=span.end, terms=counted, embed=embed))
    return tuple(units)


def row_units(row: MessageRow, *, config: Config) -> tuple[Unit, ...]:
    """The units of a stored turn, the same that it got when it came; none when a summary stands for it."""
    if row.retired_at is not None:
        return ()
    return message_units(
        row.content, speaker=row.name or row.role, on=day_of(row), named=row.name is not None, config=config
    )


def summary_units(row: SummaryRow, *, config: Config) -> tuple[Unit, ...]:
    """The units of a summary: one for each line, made like that of a turn, so that it is found as its turn was."""
    units = []
    for line, (start, end) in zip(row.lines, row.spans(), strict=True):
        named = line.by not in ("user", "assistant")
        counted = Counter(terms(f"{line.by} {line.text}" if named else line.text))
        embed = embedded_text(line.text, at=line.on, speaker=line.by)
        units.append(Unit(start=start, end=end, terms=counted, embed=embed))
    return tuple(units[: config.max_chunks_per_message])


def index_summary(
    writer: Writer, row: SummaryRow, units: Sequence[Unit], vectors: Mapping[str, NDArray[np.float32]]
) -> None:
    """The stored summary is found by exactly these units, under its own labels and in no session."""
    writer.set_chunks(
        "summary",
        row.item,
        with_vectors(units, vectors),
        at=row.said_at,
        agent_id=row.agent_id,
        task_id=row.task_id,
        app_id=row.app_id,
        role=row.role,
        act="other",
        expires_at=row.expires_at,
    )


def day_of(row: MessageRow) -> date:
    """The day of the turn where its user was."""
    return row.at.astimezone(stored_zone(row.timezone)).date()


def fact_unit(text: str, *, extra: str = "", embed: str | None = None) -> Unit:
    """The single unit of a fact: its own words embedded as they are, or ``embed`` in their place, with ``extra`` (an
    identifier, a subject) counted among the terms."""
    counted = Counter(terms(f"{text} {extra}" if extra else text))
    return Unit(start=0, end=len(text), terms=counted, embed=text if embed is None else embed)


def meaning_of(fact: Fact) -> str:
    """What of a fact is embedded: its text; of a procedure its task alone, as the steps would drown it."""
    if fact.kind == "procedure" and fact.subject.startswith(TASK):
        return fact.subject.removeprefix(TASK)
    return fact.text


def with_vectors(units: Sequence[Unit], vectors: Mapping[str, NDArray[np.float32]]) -> tuple[ChunkWrite, ...]:
    """The rows to write; a unit whose text has no vector yet gets it from ``maintain``."""
    return tuple(ChunkWrite(start=u.start, end=u.end, terms=u.terms, vector=vectors.get(u.embed)) for u in units)


def index_message(
    writer: Writer, row: MessageRow, units: Sequence[Unit], vectors: Mapping[str, NDArray[np.float32]]
) -> None:
    """The stored turn is found by exactly these units, under its own labels."""
    writer.set_chunks(
        "message",
        row.item,
        with_vectors(units, vectors),
        at=row.at,
        session_id=row.session_id,
        agent_id=row.agent_id,
        task_id=row.task_id,
        app_id=row.app_id,
        role=row.role,
        act=row.act,
        importance=row.importance,
        expires_at=row.expires_at,
    )


def embed_texts(runtime: Runtime, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """One vector per distinct text; empty when there is no embedder or it is down."""
    distinct = list(dict.fromkeys(texts))
    matrix = runtime.embed(distinct)
    return {} if matrix is None else {t: matrix[i] for i, t in enumerate(distinct)}


__all__ = [
    "PROCEDURE",
    "TASK",
    "Unit",
    "day_of",
    "embed_texts",
    "fact_unit",
    "index_message",
    "index_summary",
    "meaning_of",
    "message_units",
    "row_units",
    "summary_units",
    "with_vectors",
]
