"""Changing what is believed by hand: correct, restore, suppress."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.errors import ConflictError, InvalidInputError, NotFoundError
from ltm_core.keep.matching import facts_named
from ltm_core.text.normalize import clean, fold
from ltm_core.types import Fact, FactChange, Scope
from ltm_core.write.analyse import analyse
from ltm_core.write.apply import apply_decisions
from ltm_core.write.index import embed_texts
from ltm_core.write.plan import Candidate, Decision, Utterance
from ltm_core.write.redact import redact
from ltm_core.write.vectors import Vectors

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader


def _get(reader: Reader, fact_id: str) -> Fact:
    fact = reader.fact(fact_id)
    if fact is None:
        raise NotFoundError(f"no fact {fact_id[:80]!r} for this user")
    return fact


def correct(
    runtime: Runtime,
    scope: Scope,
    *,
    wrong: str | None,
    fact_id: str | None,
    right: str,
    at: datetime | None,
    actor: str | None,
) -> FactChange:
    """The wrong belief is retracted and ``right`` is believed instead; ``previous`` is the retracted row.

    ``right`` may be a sentence or a bare value ("Porto"); a bare value takes the wrong fact's relation.
    """
    if (wrong is None) == (fact_id is None):
        raise InvalidInputError("give exactly one of wrong= and fact_id=")
    words = clean(right).strip()
    if not words:
        raise InvalidInputError("right must not be blank")
    if runtime.config.redact_pii:
        words = redact(words)[0]
    now = runtime.now()
    with runtime.store.read(scope.user_id) as reader:
        false = _get(reader, fact_id) if fact_id is not None else _only(reader, wrong or "", now=now)
        state = reader.user()
        zone = runtime.zone(None, state.timezone if state else None)
    when = (at or now).astimezone(zone)
    truth = _true_fact(runtime, false, words, when=when, now=now)
    vectors = embed_texts(runtime, [truth.text])
    with runtime.store.write(scope.user_id) as writer:
        present = _get(writer, false.id)
        retracted = replace(present, retracted_at=now, superseded_by=truth.id, is_current=False)
        changes = apply_decisions(
            writer,
            [
                Decision(op="supersede", fact=truth, previous=retracted, reason="corrected through the API"),
            ],
            now=now,
            vectors=vectors,
        )
        writer.audit("correct", now=now, actor=actor, target=truth.id)
    return changes[0]


def _only(reader: Reader, wrong: str, *, now: datetime) -> Fact:
    found = facts_named(reader.facts(current_at=now), wrong)
    if not found:
        raise NotFoundError("no current fact of this user matches the words given as wrong=")
    if len(found) > 1:
        ids = [f.id for f in found]
        raise ConflictError(f"{len(found)} current facts match; name one by fact_id: {', '.join(ids[:10])}", ids)
    return found[0]


def _true_fact(runtime: Runtime, false: Fact, words: str, *, when: datetime, now: datetime) -> Fact:
    analysis = analyse(
        Utterance(message_id="", role="user", content=words, at=when),
        lexicon=runtime.lexicon,
        fact_threshold=runtime.config.fact_threshold,
        clause_vectors=Vectors(runtime).for_gate,
    )
    stated: Candidate | None = next(
        (c for c in analysis.candidates if c.relation == false.relation),
        analysis.candidates[0] if analysis.candidates else None,
    )
    # A correction says what was true all along: the time of the wrong belief stays.
    kept = replace(
        false,
        id=runtime.new_id(),
        object=words,
        object_normalized=fold(words),
        text=words,
        valid_from=min(false.valid_from, now),
        valid_to=None,
        recorded_at=now,
        last_seen_at=now,
        retracted_at=None,
        suppressed_at=None,
        superseded_by=None,
        support_count=1,
        access_count=0,
        evidence=(),
        source_message_ids=(),
        is_current=True,
        rule="correct",
    )
    if stated is None:
        # A bare value: say it in the words of the old statement, so that it reads by itself.
        told = (
            false.text.replace(false.object, words, 1) if false.object and false.object in false.text else words
        )
        return replace(kept, text=told)
    return replace(
        kept,
        subject=stated.subject,
        relation=stated.relation,
        object=stated.object,
        object_normalized=stated.object_normalized,
        text=stated.text,
        is_positive=stated.is_positive,
        is_about_user=stated.is_about_user,
        kind=stated.kind,
        modality=stated.modality,
    )


def restore(runtime: Runtime, scope: Scope, fact_id: str, *, actor: str | None) -> FactChange:
    """The fact is current again; a current fact of the same single-valued relation is closed in its favour."""
    now = runtime.now()
    with runtime.store.write(scope.user_id) as writer:
        fact = _get(writer, fact_id)
        if fact.is_current:
            raise ConflictError(f"fact {fact_id} is current already", [fact_id])
        back = replace(
            fact,
            valid_to=None,
            retracted_at=None,
            suppressed_at=None,
            superseded_by=None,
            expires_at=None if fact.expires_at is not None and fact.expires_at <= now else fact.expires_at,
            last_seen_at=now,
            is_current=True,
        )
        rivals: list[Fact] = []
        if runtime.lexicon.is_single_valued(fact.relation):
            same = writer.facts(slots=[(fact.subject, fact.relation)], current_at=now)
            rivals = [f for f in same if f.id != fact_id]
        decisions = [Decision(op="restore", fact=back, previous=fact, reason="restored through the API")]
        decisions += [
            Decision(
                op="close",
                fact=replace(r, valid_to=now, superseded_by=fact_id, is_current=False),
                previous=r,
                reason=f"fact {fact_id} was restored",
            )
            for r in rivals
        ]
        changes = apply_decisions(writer, decisions, now=now, vectors={})
        writer.audit("restore", now=now, actor=actor, target=fact_id)
    return changes[0]


def set_suppressed(
    runtime: Runtime, scope: Scope, fact_id: str, *, suppressed: bool, actor: str | None
) -> FactChange:
    """The fact is kept and not brought up, or brought up again."""
    now = runtime.now()
    with runtime.store.write(scope.user_id) as writer:
        fact = _get(writer, fact_id)
        after = replace(fact, suppressed_at=now if suppressed else None)
        op = Decision(
            op="suppress" if suppressed else "unsuppress",
            fact=after,
            previous=fact,
            reason="asked through the API",
        )
        changes = apply_decisions(writer, [op], now=now, vectors={})
        writer.audit(op.op, now=now, actor=actor, target=fact_id)
    return changes[0]
