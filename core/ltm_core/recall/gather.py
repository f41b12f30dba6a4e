"""The candidates of one question: what the index finds, what the question's relations name, what later changed.

Reads through a `Reader` in a handful of calls, whatever the size of the memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from ltm_core.recall.chains import earlier, latest
from ltm_core.recall.currency import Standing, standings, state
from ltm_core.recall.data import Floor, floor, weights
from ltm_core.recall.derived import derived
from ltm_core.recall.filters import Filter, matches, required
from ltm_core.recall.hits import Hit, best_hits
from ltm_core.recall.lexical import Lexical, lexical
from ltm_core.recall.question import Question
from ltm_core.recall.rank import Asked, Ranked, in_ranges, rank
from ltm_core.recall.records import fact_record, message_record, summary_record
from ltm_core.recall.request import RecallRequest
from ltm_core.recall.restated import Overtaken
from ltm_core.recall.structure import Structure, structure_of
from ltm_core.recall.succession import restatements
from ltm_core.store.base import OWNER_CODES, ROLE_CODES, MessageRow, Reader, Rows
from ltm_core.store.lookup import facts_by_item
from ltm_core.store.rows import SummaryRow
from ltm_core.store.times import to_us
from ltm_core.types import Fact, Tier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ltm_core.config import Config

LONG_QUESTION = 24
"""Terms of the topic from which a question is a stretch of dialogue: it names its topic only loosely."""
LOOSE = 0.5
"""Share of the floor that holds for such a question (MADial-Bench loses 5 to 8 points of recall at the full one)."""
_PAGE = 256
"""Owners fetched at a time while a metadata filter looks for enough of them."""


@dataclass(slots=True, kw_only=True)
class Found:
    """Candidates before they are scored as a whole."""

    facts: dict[str, tuple[Fact, Hit | None]] = field(default_factory=dict)
    messages: list[tuple[MessageRow, Hit]] = field(default_factory=list)
    summaries: list[tuple[SummaryRow, Hit]] = field(default_factory=list)
    terms: dict[str, frozenset[str]] = field(default_factory=dict)
    """The terms per message id."""
    standing: Mapping[str, Standing] = field(default_factory=dict)
    successors: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Message id to the ids of the messages that support what took its place."""
    restated: Mapping[str, Overtaken] = field(default_factory=dict)
    """Per message id what restates it with another value."""
    notes: list[str] = field(default_factory=list)


def gather(
    reader: Reader,
    request: RecallRequest,
    question: Question,
    *,
    config: Config,
    query_vector: NDArray[np.float32] | None,
    embedder_name: str,
    filters: Filter | None,
    excluded: frozenset[int],
    base: Floor | None = None,
) -> Found:
    """Everything that may answer ``question``, with its evidence; ``excluded`` are items of messages.

    ``base`` is the floor in force; None is the packaged one of the embedder.
    """
    found = Found()
    if not question.is_empty and not question.is_greeting:
        base = base or floor(embedder_name)
        hot = hot_since(request, question, config)
        _from_index(found, reader, request, question, config, query_vector, base, filters, excluded, hot)
        if hot is not None and len(found.messages) < config.hot_enough:
            _from_index(found, reader, request, question, config, query_vector, base, filters, excluded, None)
            found.notes.append(f"the last {config.hot_days:g} days were not enough: older turns were searched too")
    if "semantic" in request.tiers:
        _from_relations(found, reader, request, question, filters, config)
        _across_changes(found, reader, request, question)
    if found.messages or found.summaries:
        _what_changed(found, reader, request.now)
    return found


def hot_since(request: RecallRequest, question: Question, config: Config) -> datetime | None:
    """From when turns are searched at first, with `Config.tiers_by_age`; None: all at once, also where a time or the
    past is asked for."""
    asked = request.since or request.until or question.times or question.asks_past_state
    return None if asked or not config.tiers_by_age else request.now - timedelta(days=config.hot_days)


