"""Rows as they must be afterwards: a new fact of a candidate, a reinforced, closed or retracted one."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ltm_core.types import Fact, Scope
from ltm_core.write.plan import Candidate

UNTOUCHED = ("past", "temporary")
"""Modalities of what was told as over or passing from the start: it holds no slot and nothing replaces it."""
RANK = {"low": 0, "medium": 1, "high": 2}


def new_fact(candidate: Candidate, labels: Scope, *, id: str, now: datetime) -> Fact:
    """The candidate as a stored row, current unless its time is over."""
    said = candidate.said_at or candidate.valid_from
    ended = candidate.valid_to is not None and candidate.valid_to <= now
    expired = candidate.expires_at is not None and candidate.expires_at <= now
    return Fact(
        id=id,
        user_id=labels.user_id,
        session_id=labels.session_id,
        agent_id=labels.agent_id,
        task_id=labels.task_id,
        app_id=labels.app_id,
        subject=candidate.subject,
        relation=candidate.relation,
        object=candidate.object,
        object_normalized=candidate.object_normalized,
        text=candidate.text,
        kind=candidate.kind,
        is_positive=candidate.is_positive,
        is_about_user=candidate.is_about_user,
        modality=candidate.modality,
        speaker=candidate.speaker,
        asserted_by=candidate.asserted_by,
        confidence=candidate.confidence,
        importance=candidate.importance,
        valid_from=candidate.valid_from,
        valid_to=candidate.valid_to,
        recorded_at=now,
        expires_at=candidate.expires_at,
        last_seen_at=said,
        evidence=candidate.evidence,
        source_message_ids=tuple(dict.fromkeys(e.message_id for e in candidate.evidence)),
        tags=candidate.tags,
        rule=candidate.rule,
        is_current=not ended and not expired and candidate.valid_from <= now,
    )


def reinforced(fact: Fact, candidate: Candidate) -> Fact:
    """The fact with one more support; when it was recorded does not change, and it lasts as long as the
    statement of it that lasts longest."""
    said = candidate.said_at or candidate.valid_from
    importance = max(fact.importance, candidate.importance, key=RANK.__getitem__)
    evidence = (*fact.evidence, *(e for e in candidate.evidence if e not in fact.evidence))
    return replace(
        fact,
        support_count=fact.support_count + 1,
        last_seen_at=max(fact.last_seen_at, said),
        importance=importance,
        expires_at=later_end(fact.expires_at, candidate.expires_at),
        confidence=max(fact.confidence, candidate.confidence),
        evidence=evidence,
        source_message_ids=tuple(
            dict.fromkeys((*fact.source_message_ids, *(e.message_id for e in candidate.evidence)))
        ),
    )


def ending(candidate: Candidate, at: datetime | None) -> Candidate:
    """The candidate, ending at ``at`` unless it ends before."""
    ends = min((t for t in (candidate.expires_at, at) if t is not None), default=None)
    return replace(candidate, expires_at=ends)


def later_end(one: datetime | None, other: datetime | None) -> datetime | None:
    """The later of two ends; None, never, is the latest."""
    return None if one is None or other is None else max(one, other)


def closed(fact: Fact, *, at: datetime, by: str | None) -> Fact:
    """The fact, no longer true from ``at`` on (never before it began); an earlier end stays."""
    if fact.valid_to is not None and fact.valid_to < at:
        return replace(fact, is_current=False)
    return replace(fact, valid_to=max(at, fact.valid_from), superseded_by=by, is_current=False)


def retracted(fact: Fact, *, at: datetime, by: str | None) -> Fact:
    """The fact as a belief that was wrong all along."""
    return replace(fact, retracted_at=at, superseded_by=by, is_current=False)


def told_before(fact: Fact, candidate: Candidate) -> bool:
    """Whether the fact is a statement of the user's own from another message than the candidate's, and not told as
    over or passing: what later words may end."""
    return (
        fact.is_positive
        and fact.modality not in UNTOUCHED
        and fact.asserted_by == "user"
        and fact.kind not in ("solution", "procedure")
        and {e.message_id for e in fact.evidence}.isdisjoint(e.message_id for e in candidate.evidence)
    )


def is_late(candidate: Candidate, fact: Fact) -> bool:
    """Whether the candidate tells of a time before what is known: it then never wins.

    A statement counts from when it was said, what an application dates from its date, and what is known from when
    it was last said or began; equal times are decided by importance.
    """
    mine, theirs = candidate.said_at or candidate.valid_from, max(fact.last_seen_at, fact.valid_from)
    if mine != theirs:
        return mine < theirs
    return RANK[candidate.importance] < RANK[fact.importance]
