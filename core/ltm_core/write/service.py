"""Observing: read what is needed, decide without I/O, embed outside the transaction, write all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from ltm_core.keep.asked import Target, fulfil_requests, targets_of
from ltm_core.keep.erase import settle
from ltm_core.text.language import detect_language
from ltm_core.types import Anchor, Fact, FactChange, MessageStatus, Observation, Scope
from ltm_core.write.analyse import analyse
from ltm_core.write.apply import apply_decisions
from ltm_core.write.beside import beside_current
from ltm_core.write.edits import Labelled
from ltm_core.write.index import Unit, message_units, with_vectors
from ltm_core.write.intake import Incoming, masked
from ltm_core.write.lexicon import default_lexicon
from ltm_core.write.plan import Analysis, Candidate, Decision, Turn, Utterance
from ltm_core.write.redact import redact_value
from ltm_core.write.resolve import resolve, retract_for_edit
from ltm_core.write.rows import ending
from ltm_core.write.statuses import Judged, judge
from ltm_core.write.vectors import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, Reader, Writer

_MOST_CANDIDATES = 64
"""Facts that one message may state: a pasted document is read as an episode, not as a list of facts."""
_BEFORE = 12
"""Stored turns an utterance is read against: a confirmation looks back at most a few exchanges."""
_MOST_COMPARED = 32
"""Current facts whose meaning is compared with a new one's: the newest of those in reach."""
_MOST_ENTITIES = 64
"""Identifiers of earlier sessions that "the order I told you about" may mean: the newest."""
_IDENTIFIER_RELATIONS = ("identifier", "order", "contract", "quote", "ticket", "parcel", "invoice")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One call of ``observe``, checked."""

    scope: Scope
    messages: tuple[Incoming, ...]
    timezone: str | None = None
    doc_type: str | None = None
    ttl: timedelta | None = None
    metadata: Mapping[str, Any]
    me: str | None = None


@dataclass(slots=True, kw_only=True)
class _Prepared:
    """A message with everything that does not depend on other writers."""

    message: Incoming
    id: str
    analysis: Analysis
    units: tuple[Unit, ...]
    at: datetime


def observe(runtime: Runtime, batch: Batch) -> Observation:
    """The batch is stored: messages, their index, anchors and fact changes, in one transaction."""
    if not batch.messages:
        return Observation()
    now = runtime.now()
    session_id = batch.scope.session_id or ""
    if runtime.config.redact_pii:
        hidden = tuple(masked(m) for m in batch.messages)
        batch = replace(batch, messages=hidden, metadata=redact_value(batch.metadata))
    with runtime.store.read(batch.scope.user_id) as reader:
        state = reader.user()
        if state is not None and state.paused_at is not None:
            return _paused(batch)
        zone = runtime.zone(batch.timezone, state.timezone if state else None)
        erasures = reader.erasures()[0]
        verdicts = judge(reader, session_id, batch.messages, now=now)
        vectors = Vectors(runtime)
        prepared = _prepare(runtime, reader, batch, verdicts, vectors, now=now, zone=zone)
        vectors.know(_stored_vectors(reader, prepared, now=now))
        targets = {i: targets_of(reader, p.analysis.requests) for i, p in prepared.items() if p.analysis.requests}
        seen_at = state.revision if state is not None else 0
    if not prepared:
        return Observation(
            messages=tuple(_unwritten(runtime, m, v) for m, v in zip(batch.messages, verdicts, strict=True))
        )
    vectors.of([c.text for p in prepared.values() for c in p.analysis.candidates])
    with runtime.store.write(batch.scope.user_id) as writer:
        state = writer.user()
        if state is not None and state.paused_at is not None:
            return _paused(batch)
        # What a request names was looked up before; it still counts if nobody wrote since.
        known = targets if state is not None and state.revision == seen_at else {}
        seen = _write(runtime, writer, batch, prepared, vectors, known, now=now, zone=zone, erasures=erasures)
    if any(p.analysis.requests for p in prepared.values()):
        settle(runtime, batch.scope.user_id)
    return seen


def _paused(batch: Batch) -> Observation:
    return Observation(skipped=tuple(f"message {i}: paused" for i in range(len(batch.messages))))


def _unwritten(runtime: Runtime, message: Incoming, verdict: Judged) -> MessageStatus:
    """The status of a message that is known already, or that was erased; an erased one without an id is named
    by a new one, under which nothing is stored."""
    id_ = verdict.stored.id if verdict.stored is not None else message.id or runtime.new_id()
    return MessageStatus(id=id_, status="duplicate" if verdict.fate == "duplicate" else "erased")


def _prepare(
    runtime: Runtime,
    reader: Reader,
    batch: Batch,
    verdicts: Sequence[Judged],
    vectors: Vectors,
    *,
    now: datetime,
    zone: tzinfo,
) -> dict[int, _Prepared]:
    """Analysis and units of every message that will be written, by its place in the batch."""
    if not any(v.fate in ("new", "edit") for v in verdicts):
        return {}
    tail = reader.messages(session_id=batch.scope.session_id, newest_first=True, limit=_BEFORE)[::-1]
    turns = _turns(tail)
    known = _known_entities(reader, batch.scope.session_id)
    prepared: dict[int, _Prepared] = {}
    for index, (message, verdict) in enumerate(zip(batch.messages, verdicts, strict=True)):
        if verdict.fate not in ("new", "edit"):
            continue
        stored = verdict.stored
        id_ = stored.id if stored is not None else message.id or runtime.new_id()
        at = message.at or (stored.at if stored is not None else now)
        before = [t for t in turns if t.id != id_][-_BEFORE:]
        prepared[index] = prepare_message(
            runtime, message, vectors, id=id_, at=at, zone=zone, before=before, known=known, batch=batch
        )
        turns.append(
            Turn(
                id=id_, role=message.role, content=message.content, from_tool=_rests_on_tool(turns, message.role)
            )
        )
    return prepared


def prepare_message(
    runtime: Runtime,
    message: Incoming,
    vectors: Vectors,
    *,
    id: str,
    at: datetime,
    zone: tzinfo,
    before: Sequence[Turn],
    known: Sequence[str],
    batch: Batch,
) -> _Prepared:
    config = runtime.config
    local = at.astimezone(zone)
    utterance = Utterance(
        message_id=id,
        role=message.role,
        content=message.content,
        at=local,
        name=message.name,
        me=batch.me,
        doc_type=batch.doc_type,
        before=tuple(before),
        known_entities=tuple(known),
    )
    units = message_units(
        message.content,
        speaker=message.name or message.role,
        on=local.date(),
        named=message.name is not None,
        config=config,
    )
    vectors.expect([u.embed for u in units])
    analysis = analyse(
        utterance,
        lexicon=runtime.lexicon,
        fact_threshold=config.fact_threshold,
        identifier_patterns=config.identifier_patterns,
        confirmations_from_tools=config.confirmations_from_tools,
        clause_vectors=vectors.for_gate,
    )
    extra = len(analysis.candidates) - _MOST_CANDIDATES
    if extra > 0:
        analysis = replace(
            analysis,
            candidates=analysis.candidates[:_MOST_CANDIDATES],
            skipped=(*analysis.skipped, f"0-{len(message.content)}:{extra} statements beyond {_MOST_CANDIDATES}"),
        )
    return _Prepared(message=message, id=id, analysis=analysis, units=units, at=at)


def _turns(rows: Iterable[MessageRow]) -> list[Turn]:
    turns: list[Turn] = []
    for row in rows:
        turns.append(
            Turn(id=row.id, role=row.role, content=row.content, from_tool=_rests_on_tool(turns, row.role))
        )
    return turns


def _rests_on_tool(turns: Sequence[Turn], role: str) -> bool:
    """An answer given right after a tool's result repeats what the tool said."""
    if role != "assistant":
        return role == "tool"
    for turn in reversed(turns):
        if turn.role == "user":
            return False
        if turn.role == "tool":
            return True
    return False


