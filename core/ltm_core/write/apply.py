"""Decisions become rows: the one place that writes facts, used by every door that changes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ltm_core.types import Fact, FactChange
from ltm_core.write.incoming.index import fact_unit, meaning_of, with_vectors

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.store.base import Writer
    from ltm_core.write.plan import Decision

_ADDS = frozenset({"add", "supersede"})


def fact_extra(fact: Fact) -> str:
    """What else finds a fact by keyword: its subject when it is a thing, and its object."""
    subject = "" if fact.subject in ("user", "assistant") else fact.subject.replace(":", " ")
    return f"{subject} {fact.object}".strip()


def _ranks_otherwise(before: Fact, after: Fact) -> bool:
    return (before.importance, before.expires_at) != (after.importance, after.expires_at)


def apply_decisions(
    writer: Writer,
    decisions: Iterable[Decision],
    *,
    now: datetime,
    vectors: Mapping[str, NDArray[np.float32]],
) -> tuple[FactChange, ...]:
    """Every decision is stored and logged; returns the changes with their place in the feed.

    An ``add`` or ``supersede`` whose fact already exists under its id is an update of that row.
    """
    changes = []
    decisions = tuple(decisions)
    written = [d for d in decisions if d.op != "skip"]
    if written:
        facts = (f for d in written for f in (d.fact, d.previous) if f is not None)
        writer.foresee(list(dict.fromkeys(f.id for f in facts)), changes=len(written))
    for decision in decisions:
        if decision.op == "skip":
            changes.append(
                FactChange(op="skip", fact=decision.fact, previous=decision.previous, reason=decision.reason, at=now)
            )
            continue
        # The successor is written first: the closed row points to it.
        if decision.op in _ADDS and writer.fact_item(decision.fact.id) is None:
            store_fact(writer, decision.fact, vectors=vectors)
        else:
            writer.update_fact(decision.fact)
        before = decision.previous
        if before is not None and before.id != decision.fact.id:
            writer.update_fact(before)
        elif before is not None and _ranks_otherwise(before, decision.fact):
            fact = decision.fact
            item = writer.fact_item(fact.id)
            if item is not None:
                writer.keep_chunks("fact", item, importance=fact.importance, expires_at=fact.expires_at)
        changes.append(
            writer.log_change(
                FactChange(
                    op=decision.op,
                    fact=decision.fact,
                    previous=decision.previous,
                    reason=decision.reason,
                    at=now,
                )
            )
        )
    return tuple(changes)


def store_fact(writer: Writer, fact: Fact, *, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    """The fact is stored and can be found by its words and its meaning."""
    index_fact(writer, fact, writer.add_fact(fact), vectors=vectors)


def index_fact(writer: Writer, fact: Fact, item: int, *, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    """The stored fact is found by exactly its words, its subject and its object."""
    writer.set_chunks(
        "fact",
        item,
        with_vectors([fact_unit(fact.text, extra=fact_extra(fact), embed=meaning_of(fact))], vectors),
        at=fact.valid_from,
        session_id=fact.session_id,
        agent_id=fact.agent_id,
        task_id=fact.task_id,
        app_id=fact.app_id,
        role="user",
        act="statement",
        importance=fact.importance,
        expires_at=fact.expires_at,
    )