def _from_index(
    found: Found,
    reader: Reader,
    request: RecallRequest,
    question: Question,
    config: Config,
    query_vector: NDArray[np.float32] | None,
    base: Floor,
    filters: Filter | None,
    excluded: frozenset[int],
    hot: datetime | None,
) -> None:
    snapshot = reader.snapshot()
    rows = snapshot.rows
    if not len(rows.item):
        return
    structure = structure_of(rows)
    words = lexical(snapshot, structure, question.terms, question.identifiers)
    cosine = snapshot.cosine(query_vector) if query_vector is not None else None
    ranges = [(to_us(t.since), to_us(t.until)) for t in question.times]
    session = reader.label(request.scope.session_id)
    visible = _visible(reader, rows, request, filters, excluded)
    if hot is not None:
        visible &= (rows.kind != OWNER_CODES["message"]) | (rows.at >= to_us(hot))
    asked = Asked(
        visible=visible[structure.row],
        inside=in_ranges(structure.at, ranges) if ranges else None,
        only_time=bool(ranges) and not question.content,
        of_answers=question.of_answers,
        current_session=session,
        now=to_us(request.now),
    )
    least = _floor(base, config, request, loose=len(question.content) > LONG_QUESTION)

    def own(some: Collection[str]) -> Lexical:
        return lexical(snapshot, structure, [t for t in question.terms if t.term in some], ())

    ranked = rank(
        structure,
        words,
        cosine,
        asked,
        weights=weights(question.language),
        floor=least,
        config=config,
        parts=[own(hop) for hop in question.hops],
        asides=[own(aside) for aside in question.asides],
    )
    if ranges:
        found.notes.append("time read from the question: " + ", ".join(t.text for t in question.times))
    wanted: tuple[tuple[Tier, int], ...] = (
        ("episodic", max(config.episodic_candidates, request.top_k, request.candidates)),
        ("semantic", max(config.semantic_candidates, request.top_k, request.candidates)),
    )
    for tier, limit in wanted:
        if tier not in request.tiers:
            continue
        every = len(rows.item) if _needs_reading(filters) else limit
        kind = "message" if tier == "episodic" else "fact"
        hits = best_hits(rows, structure, ranked, words, cosine, kind=kind, limit=every)  # type: ignore[arg-type]
        if request.min_similarity is not None:
            hits = [h for h in hits if h.similarity is not None and h.similarity >= request.min_similarity]
        if tier == "episodic":
            found.messages = _read_messages(reader, hits, filters, limit)
            found.terms = {row.id: derived(row).terms for row, _ in found.messages}
            found.summaries = _summaries(reader, rows, structure, ranked, words, cosine, request, filters, config)
            found.restated = restatements(found.messages, found.terms, question, words.weights)
        else:
            for fact, hit in _read_facts(reader, hits, filters, limit):
                found.facts[fact.id] = (fact, hit)


def _summaries(
    reader: Reader,
    rows: Rows,
    structure: Structure,
    ranked: Ranked,
    words: Lexical,
    cosine: NDArray[np.float32] | None,
    request: RecallRequest,
    filters: Filter | None,
    config: Config,
) -> list[tuple[SummaryRow, Hit]]:
    """The summaries that may answer, best first; few users have any."""
    if not (structure.kind == OWNER_CODES["summary"]).any():
        return []
    hits = best_hits(
        rows, structure, ranked, words, cosine, kind="summary", limit=max(config.episodic_candidates, request.top_k)
    )
    if request.min_similarity is not None:
        hits = [h for h in hits if h.similarity is not None and h.similarity >= request.min_similarity]
    by_item = {s.item: s for s in reader.summaries(items=[h.item for h in hits])} if hits else {}
    return [
        (by_item[h.item], h) for h in hits if h.item in by_item and matches(filters, summary_record(by_item[h.item]))
    ]


def _floor(base: Floor, config: Config, request: RecallRequest, *, loose: bool) -> Floor:
    if loose:
        base = base.lowered(LOOSE)
    least = request.min_similarity if request.min_similarity is not None else config.min_similarity
    if least is None:
        return base
    mixed = base.mixed_similarity if least >= base.mixed_similarity else least
    return Floor(similarity=least, coverage=base.coverage, mixed_similarity=mixed, mixed_coverage=base.mixed_coverage)


def _visible(
    reader: Reader, rows: Rows, request: RecallRequest, filters: Filter | None, excluded: frozenset[int]
) -> NDArray[np.bool_]:
    """Rows that may be shown: alive, of the labels asked for, in the range, not held by the host."""
    visible = rows.expires > to_us(request.now)
    scope = request.scope
    for values, wanted in ((rows.agent, scope.agent_id), (rows.task, scope.task_id), (rows.app, scope.app_id)):
        if wanted is not None:
            visible &= (values == 0) | (values == reader.label(wanted))
    if excluded:
        visible &= ~(np.isin(rows.owner, list(excluded)) & (rows.kind == OWNER_CODES["message"]))
    if request.since is not None:
        visible &= rows.at >= to_us(request.since)
    if request.until is not None:
        visible &= rows.at < to_us(request.until)
    sessions = required(filters, "session_id")
    if sessions is not None:
        visible &= np.isin(rows.session, [reader.label(s) for s in sessions if isinstance(s, str)])
    roles = required(filters, "role")
    if roles is not None:
        visible &= np.isin(rows.role, [ROLE_CODES[r] for r in roles if r in ROLE_CODES])
    return visible


