"""What the configured policies drop, user by user, in short transactions; by default nothing.

What goes is erased as if the user had asked: turns and facts with their units, vectors and postings, a row in the
audit log, and the bytes with the next scrub. A replay, an import or an old backup does not bring it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ltm_core.errors import InvalidInputError
from ltm_core.keep.asked import delete_facts
from ltm_core.keep.audit import note
from ltm_core.keep.holdings import holdings, without_summary
from ltm_core.keep.policy import Choice, Outcome, decide, policy_of
from ltm_core.store.base import DROPPED, SCRUB_JOB, Job
from ltm_core.types import ForgetDecision
from ltm_core.types.names import ORDINARY
from ltm_core.write.incoming.statuses import message_key

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import MessageRow, RowReader, Writer

MOST_DECISIONS = 1000
"""Decisions that a report names."""
_PER_TRANSACTION = 50
"""Memories dropped while other writers wait, about 10 ms."""
_USERS = 500
_TRIES = 3
"""How often a user who writes meanwhile is looked at again; the next run sees to the rest."""


@dataclass(slots=True, kw_only=True)
class Forgotten:
    """What one run dropped, or would drop."""

    counts: Mapping[str, int] = field(default_factory=dict)
    spared: Mapping[str, int] = field(default_factory=dict)
    decisions: tuple[ForgetDecision, ...] = ()


def forget_by_policy(runtime: Runtime, *, now: datetime, dry_run: bool) -> Forgotten:
    """What the policies name is gone, or is only listed; what they name and something protects is counted."""
    if not runtime.config.forgetting:
        return Forgotten()
    counts: Counter[str] = Counter()
    spared: Counter[str] = Counter()
    decisions: list[ForgetDecision] = []
    for user_id in _users(runtime):
        if dry_run:
            user_counts, user_spared = _preview(runtime, user_id, now, decisions)
        else:
            user_counts, user_spared = _apply(runtime, user_id, now, decisions, owed=not counts)
        counts.update(user_counts)
        spared.update(user_spared)
    return Forgotten(counts=dict(counts), spared=dict(spared), decisions=tuple(decisions))


def set_retention(runtime: Runtime, user_id: str, name: str) -> None:
    """The user belongs to this class; InvalidInputError when it is not configured."""
    known = (ORDINARY, *sorted(runtime.config.retention_classes))
    if name not in known:
        raise InvalidInputError(f"retention must be one of {', '.join(known)}, not {name[:40]!r}")
    now = runtime.now()
    with runtime.store.write(user_id) as writer:
        writer.ensure_user(now=now)
        writer.set_user(retention="" if name == ORDINARY else name)
        note(writer, "set_retention", now=now, target=name)


def _users(runtime: Runtime) -> Iterator[str]:
    operations, last = runtime.store.operations(), None
    while page := operations.users(after=last, limit=_USERS):
        yield from page
        last = page[-1]


def _outcome(runtime: Runtime, reader: RowReader, now: datetime) -> tuple[int, Outcome]:
    """The user's revision, and what is to be done at it."""
    state = reader.user()
    if state is None:
        return 0, Outcome()
    policy = policy_of(runtime.config, state.retention)
    idle_before = now - timedelta(seconds=runtime.config.session_idle_seconds)
    held = holdings(reader, runtime.lexicon, now=now, idle_before=idle_before)
    waiting = without_summary(runtime.config, state, held)
    return state.revision, decide(held, policy, now=now, unreplaced=waiting)


def _preview(
    runtime: Runtime, user_id: str, now: datetime, decisions: list[ForgetDecision]
) -> tuple[Counter[str], Mapping[str, int]]:
    with runtime.store.read(user_id) as reader:
        _, outcome = _outcome(runtime, reader, now)
        told = outcome.going[: MOST_DECISIONS - len(decisions)]
        turns = reader.messages(items=[c.held.item for c in told if c.held.owner == "message"])
    decisions += _told(user_id, told, {m.item: m for m in turns})
    return Counter(c.reason for c in outcome.going), outcome.spared


def _apply(
    runtime: Runtime, user_id: str, now: datetime, decisions: list[ForgetDecision], *, owed: bool
) -> tuple[Counter[str], Mapping[str, int]]:
    """``owed``: the first that goes leaves a job by which its bytes are overwritten, and those of the others."""
    counts: Counter[str] = Counter()
    spared: Mapping[str, int] = {}
    for _ in range(_TRIES):
        with runtime.store.read(user_id) as reader:
            revision, outcome = _outcome(runtime, reader, now)
        spared = outcome.spared
        done = 0
        while done < len(outcome.going):
            batch = outcome.going[done : done + _PER_TRANSACTION]
            with runtime.store.write(user_id) as writer:
                state = writer.user()
                # What was decided holds for this revision alone: another write may have made a memory matter.
                if state is None or state.revision != revision:
                    break
                turns = _drop(writer, batch, now=now)
                if owed and not counts:
                    writer.add_job(Job(kind=SCRUB_JOB, run_after=now))
            revision += 1
            done += len(batch)
            counts.update(c.reason for c in batch)
            decisions += _told(user_id, batch[: MOST_DECISIONS - len(decisions)], turns)
        if done == len(outcome.going):
            break
    if counts:
        runtime.recalls.forget(user_id)
    return counts, spared


def _drop(writer: Writer, batch: Sequence[Choice], *, now: datetime) -> dict[int, MessageRow]:
    """These memories are gone; returns the turns by item."""
    turns = writer.messages(items=[c.held.item for c in batch if c.held.owner == "message"])
    if turns:
        # A host that sends its whole history again must not bring them back.
        told = [(DROPPED, message_key(m.session_id, m.id)) for m in turns if m.has_caller_id]
        if told:
            writer.add_tombstones(told, now=now)
        writer.add_ghosts(turns)
        writer.delete_messages([m.item for m in turns], keep_summaries=True)
    facts = writer.facts(ids=[c.held.id for c in batch if c.held.owner == "fact"])
    by_reason: dict[str, list[str]] = {}
    for choice in batch:
        by_reason.setdefault(choice.reason, []).append(choice.held.id)
    for reason, ids in by_reason.items():
        gone = [f for f in facts if f.id in set(ids)]
        if gone:
            delete_facts(writer, gone, reason=f"forgotten: {reason}", now=now)
    counts: dict[str, int] = {"messages": len(turns), "facts": len(facts)}
    counts |= Counter[str](c.reason for c in batch)
    note(writer, "forget_policy", now=now, counts={k: n for k, n in counts.items() if n})
    return {m.item: m for m in turns}


def _told(user_id: str, choices: Sequence[Choice], turns: Mapping[int, MessageRow]) -> list[ForgetDecision]:
    found = []
    for c in choices:
        turn = turns.get(c.held.item)
        if c.held.owner == "message" and turn is None:
            continue
        found.append(
            ForgetDecision(
                user_id=user_id,
                kind="fact" if c.held.owner == "fact" else "message",
                id=c.held.id if turn is None else turn.id,
                session_id=None if turn is None else turn.session_id,
                reason=c.reason,
                value=round(c.value, 4),
            )
        )
    return found


__all__ = ["MOST_DECISIONS", "Forgotten", "forget_by_policy", "set_retention"]
