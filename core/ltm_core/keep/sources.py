"""Where a forgotten value still stands, and what is overwritten there.

`trace` looks, `overwrite_sources` acts inside a transaction, on what was traced and on everything written since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from ltm_core.keep.consolidate.retire import bring_back, drop_holding
from ltm_core.keep.documents import overwrite_documents
from ltm_core.keep.redaction import overlaps, overwrite, overwritten, patterns_of, spans_of
from ltm_core.types import Fact
from ltm_core.write.incoming.forgotten import phrase_entries
from ltm_core.write.incoming.index import index_message, row_units
from ltm_core.write.incoming.statuses import content_key, message_key, pair_key

if TYPE_CHECKING:
    import re

    from ltm_core.config import Config
    from ltm_core.store.base import MessageRow, Reader, SlotRow, Writer

Sources: TypeAlias = Literal["redact", "delete", "keep"]
_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The turns that hold one of the phrases, up to the newest item seen, and the facts that hold one in their
    metadata or tags."""

    phrases: tuple[str, ...]
    items: frozenset[int] = frozenset()
    fact_ids: tuple[str, ...] = ()
    seen_to: int = 0


NOTHING = Trace(phrases=())


def phrases_of(facts: Sequence[Fact]) -> tuple[str, ...]:
    """What must not be readable any more once these facts are forgotten: their objects."""
    return tuple(dict.fromkeys(f.object.strip() for f in facts if f.object.strip()))


def trace(reader: Reader, phrases: Sequence[str]) -> Trace:
    """Every turn in whose words, speaker's name or metadata one of the phrases stands.

    The turns are read and not looked up: the index does not know names and metadata, nor words that are broken
    by invisible characters.
    """
    patterns = patterns_of(phrases)
    found: set[int] = set()
    seen = 0
    while patterns and (page := reader.messages(after_item=seen, limit=_PAGE)):
        found |= {m.item for m in page if _holds(m, patterns)}
        seen = page[-1].item
    marked = tuple(f.id for f in reader.facts() if _cleaned(f, patterns) != f) if patterns else ()
    return Trace(phrases=tuple(phrases), items=frozenset(found), fact_ids=marked, seen_to=seen)


def _holds(row: MessageRow, patterns: Sequence[re.Pattern[str]]) -> bool:
    if spans_of(patterns, row.content) or (row.name and spans_of(patterns, row.name)):
        return True
    return bool(row.metadata) and overwritten(row.metadata, patterns) != row.metadata


def overwrite_sources(
    writer: Writer,
    facts: Sequence[Fact],
    traced: Trace,
    *,
    sources: Sources,
    config: Config,
    now: datetime,
) -> dict[str, int]:
    """The evidence of the facts, and the repeats of the phrases in any turn of the user, are gone.

    With "redact" the characters are overwritten and the turn is indexed anew (vectors follow); with "delete"
    the evidence turns go as a whole and repeats elsewhere are overwritten; with "keep" nothing happens. Names,
    metadata, slots and documents that hold a phrase lose it too; a summary that rests on a changed turn or holds a
    phrase is gone, and what is left of its turns is summarised again. Turns that changed cannot be told again by a
    replay, and a message that is on its way and holds a phrase is refused.
    """
    if sources == "keep" or not (facts or traced.phrases):
        return {}
    evidence: dict[str, list[tuple[int, int]]] = {}
    for fact in facts:
        for e in fact.evidence:
            evidence.setdefault(e.message_id, []).append((e.start, e.end))
    patterns = patterns_of(traced.phrases)
    rows = {m.item: m for m in writer.messages(ids=sorted(evidence))} if evidence else {}
    rows |= {m.item: m for m in writer.messages(items=sorted(traced.items))} if traced.items else {}
    rows |= {m.item: m for m in writer.messages(after_item=traced.seen_to)} if patterns else {}
    sessions = {f.session_id for f in facts}
    touched: list[tuple[MessageRow, list[tuple[int, int]], bool]] = []
    for row in rows.values():
        # A caller's id may name turns in several sessions; the fact knows which one it came from.
        own = evidence.get(row.id, []) if row.session_id in sessions or not row.has_caller_id else []
        if own or _holds(row, patterns):
            touched.append((row, own, bool(own) and sources == "delete"))
    never_again(writer, [row for row, _, _ in touched], now=now)
    writer.add_tombstones(phrase_entries(traced.phrases), now=now)
    going = [row for row, _, goes in touched if goes]
    counts = {"messages_deleted": _delete(writer, going)}
    for row, own, goes in touched:
        if not goes:
            spans = own + spans_of(patterns, row.content)
            _redact(writer, row, spans, patterns, config=config, now=now)
    counts["messages_redacted"] = len(touched) - len(going)
    counts["summaries"] = drop_holding(writer, patterns, config=config)
    bring_back(writer, config=config)
    counts["slots"] = writer.delete_slots(lambda slot: _slot_holds(slot, patterns))
    counts |= overwrite_documents(writer, patterns, config=config, now=now)
    return {k: v for k, v in counts.items() if v}


