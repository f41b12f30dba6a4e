"""A message was edited or erased: the facts that only its old words supported go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from ltm_core.types import Fact
from ltm_core.write.plan import Decision
from ltm_core.write.rows import retracted

_SHORTEST = 3
"""Characters of a statement that are looked for in the new text."""


def retract_for_edit(
    facts: Iterable[Fact], *, message_id: str, now: datetime, new_content: str | None
) -> tuple[Decision, ...]:
    """What an edited or erased message (``new_content`` None) does to the facts it supported.

    A fact whose words still stand in the new text keeps its evidence, moved; one that other messages support
    loses this evidence; the rest is retracted, or erased with its message.
    """
    out: list[Decision] = []
    for f in facts:
        mine = [e for e in f.evidence if e.message_id == message_id]
        if not mine and message_id not in f.source_message_ids:
            continue
        words = f.text.split(" (")[0]
        at = new_content.find(words) if new_content and len(words) >= _SHORTEST else -1
        if at >= 0:
            moved = tuple(
                replace(e, start=at, end=at + len(words)) if e.message_id == message_id else e for e in f.evidence
            )
            if moved != f.evidence:
                out.append(
                    Decision(
                        op="reinforce", fact=replace(f, evidence=moved), previous=f, reason="its words moved"
                    )
                )
            continue
        others = tuple(e for e in f.evidence if e.message_id != message_id)
        if others:
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
            out.append(
                Decision(
                    op="retract",
                    fact=retracted(f, at=now, by=f.superseded_by),
                    previous=f,
                    reason="its only source was edited",
                )
            )
    return tuple(out)