def _known_entities(reader: Reader, session_id: str | None) -> tuple[str, ...]:
    facts = reader.facts(
        slots=[("user", r) for r in _IDENTIFIER_RELATIONS], newest_first=True, limit=_MOST_ENTITIES
    )
    return tuple(dict.fromkeys(f.object for f in facts if f.session_id != session_id))


def _stored_vectors(
    reader: Reader, prepared: Mapping[int, _Prepared], *, now: datetime
) -> Mapping[str, NDArray[np.float32]]:
    """Vectors of the current facts that the candidates may meet, by their text, as the store holds them."""
    candidates = [c for p in prepared.values() for c in p.analysis.candidates]
    near = current_in_reach(reader, candidates, now=now)[-_MOST_COMPARED:]
    by_id = reader.fact_vectors([f.id for f in near])
    return {f.text: by_id[f.id] for f in near if f.id in by_id}


def current_in_reach(reader: Reader, candidates: Sequence[Candidate], *, now: datetime) -> list[Fact]:
    """The current facts these candidates may touch, oldest first.

    A plain statement meets its slot, the newest of its family of relations, and what is known of the same
    thing; words that end or correct something meet everything known of their subject.
    """
    found: dict[str, Fact] = {}
    plain = [c for c in candidates if not _reaches_far(c)]
    subjects = dict.fromkeys(c.subject for c in candidates if _reaches_far(c))
    for subject in subjects:
        found.update((f.id, f) for f in reader.facts(subject=subject, current_at=now))
    single = [(c.subject, c.relation) for c in plain if c.single_valued and c.subject not in subjects]
    if single:
        found.update((f.id, f) for f in reader.facts(slots=single, current_at=now))
    lexicon = default_lexicon()
    for c in plain:
        if c.subject in subjects:
            continue
        slots = [(c.subject, r) for r in lexicon.family_of(c.relation)]
        near = reader.facts(slots=slots, current_at=now, newest_first=True, limit=_MOST_COMPARED)
        near += reader.facts(subject=c.subject, objects=[c.object_normalized], current_at=now)
        found.update((f.id, f) for f in near)
    return sorted(found.values(), key=lambda f: (f.recorded_at, f.id))


