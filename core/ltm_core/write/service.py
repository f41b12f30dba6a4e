"""Observing: read what is needed, decide without I/O, embed outside the transaction, write all or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from ltm_core.keep.archive.forget import clean_asked
from ltm_core.keep.asked import Target, fulfil_requests, targets_of, words_meant
from ltm_core.keep.audit import note
from ltm_core.keep.consolidate.retire import bring_back
from ltm_core.keep.erase import settle
from ltm_core.keep.later import flush_of
from ltm_core.spans import stage
from ltm_core.store.base import MessageRow
from ltm_core.text.language import detect_language
from ltm_core.types import Anchor, FactChange, MessageStatus, Observation
from ltm_core.write.anchors.meant import told_fully
from ltm_core.write.apply import apply_decisions
from ltm_core.write.corrections.restated import OF_ASSISTANT
from ltm_core.write.corrections.restated import RULE as RESTATED
from ltm_core.write.corrections.righted import RULE as RIGHTED
from ltm_core.write.corrections.righted_zh import RULE as RIGHTED_ZH
from ltm_core.write.endings.comebacks import RULE as COMES_BACK
from ltm_core.write.endings.ends import RULE as ENDS
from ltm_core.write.endings.likely_news import RULE as OVERTAKES
from ltm_core.write.endings.returns import RULE as RETURNS
from ltm_core.write.endings.stages import RULE as STAGE
from ltm_core.write.endings.weighed import RULE as WEIGHED
from ltm_core.write.extraction import jobs_for
from ltm_core.write.incoming.batch import Batch, Prepared
from ltm_core.write.incoming.index import index_message
from ltm_core.write.incoming.intake import Incoming, masked
from ltm_core.write.incoming.redact import redact_value
from ltm_core.write.incoming.statuses import Judged, judge
from ltm_core.write.incoming.vectors import Vectors
from ltm_core.write.learn import Reached, learn, most_compared, reached, vectors_of
from ltm_core.write.plan import Decision
from ltm_core.write.prepare import prepare
from ltm_core.write.read.found import changed
from ltm_core.write.resolve.edits import Labelled, retract_for_edit

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Writer

_BESIDE_STORE = (OVERTAKES, ENDS, RESTATED, OF_ASSISTANT, RIGHTED, RIGHTED_ZH, RETURNS, COMES_BACK, STAGE, WEIGHED)
"""Rules of words whose anchors are only known beside the store."""


def observe(runtime: Runtime, batch: Batch) -> Observation:
    """The batch is stored: messages, their index, anchors and fact changes, in one transaction."""
    if not batch.messages:
        return Observation()
    now = runtime.now()
    session_id = batch.scope.session_id or ""
    if runtime.config.redact_pii:
        hidden = tuple(masked(m) for m in batch.messages)
        batch = replace(batch, messages=hidden, metadata=redact_value(batch.metadata))
    with stage("analyse", messages=len(batch.messages)), runtime.store.read(batch.scope.user_id) as reader:
        state = reader.user()
        if state is not None and state.paused_at is not None:
            return _paused(batch)
        zone = runtime.zone(batch.timezone, state.timezone if state else None)
        erasures = reader.erasures()[0]
        verdicts = judge(reader, session_id, batch.messages, now=now)
        vectors = Vectors(runtime)
        prepared = prepare(runtime, reader, batch, verdicts, vectors, now=now, zone=zone)
        stated = [c for p in prepared.values() for c in (*p.analysis.candidates, *p.analysis.news)]
        met = reached(reader, stated, now=now)
        vectors.know(vectors_of(reader, met.facts, most=most_compared(stated)))
        asking = {i: p.analysis.requests for i, p in prepared.items() if p.analysis.requests}
        # How near is near was measured with the embedder that the gate knows.
        comparable = asking and vectors.for_gate is not None
        meant = vectors.of(words_meant(r for rs in asking.values() for r in rs)) if comparable else {}
        targets = {i: targets_of(reader, requests, meant) for i, requests in asking.items()}
        seen_at = state.revision if state is not None else 0
    if not prepared:
        return Observation(
            messages=tuple(_unwritten(runtime, m, v) for m, v in zip(batch.messages, verdicts, strict=True))
        )
    vectors.of([c.text for c in stated])
    with runtime.store.write(batch.scope.user_id) as writer:
        state = writer.user()
        if state is not None and state.paused_at is not None:
            return _paused(batch)
        # What was looked up before still counts if nobody wrote since.
        same = state is not None and state.revision == seen_at
        looked_up = (targets, met) if same else ({}, None)
        asked: list[Target] = []
        seen = _write(
            runtime, writer, batch, prepared, vectors, looked_up, asked, now=now, zone=zone, erasures=erasures
        )
    if any(p.analysis.requests for p in prepared.values()):
        phrases = [t.traced.phrases for t in asked if t.request.mode == "erase"]
        if any(phrases):
            clean_asked(runtime, now=now, user_id=batch.scope.user_id, phrases=phrases)
        settle(runtime, batch.scope.user_id)
    if any(p.for_model for p in prepared.values()):
        runtime.wake()
    return seen


def _paused(batch: Batch) -> Observation:
    return Observation(skipped=tuple(f"message {i}: paused" for i in range(len(batch.messages))))


def _unwritten(runtime: Runtime, message: Incoming, verdict: Judged) -> MessageStatus:
    """The status of a message that is known already, or that was erased; an erased one without an id is named
    by a new one, under which nothing is stored."""
    id_ = verdict.stored.id if verdict.stored is not None else message.id or runtime.new_id()
    return MessageStatus(id=id_, status="duplicate" if verdict.fate == "duplicate" else "erased")


def _write(
    runtime: Runtime,
    writer: Writer,
    batch: Batch,
    prepared: dict[int, Prepared],
    vectors: Vectors,
    looked_up: tuple[Mapping[int, tuple[Target, ...]], Reached | None],
    asked: list[Target],
    *,
    now: datetime,
    zone: tzinfo,
    erasures: int,
) -> Observation:
    session_id = batch.scope.session_id or ""
    targets, met = looked_up
    # Others may have written since the look at the store: the verdict that counts is made here.
    verdicts = judge(writer, session_id, batch.messages, now=now, since=erasures)
    if any(v.fate in ("new", "edit") for v in verdicts):
        writer.ensure_user(now=now, timezone=batch.timezone)
    late = {i for i, v in enumerate(verdicts) if v.fate in ("new", "edit")} - prepared.keys()
    late |= {i for i, v in enumerate(verdicts) if v.stored and i in prepared and prepared[i].id != v.stored.id}
    if late:
        prepared |= {
            i: ready
            for i, ready in prepare(runtime, writer, batch, verdicts, vectors, now=now, zone=zone).items()
            if i in late
        }
    made = vectors.of(())
    statuses: list[MessageStatus] = []
    changes: list[FactChange] = []
    anchors: list[Anchor] = []
    skipped: list[str] = []
    to_read: list[tuple[int, bool]] = []
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
            bring_back(writer, config=runtime.config)
            changes += apply_decisions(writer, lost, now=now, vectors=made)
        else:
            writer.touch_session(session_id, at=ready.at, now=now)
            row = writer.add_message(
                _row(batch, ready, reply_to=message.reply_to or _answered(message, last_user), zone=zone, now=now)
            )
        index_message(writer, row, ready.units, made)
        if ready.for_model:
            to_read.append((row.item, ready.other))
        # What an edited turn says lasts as long as the turn.
        ttl = batch.ttl if row.expires_at is None else max(row.expires_at - now, timedelta(microseconds=1))
        told = replace(batch, ttl=ttl, doc_type=row.doc_type)
        known = None if changes else met
        learned = learn(runtime, writer, ready.analysis, batch=told, vectors=made, now=now, known=known)
        changes += learned
        given = ready.analysis.anchors
        found = [*given, *changed(learned, given, _BESIDE_STORE, row.content, added=(STAGE,))]
        for anchor in found:
            writer.add_anchor(anchor, session_id=session_id, at=row.at)
        anchors += [told_fully(a, ready.meanings) for a in found]
        if ready.analysis.requests:
            # Earlier messages of the batch may have told what this one asks to forget.
            named = None if changes else targets.get(index)
            named = targets_of(writer, ready.analysis.requests, made) if named is None else named
            asked += named
            changes += fulfil_requests(writer, named, config=runtime.config, now=now)
        skipped += [f"message {index} {s}" for s in ready.analysis.skipped]
        statuses.append(MessageStatus(id=ready.id, status="edited" if verdict.fate == "edit" else "stored"))
        last_user = ready.id if message.role == "user" else last_user
    _log(runtime, writer, statuses, changes, now=now)
    for job in jobs_for(batch.scope.user_id, to_read, now=now):
        writer.add_job(job)
    return Observation(
        messages=tuple(statuses), anchors=tuple(anchors), changes=tuple(changes), skipped=tuple(skipped)
    )


def _log(
    runtime: Runtime,
    writer: Writer,
    statuses: Sequence[MessageStatus],
    changes: Sequence[FactChange],
    *,
    now: datetime,
) -> None:
    """What was written is in the audit log; a call that changed nothing is not."""
    written = [m for m in statuses if m.status in ("stored", "edited")]
    if not written:
        return
    counts = {"messages": len(written), "changes": sum(c.op != "skip" for c in changes)}
    target = written[0].id if len(written) == 1 else None
    note(writer, "observe", now=now, target=target, counts={k: n for k, n in counts.items() if n})
    flush_of(runtime, writer)


def _answered(message: Incoming, last_user: str | None) -> str | None:
    return last_user if message.role == "assistant" else None


def _row(batch: Batch, ready: Prepared, *, reply_to: str | None, zone: tzinfo, now: datetime) -> MessageRow:
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
    writer: Writer, stored: MessageRow, ready: Prepared, batch: Batch, *, now: datetime
) -> tuple[MessageRow, tuple[Decision, ...]]:
    """The stored turn has the new words, and the metadata, doc_type and ttl that came with them, if any; facts
    that only the old words supported are retracted, and what they had changed is as before."""
    supported = writer.facts(evidence_of=[stored.id])
    ends = stored.expires_at if batch.ttl is None else now + batch.ttl
    row = replace(
        stored,
        content=ready.message.content,
        content_mac=b"",
        retired_at=None,
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
        labelled=Labelled(doc_type=batch.doc_type, expires_at=ends if batch.ttl else None, metadata=batch.metadata),
        replaced_by=writer.predecessors,
    )
    return row, lost
