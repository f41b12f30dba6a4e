"""Changing by hand which facts hold: restore, suppress, unsuppress. (`keep.correct` takes back wrong ones.)"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.errors import ConflictError, NotFoundError
from ltm_core.keep.audit import note
from ltm_core.types import Fact, FactChange, Scope
from ltm_core.write.apply import apply_decisions, store_fact
from ltm_core.write.incoming.index import meaning_of
from ltm_core.write.known.rows import UNTOUCHED, closed
from ltm_core.write.plan import Decision

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader, Writer


def _get(reader: Reader, fact_id: str) -> Fact:
    fact = reader.fact(fact_id)
    if fact is None:
        raise NotFoundError(f"no fact {fact_id[:80]!r} for this user")
    return fact


def _others(runtime: Runtime, reader: Reader, fact: Fact, *, now: datetime) -> list[Fact]:
    """The other values of the fact's slot that were ever believed to hold; none when it may have several."""
    if not runtime.lexicon.is_single_valued(fact.relation) or not _is_value(fact):
        return []
    same = reader.facts(slots=[(fact.subject, fact.relation)])
    return [
        f
        for f in same
        if f.id != fact.id
        and f.speaker == fact.speaker
        and _is_value(f)
        and (f.expires_at is None or f.expires_at > now or f.valid_to is not None)
    ]


def _is_value(fact: Fact) -> bool:
    return fact.is_positive and fact.modality not in UNTOUCHED


def _holds(fact: Fact, *, now: datetime) -> bool:
    """Whether the fact is believed now or from some later day on, brought up or not."""
    if fact.retracted_at is not None or (fact.expires_at is not None and fact.expires_at <= now):
        return False
    if fact.valid_to is None:
        return fact.superseded_by is None
    return fact.valid_to > max(now, fact.valid_from)


def restore(runtime: Runtime, scope: Scope, fact_id: str, *, actor: str | None) -> FactChange:
    """The fact is current again; of a single-valued relation another value ends now, in its favour.

    Every instant keeps one value: where another one held since, the fact holds from now on, and the time it held
    before stays in its history as a row of its own.
    """
    now = runtime.now()
    with runtime.store.write(scope.user_id) as writer:
        fact = _get(writer, fact_id)
        if fact.is_current:
            raise ConflictError(f"fact {fact_id} is current already", [fact_id])
        others = [f for f in _others(runtime, writer, fact, now=now) if f.retracted_at is None]
        rivals = [f for f in others if _holds(f, now=now)]
        since = [f for f in others if f.valid_to is None or f.valid_to > max(f.valid_from, fact.valid_from)]
        back = replace(
            fact,
            valid_from=now if since else min(fact.valid_from, now),
            valid_to=None,
            retracted_at=None,
            suppressed_at=None,
            superseded_by=None,
            expires_at=None if fact.expires_at is not None and fact.expires_at <= now else fact.expires_at,
            last_seen_at=now,
            is_current=True,
        )
        if since:
            _keep_history(runtime, writer, fact)
        decisions = [Decision(op="restore", fact=back, previous=fact, reason="restored through the API")]
        decisions += _closed(rivals, at=now, by=fact_id, reason=f"fact {fact_id} was restored")
        changes = apply_decisions(writer, decisions, now=now, vectors={})
        note(writer, "restore", now=now, actor=actor, target=fact_id)
    return changes[0]


def _keep_history(runtime: Runtime, writer: Writer, fact: Fact) -> None:
    """The time the fact held before, as a row of its own."""
    if fact.retracted_at is not None or fact.valid_to is None or fact.valid_to <= fact.valid_from:
        return
    vectors = writer.fact_vectors([fact.id])
    row = replace(fact, id=runtime.new_id(), is_current=False)
    store_fact(writer, row, vectors={meaning_of(row): vectors[fact.id]} if fact.id in vectors else {})


def _closed(facts: Sequence[Fact], *, at: datetime, by: str, reason: str) -> list[Decision]:
    return [Decision(op="close", fact=closed(f, at=at, by=by), previous=f, reason=reason) for f in facts]


def set_suppressed(
    runtime: Runtime, scope: Scope, fact_id: str, *, suppressed: bool, actor: str | None
) -> FactChange:
    """The fact is kept and not brought up, or brought up again.

    Of two values that a single-valued slot then has, the one told later stays and the other one is closed.
    """
    now = runtime.now()
    with runtime.store.write(scope.user_id) as writer:
        fact = _get(writer, fact_id)
        after = replace(fact, suppressed_at=now if suppressed else None)
        after = replace(after, is_current=not suppressed and fact.valid_from <= now and _holds(after, now=now))
        rivals: list[Fact] = []
        if not suppressed and _holds(fact, now=now):
            rivals = [f for f in _others(runtime, writer, fact, now=now) if _holds(f, now=now)]
        newest = max([after, *rivals], key=_told)
        if newest.id != fact_id:
            after = closed(after, at=newest.valid_from, by=newest.id)
        decisions = [
            Decision(
                op="suppress" if suppressed else "unsuppress",
                fact=after,
                previous=fact,
                reason="asked through the API",
            )
        ]
        over = [f for f in rivals if f.id != newest.id]
        decisions += _closed(over, at=newest.valid_from, by=newest.id, reason=f"fact {fact_id} is brought up again")
        changes = apply_decisions(writer, decisions, now=now, vectors={})
        note(writer, decisions[0].op, now=now, actor=actor, target=fact_id)
    return changes[0]


def one_value(
    runtime: Runtime, reader: Reader, fact: Fact, *, now: datetime, besides: Container[str]
) -> list[Decision]:
    """What closes all but the value told last, when the fact has come into a single-valued slot that holds others;
    those whose ids are in ``besides`` came with it and have no say."""
    if not _holds(fact, now=now):
        return []
    rivals = [f for f in _others(runtime, reader, fact, now=now) if f.id not in besides and _holds(f, now=now)]
    if not rivals:
        return []
    newest = max([fact, *rivals], key=_told)
    over = [f for f in (fact, *rivals) if f.id != newest.id]
    return _closed(over, at=newest.valid_from, by=newest.id, reason=f"fact {newest.id} was told later")


def _told(fact: Fact) -> tuple[datetime, datetime]:
    return max(fact.valid_from, fact.last_seen_at), fact.recorded_at