def _reaches_far(c: Candidate) -> bool:
    """Whether the words may end or correct a fact that only its content tells."""
    return (
        c.reach != "slot" or bool(c.wrong_object) or not c.is_positive or c.move in ("cease", "revert", "correct")
    )


def similarity_of(vectors: Mapping[str, NDArray[np.float32]]) -> Any:
    """Cosine of two texts that were embedded together; 0 where a vector is missing."""

    def similarity(a: str, b: str) -> float:
        left, right = vectors.get(a), vectors.get(b)
        return 0.0 if left is None or right is None else max(0.0, float(left @ right))

    return similarity


def _write(
    runtime: Runtime,
    writer: Writer,
    batch: Batch,
    prepared: dict[int, _Prepared],
    vectors: Vectors,
    targets: Mapping[int, tuple[Target, ...]],
    *,
    now: datetime,
    zone: tzinfo,
    erasures: int,
) -> Observation:
    session_id = batch.scope.session_id or ""
    # Others may have written since the look at the store: the verdict that counts is made here.
    verdicts = judge(writer, session_id, batch.messages, now=now, since=erasures)
    if any(v.fate in ("new", "edit") for v in verdicts):
        writer.ensure_user(now=now, timezone=batch.timezone)
    late = {i for i, v in enumerate(verdicts) if v.fate in ("new", "edit")} - prepared.keys()
    late |= {i for i, v in enumerate(verdicts) if v.stored and i in prepared and prepared[i].id != v.stored.id}
    if late:
        prepared |= {
            i: ready
            for i, ready in _prepare(runtime, writer, batch, verdicts, vectors, now=now, zone=zone).items()
            if i in late
        }
    made = vectors.of(())
    statuses: list[MessageStatus] = []
    changes: list[FactChange] = []
    anchors: list[Anchor] = []
    skipped: list[str] = []
    last_user: str | None = None
    for index, (message, verdict) in enumerate(zip(batch.messages, verdicts, strict=True)):
        if verdict.fate == "duplicate" or verdict.fate == "erased":
            statuses.append(_unwritten(runtime, message, verdict))
            if message.role == "user":
                there = verdict.stored is not None or verdict.fate == "duplicate"
                last_user = statuses[-1].id if there else None
            continue
        ready = prepared[index]
        stored = verdict.stored
        if verdict.fate == "edit" and stored is None:
            stored = writer.message(ready.id, session_id=session_id)
        if stored is not None:
            row, lost = _edit(writer, stored, ready, batch, now=now)
            changes += apply_decisions(writer, lost, now=now, vectors=made)
        else:
            writer.touch_session(session_id, at=ready.at, now=now)
            row = writer.add_message(
                _row(batch, ready, reply_to=message.reply_to or _answered(message, last_user), zone=zone, now=now)
            )
        writer.set_chunks(
            "message",
            row.item,
            with_vectors(ready.units, made),
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
        for anchor in ready.analysis.anchors:
            writer.add_anchor(anchor, session_id=session_id, at=row.at)
        anchors += ready.analysis.anchors
        # What an edited turn says lasts as long as the turn.
        ttl = batch.ttl if row.expires_at is None else max(row.expires_at - now, timedelta(microseconds=1))
        told = replace(batch, ttl=ttl, doc_type=row.doc_type)
        changes += learn(runtime, writer, ready.analysis, batch=told, vectors=made, now=now)
        if ready.analysis.requests:
            # Earlier messages of the batch may have told what this one asks to forget.
            named = None if changes else targets.get(index)
            changes += fulfil_requests(
                writer,
                targets_of(writer, ready.analysis.requests) if named is None else named,
                config=runtime.config,
                now=now,
            )
        skipped += [f"message {index} {s}" for s in ready.analysis.skipped]
        statuses.append(MessageStatus(id=ready.id, status="edited" if verdict.fate == "edit" else "stored"))
        last_user = ready.id if message.role == "user" else last_user
    return Observation(
        messages=tuple(statuses), anchors=tuple(anchors), changes=tuple(changes), skipped=tuple(skipped)
    )


def learn(
    runtime: Runtime,
    writer: Writer,
    analysis: Analysis,
    *,
    batch: Batch,
    vectors: Mapping[str, NDArray[np.float32]],
    now: datetime,
) -> tuple[FactChange, ...]:
    """The candidates meet what is known at this moment, and the outcome is stored."""
    if not analysis.candidates:
        return ()
    scope = batch.scope
    candidates = [ending(c, None if batch.ttl is None else now + batch.ttl) for c in analysis.candidates]
    current = current_in_reach(writer, candidates, now=now)
    decisions = resolve(
        candidates,
        current,
        beside=beside_current(writer, candidates, current, now=now),
        user_id=scope.user_id,
        session_id=scope.session_id,
        agent_id=scope.agent_id,
        task_id=scope.task_id,
        app_id=scope.app_id,
        now=now,
        new_id=runtime.new_id,
        lexicon=runtime.lexicon,
        similarity=similarity_of(vectors),
        relation_threshold=runtime.config.relation_threshold,
        duplicate_similarity=runtime.config.duplicate_similarity,
    )
    extra = {"metadata": dict(batch.metadata)} if batch.metadata else {}
    decisions = tuple(
        _labelled(d, doc_type=batch.doc_type, **extra) if d.op in ("add", "supersede") else d for d in decisions
    )
    return apply_decisions(writer, decisions, now=now, vectors=vectors)


def _labelled(decision: Decision, *, doc_type: str | None, **extra: Any) -> Decision:
    fact = decision.fact
    return replace(decision, fact=replace(fact, doc_type=doc_type or fact.doc_type, **extra))


def _answered(message: Incoming, last_user: str | None) -> str | None:
    return last_user if message.role == "assistant" else None


def _row(batch: Batch, ready: _Prepared, *, reply_to: str | None, zone: tzinfo, now: datetime) -> MessageRow:
    from ltm_core.store.base import MessageRow

    message, scope = ready.message, batch.scope
    return MessageRow(
        id=ready.id,
        has_caller_id=message.id is not None,
        session_id=scope.session_id or "",
        role=message.role,
        name=message.name,
        content=message.content,
        at=ready.at,
        timezone=str(zone),
        recorded_at=now,
        act=ready.analysis.act,
        language=detect_language(message.content),
        importance=ready.analysis.importance,
        reply_to=reply_to,
        agent_id=scope.agent_id,
        task_id=scope.task_id,
        app_id=scope.app_id,
        doc_type=batch.doc_type,
        expires_at=None if batch.ttl is None else now + batch.ttl,
        metadata={**batch.metadata, **message.metadata},
    )


def _edit(
    writer: Writer, stored: MessageRow, ready: _Prepared, batch: Batch, *, now: datetime
) -> tuple[MessageRow, tuple[Decision, ...]]:
    """The stored turn has the new words, and the metadata, doc_type and ttl that came with them, if any; facts
    that only the old words supported are retracted, and what they had changed is as before."""
    supported = writer.facts(evidence_of=[stored.id])
    ends = stored.expires_at if batch.ttl is None else now + batch.ttl
    row = replace(
        stored,
        content=ready.message.content,
        content_mac=b"",
        act=ready.analysis.act,
        language=detect_language(ready.message.content),
        importance=ready.analysis.importance,
        metadata={**batch.metadata, **ready.message.metadata} or stored.metadata,
        doc_type=batch.doc_type or stored.doc_type,
        expires_at=ends,
    )
    writer.update_message(row)
    lost = retract_for_edit(
        supported,
        message_id=stored.id,
        now=now,
        new_content=row.content,
        labelled=Labelled(
            doc_type=batch.doc_type, expires_at=ends if batch.ttl else None, metadata=batch.metadata
        ),
        replaced_by=writer.superseded_by,
    )
    return row, lost