def _needs_reading(filters: Filter | None) -> bool:
    return bool(filters) and any(k not in ("session_id", "role") for k in filters or ())


def _pages(hits: Sequence[Hit], filters: Filter | None, limit: int) -> Iterable[Sequence[Hit]]:
    size = _PAGE if _needs_reading(filters) else limit
    for start in range(0, len(hits), max(1, size)):
        yield hits[start : start + size]


def _read_messages(
    reader: Reader, hits: Sequence[Hit], filters: Filter | None, limit: int
) -> list[tuple[MessageRow, Hit]]:
    out: list[tuple[MessageRow, Hit]] = []
    for page in _pages(hits, filters, limit):
        by_item = {r.item: r for r in reader.messages(items=[h.item for h in page])}
        for hit in page:
            row = by_item.get(hit.item)
            if row is not None and row.content.strip() and matches(filters, message_record(row)):
                out.append((row, hit))
        if len(out) >= limit:
            break
    return out[:limit]


def _read_facts(reader: Reader, hits: Sequence[Hit], filters: Filter | None, limit: int) -> list[tuple[Fact, Hit]]:
    out: list[tuple[Fact, Hit]] = []
    for page in _pages(hits, filters, limit):
        items = [h.item for h in page]
        facts = facts_by_item(reader, items)
        out += [(facts[h.item], h) for h in page if h.item in facts and matches(filters, fact_record(facts[h.item]))]
        if len(out) >= limit:
            break
    return out[:limit]


def labelled(fact: Fact | MessageRow, request: RecallRequest) -> bool:
    """Whether the labels of the request, where it has any, are its own or missing."""
    scope = request.scope
    pairs = ((fact.agent_id, scope.agent_id), (fact.task_id, scope.task_id), (fact.app_id, scope.app_id))
    return all(wanted is None or own in (None, wanted) for own, wanted in pairs)


def _in_time(fact: Fact, request: RecallRequest) -> bool:
    return (request.since is None or fact.valid_from >= request.since) and (
        request.until is None or fact.valid_from < request.until
    )


def _from_relations(
    found: Found,
    reader: Reader,
    request: RecallRequest,
    question: Question,
    filters: Filter | None,
    config: Config,
) -> None:
    """The newest current facts of the relations that are asked for, and what the user said about the assistant."""
    if request.min_similarity is not None:
        return
    slots = [("user", name) for name in question.relations if not name.endswith("*")]
    most = config.semantic_candidates
    facts: list[Fact] = []
    if slots:
        facts = reader.facts(slots=slots, current_at=request.now, newest_first=True, limit=most)
    facts += reader.facts(subject="assistant", current_at=request.now, newest_first=True, limit=most)
    for fact in facts:
        known = fact.id in found.facts or not labelled(fact, request) or not _in_time(fact, request)
        if not known and matches(filters, fact_record(fact)):
            found.facts[fact.id] = (fact, None)


def _across_changes(found: Found, reader: Reader, request: RecallRequest, question: Question) -> None:
    """A fact that no longer holds brings its successor; a question about an earlier state brings predecessors."""
    seen = list(found.facts.values())
    facts = [fact for fact, _ in seen]
    last = latest(reader, facts, now=request.now)
    before = earlier(reader, facts) if question.asks_past_state else {}
    for fact, hit in seen:
        successor = last[fact.id]
        if state(successor, request.now) == "current" and labelled(successor, request):
            found.facts.setdefault(successor.id, (successor, hit))
        for one in before.get(fact.id, ()):
            if labelled(one, request):
                found.facts.setdefault(one.id, (one, hit))


def _what_changed(found: Found, reader: Reader, now: datetime) -> None:
    """Which of the messages were overtaken, and by which messages."""
    told = {s.message_id for row, _ in found.summaries for s in row.sources}
    past = reader.facts(evidence_of=list(dict.fromkeys([*(r.id for r, _ in found.messages), *told])), past_at=now)
    if not past:
        return
    # Only a message that supports nothing current is overtaken.
    touched = sorted({m for f in past for m in f.source_message_ids})
    found.standing = standings([*past, *reader.facts(evidence_of=touched, current_at=now)], now)
    ids = {fact_id for s in found.standing.values() for fact_id in s.successors}
    if ids:
        sources = {f.id: f.source_message_ids for f in reader.facts(ids=sorted(ids))}
        for message_id, standing in found.standing.items():
            found.successors[message_id] = tuple(m for s in standing.successors for m in sources.get(s, ()))


__all__ = ["Found", "gather", "labelled"]
