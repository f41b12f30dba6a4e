"""Summaries as lines of an export, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltm_core.errors import InvalidInputError
from ltm_core.keep.belief import NEEDS_TRUST
from ltm_core.keep.line_values import written
from ltm_core.keep.ready import ERASED, Ready, Vectors
from ltm_core.store.rows import SummaryLine, SummaryRow
from ltm_core.write.incoming.index import index_summary, summary_units
from ltm_core.write.incoming.redact import redact

if TYPE_CHECKING:
    from ltm_core.keep.erased import Erased
    from ltm_core.keep.lines import Line
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, Reader, Writer


def summary_line(row: SummaryRow) -> dict[str, Any]:
    """The summary in the form of the file; its turns by session and id."""
    values = {
        "id": row.id,
        "level": row.level,
        "begins": written(row.begins),
        "ends": written(row.ends),
        "timezone": row.timezone,
        "lines": [
            {
                "text": n.text,
                "on": n.on.isoformat(),
                "by": n.by,
                **({"speaker": n.speaker} if n.speaker else {}),
                "sources": list(n.sources),
            }
            for n in row.lines
        ],
        "topic": row.topic,
        "language": row.language,
        "made_by": row.made_by,
        "sources": [{"session": s.session_id, "message": s.message_id} for s in row.sources],
        "said_at": written(row.said_at),
        "recorded_at": written(row.recorded_at),
        "recallable_at": written(row.recallable_at),
        "expires_at": written(row.expires_at),
        "agent": row.agent_id,
        "task": row.task_id,
        "app": row.app_id,
    }
    return {"type": "summary", **{k: v for k, v in values.items() if v is not None}}


def summary_of(line: Line) -> SummaryRow:
    """The summary, its turns without items. InvalidInputError when a line rests on none of them."""
    v = line.values
    if v["ends"] <= v["begins"] or not v["sources"] or not v["lines"]:
        raise InvalidInputError("a summary of nothing")
    if any(not n.sources or max(n.sources) >= len(v["sources"]) for n in v["lines"]):
        raise InvalidInputError("a line that rests on no turn of the summary")
    return SummaryRow(
        id=v["id"],
        level=v["level"],
        begins=v["begins"],
        ends=v["ends"],
        timezone=v["timezone"],
        lines=v["lines"],
        topic=v["topic"],
        language=v["language"],
        made_by=v["made_by"],
        sources=v["sources"],
        said_at=v["said_at"],
        agent_id=v.get("agent"),
        task_id=v.get("task"),
        app_id=v.get("app"),
        recorded_at=v["recorded_at"],
        recallable_at=v.get("recallable_at"),
        expires_at=v.get("expires_at"),
    )


def summary_line_taken(
    runtime: Runtime,
    reader: Reader,
    line: Line,
    erased: Erased | None,
    new: dict[tuple[Any, ...], MessageRow | None],
    *,
    trust: bool,
) -> Ready | None:
    """The summary to write; None when it is known. InvalidInputError when it is not believed, was erased, or rests
    on a turn that is neither stored nor among those that come with it (``new``)."""
    row = summary_of(line)
    key = ("summary", row.id)
    if key in new or reader.summaries(ids=[row.id]):
        return None
    if not trust:
        raise InvalidInputError(NEEDS_TRUST)
    if erased is not None and erased.summary(row):
        raise InvalidInputError(ERASED)
    for s in _linked(row, reader).sources:
        if not s.item and ("message", s.session_id, s.message_id) not in new:
            raise InvalidInputError("a turn that the summary rests on is not there")
    new[key] = None
    if runtime.config.redact_pii:
        row = _masked(row)
    units = summary_units(row, config=runtime.config)

    def write(writer: Writer, vectors: Vectors) -> None:
        index_summary(writer, writer.add_summary(_linked(row, writer)), units, vectors)

    return Ready(kind="summary", key=key, write=write, texts=tuple(u.embed for u in units))


def _masked(row: SummaryRow) -> SummaryRow:
    """The summary without personal data."""

    def masked(line: SummaryLine) -> SummaryLine:
        return replace(line, text=redact(line.text)[0], speaker=redact(line.speaker)[0], by=redact(line.by)[0])

    lines = tuple(masked(n) for n in row.lines)
    return replace(row, lines=lines, topic=redact(row.topic)[0])


def _linked(row: SummaryRow, reader: Reader) -> SummaryRow:
    """The summary with the items of its turns in this store; 0 where there is none."""
    found = [reader.message(s.message_id, session_id=s.session_id) for s in row.sources]
    sources = tuple(replace(s, item=0 if m is None else m.item) for s, m in zip(row.sources, found, strict=True))
    return replace(row, sources=sources)


__all__ = ["summary_line", "summary_line_taken", "summary_of"]
