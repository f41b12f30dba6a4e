"""Where a forgotten value still stands, and what is overwritten there.

`trace` looks with the index, outside any transaction; `overwrite_sources` acts inside one, on what was traced
and on everything written since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from ltm_core.keep.redaction import overlaps, overwrite, repeat_pattern
from ltm_core.store.base import OWNER_CODES
from ltm_core.text.terms import terms
from ltm_core.types import Fact
from ltm_core.write.index import message_units, with_vectors
from ltm_core.write.statuses import message_key

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.store.base import MessageRow, Reader, Writer

Sources: TypeAlias = Literal["redact", "delete", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The turns that may hold some of the phrases, up to the newest item seen."""

    phrases: tuple[str, ...]
    items: frozenset[int]
    seen_to: int


def phrases_of(facts: Sequence[Fact]) -> tuple[str, ...]:
    """What must not be readable any more once these facts are forgotten: their objects."""
    return tuple(dict.fromkeys(f.object.strip() for f in facts if f.object.strip()))


def trace(reader: Reader, phrases: Sequence[str]) -> Trace:
    """Turns whose index holds every term of a phrase. A superset: the words are compared when acting."""
    import numpy as np

    snapshot = reader.snapshot()
    rows = snapshot.rows
    found: set[int] = set()
    for phrase in phrases:
        wanted = list(dict.fromkeys(terms(phrase)))
        if not wanted or repeat_pattern(phrase) is None:
            continue
        owners: set[int] | None = None
        for indices, _ in snapshot.postings(wanted):
            of_messages = indices[rows.kind[indices] == OWNER_CODES["message"]]
            here = set(np.unique(rows.owner[of_messages]).tolist())
            owners = here if owners is None else owners & here
            if not owners:
                break
        found |= owners or set()
    seen = int(rows.owner.max()) if len(rows.owner) else 0
    return Trace(phrases=tuple(phrases), items=frozenset(found), seen_to=seen)


def overwrite_sources(
    writer: Writer,
    facts: Sequence[Fact],
    traced: Trace,
    *,
    sources: Sources,
    config: Config,
    now: datetime,
) -> dict[str, int]:
    """The evidence of the facts, and the repeats of their objects in any turn of the user, are gone.

    With "redact" the characters are overwritten and the turn is indexed anew (vectors follow); with "delete"
    the evidence turns go as a whole and repeats elsewhere are overwritten; with "keep" nothing happens. Turns
    that changed cannot be told again by a replay.
    """
    if sources == "keep" or not (facts or traced.phrases):
        return {}
    evidence: dict[str, list[tuple[int, int]]] = {}
    for fact in facts:
        for e in fact.evidence:
            evidence.setdefault(e.message_id, []).append((e.start, e.end))
    counts = {"messages_deleted": 0, "messages_redacted": 0}
    rows = {m.item: m for m in writer.messages(ids=sorted(evidence))} if evidence else {}
    rows |= {m.item: m for m in writer.messages(items=sorted(traced.items))} if traced.items else {}
    rows |= {m.item: m for m in writer.messages(after_item=traced.seen_to)}
    patterns = [p for p in (repeat_pattern(phrase) for phrase in traced.phrases) if p is not None]
    sessions = {f.session_id for f in facts}
    for row in rows.values():
        # A caller's id may name turns in several sessions; the fact knows which one it came from.
        own = evidence.get(row.id, []) if row.session_id in sessions or not row.has_caller_id else []
        spans = own + [m.span() for p in patterns for m in p.finditer(row.content)]
        if not spans:
            continue
        never_again(writer, [row], now=now)
        if own and sources == "delete":
            counts["messages_deleted"] += writer.delete_messages([row.item])
        else:
            _redact(writer, row, spans, config=config, now=now)
            counts["messages_redacted"] += 1
    return {k: v for k, v in counts.items() if v}


def forget_turns(writer: Writer, rows: Sequence[MessageRow], *, now: datetime) -> int:
    """The turns are gone and refused when they are told again."""
    never_again(writer, rows, now=now)
    return writer.delete_messages([r.item for r in rows]) if rows else 0


def never_again(writer: Writer, rows: Iterable[MessageRow], *, now: datetime) -> None:
    """What the turns said is refused when it is told again as it was; only keyed hashes remember it."""
    entries: list[tuple[str, str]] = []
    for row in rows:
        entries.append(("content", row.content))
        if row.has_caller_id:
            entries.append(("message", message_key(row.session_id, row.id)))
    if entries:
        writer.add_tombstones(entries, now=now)


def _redact(
    writer: Writer, row: MessageRow, spans: Sequence[tuple[int, int]], *, config: Config, now: datetime
) -> None:
    content = overwrite(row.content, spans)
    anchors = [a for a in writer.anchors([row.id]) if not overlaps((a.evidence.start, a.evidence.end), spans)]
    writer.update_message(replace(row, content=content, redacted_at=now))
    units = message_units(
        content,
        speaker=row.name or row.role,
        on=row.at.date(),
        named=row.name is not None,
        config=config,
    )
    writer.set_chunks(
        "message",
        row.item,
        with_vectors(units, {}),
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
    writer.drop_anchors(row.item)
    for anchor in anchors:
        writer.add_anchor(anchor, session_id=row.session_id, at=row.at)