def clean_facts(writer: Writer, traced: Trace) -> None:
    """No metadata or tag of the traced facts that remain holds one of the phrases."""
    patterns = patterns_of(traced.phrases)
    for fact in writer.facts(ids=traced.fact_ids) if traced.fact_ids else ():
        writer.update_fact(_cleaned(fact, patterns))


def _cleaned(fact: Fact, patterns: Sequence[re.Pattern[str]]) -> Fact:
    if not (fact.metadata or fact.tags):
        return fact
    tags = tuple(t for t in fact.tags if not spans_of(patterns, t))
    return replace(fact, metadata=overwritten(fact.metadata, patterns), tags=tags)


def forget_turns(writer: Writer, rows: Sequence[MessageRow], *, now: datetime) -> int:
    """The turns are gone and refused when they are told again."""
    if not rows:
        return 0
    never_again(writer, rows, now=now)
    return _delete(writer, rows)


def _delete(writer: Writer, rows: Sequence[MessageRow]) -> int:
    writer.add_ghosts(rows)
    return writer.delete_messages([r.item for r in rows]) if rows else 0


def never_again(writer: Writer, rows: Iterable[MessageRow], *, now: datetime, neighbours: bool = True) -> None:
    """What the turns said is refused when it is told again as it was; only keyed hashes remember it.

    With ``neighbours`` what was said before and after each of them is looked up; without, the rows are whole
    sessions in their order.
    """
    entries: dict[tuple[str, str], None] = {}
    given = list(rows)
    for row in given:
        entries["content", content_key(row.content_mac)] = None
        if row.has_caller_id:
            entries["message", message_key(row.session_id, row.id)] = None
        if neighbours:
            beside = writer.neighbours(row.item)
            at = sum((m.at, m.sequence) < (row.at, row.sequence) for m in beside)
            entries |= _pairs([*beside[:at], row, *beside[at:]])
    if not neighbours:
        entries |= _pairs(sorted(given, key=lambda m: (m.session_id, m.at, m.sequence)))
    if entries:
        writer.add_tombstones(list(entries), now=now)


def _pairs(rows: Sequence[MessageRow]) -> dict[tuple[str, str], None]:
    return {
        ("pair", pair_key(a.content_mac, b.content_mac)): None
        for a, b in pairwise(rows)
        if a.session_id == b.session_id
    }


def _slot_holds(slot: SlotRow, patterns: Sequence[re.Pattern[str]]) -> bool:
    said = {slot.name: slot.value}
    return bool(patterns) and overwritten(said, patterns) != said


def blank(
    writer: Writer, row: MessageRow, *, config: Config, now: datetime, present: MessageRow | None = None
) -> None:
    """The turn keeps its place and says nothing any more, or what ``present`` still says."""
    said = replace(row, name=None, metadata={})
    spans = [(0, len(row.content))]
    if present is not None and present.redacted_at is not None:
        said = replace(row, content=present.content, name=present.name, metadata=present.metadata)
        spans = []
    writer.drop_anchors(row.item)
    _redact(writer, said, spans, (), config=config, now=now)


def _redact(
    writer: Writer,
    row: MessageRow,
    spans: Sequence[tuple[int, int]],
    patterns: Sequence[re.Pattern[str]],
    *,
    config: Config,
    now: datetime,
) -> None:
    content = overwrite(row.content, spans)
    here = writer.message_anchors([row.item]).get(row.item, [])
    anchors = [a for a in here if not overlaps((a.evidence.start, a.evidence.end), spans)]
    name = None if row.name and spans_of(patterns, row.name) else row.name
    row = replace(row, content=content, name=name, metadata=overwritten(row.metadata, patterns), redacted_at=now)
    writer.update_message(row)
    index_message(writer, row, row_units(row, config=config), {})
    writer.drop_anchors(row.item)
    for anchor in anchors:
        writer.add_anchor(anchor, session_id=row.session_id, at=row.at)
