"""A message was edited or erased: the facts that only its old words supported go, with what they had changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from ltm_core.types import Fact
from ltm_core.write.known.rows import retracted
from ltm_core.write.plan import Decision

_SHORTEST = 3
"""Characters of a statement that are looked for in the new text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """What the edit says of the message beside its words; nothing leaves things as they were."""

    doc_type: str | None = None
    expires_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


Replaced: TypeAlias = Callable[[Sequence[str]], Mapping[str, Sequence[Fact]]]
"""Per id of a fact what it took the place of."""


def retract_for_edit(
    facts: Iterable[Fact],
    *,
    message_id: str,
    now: datetime,
    new_content: str | None,
    labelled: Labelled | None = None,
    replaced_by: Replaced | None = None,
) -> tuple[Decision, ...]:
    """What an edited or erased message (``new_content`` None) does to the facts it supported.

    A fact whose words still stand in the new text keeps its evidence, moved, and takes the new labels when
    nothing else supports it; one that other messages support loses this evidence; the rest is retracted, or
    erased with its message. What a retracted fact had replaced (``replaced_by`` finds it) gets the end that the
    fact had: it is current again when the fact was.
    """
    out: list[Decision] = []
    lost: dict[str, Fact] = {}
    for f in facts:
        mine = [e for e in f.evidence if e.message_id == message_id]
        if not mine and message_id not in f.source_message_ids:
            continue
        words = f.text.split(" (")[0]
        at = new_content.find(words) if new_content and len(words) >= _SHORTEST else -1
        others = tuple(e for e in f.evidence if e.message_id != message_id)
        if at >= 0:
            moved = tuple(
                replace(e, start=at, end=at + len(words)) if e.message_id == message_id else e for e in f.evidence
            )
            after = replace(f, evidence=moved)
            if labelled is not None and not others:
                after = _relabelled(after, labelled)
            if after != f:
                out.append(Decision(op="reinforce", fact=after, previous=f, reason="its words moved"))
        elif others:
            after = replace(
                f,
                evidence=others,
                source_message_ids=tuple(i for i in f.source_message_ids if i != message_id),
                support_count=max(1, f.support_count - 1),
            )
            out.append(Decision(op="reinforce", fact=after, previous=f, reason="one source less"))
        elif new_content is None:
            out.append(Decision(op="erase", fact=f, previous=f, reason="its only source was erased"))
        elif f.retracted_at is None:
            lost[f.id] = f
            out.append(
                Decision(
                    op="retract",
                    fact=retracted(f, at=now, by=f.superseded_by),
                    previous=f,
                    reason="its only source was edited",
                )
            )
    return (*out, *(_reopened(lost, replaced_by, now=now) if replaced_by is not None else ()))


def _relabelled(fact: Fact, labelled: Labelled) -> Fact:
    ends = labelled.expires_at if fact.modality != "temporary" else None
    return replace(
        fact,
        doc_type=labelled.doc_type or fact.doc_type,
        expires_at=ends or fact.expires_at,
        metadata=dict(labelled.metadata) or fact.metadata,
    )


def _reopened(lost: Mapping[str, Fact], replaced_by: Replaced, *, now: datetime) -> Iterable[Decision]:
    for fact in lost.values():
        # Several changes of one message: the value before them all gets the end of the last one.
        if fact.superseded_by in lost:
            continue
        waiting, seen = [fact], {fact.id}
        while waiting:
            before = replaced_by([gone.id for gone in waiting])
            steps = [(gone, old) for gone in waiting for old in before[gone.id]]
            waiting = []
            for gone, old in steps:
                if old.id in seen:
                    continue
                seen.add(old.id)
                if old.id in lost:
                    waiting.append(old)
                elif _ended_with(old, gone):
                    lives = old.expires_at is None or old.expires_at > now
                    begun = fact.valid_to is None and fact.superseded_by is None and old.valid_from <= now
                    after = replace(
                        old,
                        retracted_at=None,
                        valid_to=fact.valid_to,
                        superseded_by=fact.superseded_by,
                        is_current=begun and lives and old.suppressed_at is None,
                    )
                    yield Decision(op="restore", fact=after, previous=old, reason="what had ended it was edited")


def _ended_with(old: Fact, gone: Fact) -> bool:
    """Whether the same words that brought ``gone`` ended ``old``; a later correction by hand did not."""
    if old.retracted_at is not None:
        return old.retracted_at == gone.recorded_at
    if old.valid_to is None:
        return False
    known = max(old.recorded_at, old.valid_from) <= gone.recorded_at and old.valid_to == max(
        gone.valid_from, old.valid_from
    )
    return known or (old.valid_to == gone.valid_from and old.valid_from < old.valid_to)
