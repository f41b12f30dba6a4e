"""Which entry stands above which, because the one took the place of the other. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ltm_core.recall.derived import derived
from ltm_core.recall.entry import Entry
from ltm_core.recall.hits import Hit
from ltm_core.recall.question import Question
from ltm_core.recall.restated import Overtaken, Statement, restated
from ltm_core.recall.select import SAME_EVENT
from ltm_core.recall.values import values_of
from ltm_core.recall.wanted import wanted
from ltm_core.store.base import MessageRow
from ltm_core.types import Fact
from ltm_core.when import zone_of


def restatements(
    messages: Sequence[tuple[MessageRow, Hit]],
    own: Mapping[str, frozenset[str]],
    question: Question,
    weights: Mapping[str, float],
) -> Mapping[str, Overtaken]:
    """Which of the user's statements later ones restate with another value; ``own`` are the terms per message id."""
    topic = {t: weights[t] for t in question.content if t in weights}
    statements = [
        Statement(
            id=row.id,
            speaker=row.name or "",
            order=(row.at, row.item),
            said=_local(row),
            text=row.content,
            terms=own[row.id],
            derived=derived(row),
        )
        for row, _ in messages
        if row.role == "user"
    ]
    return restated(statements, topic, wanted(question.text)) if topic else {}


def _local(row: MessageRow) -> datetime:
    """When the message was said, in the zone of the one who said it; UTC for an unknown zone."""
    try:
        return row.at.astimezone(zone_of(row.timezone))
    except ValueError:
        return row.at


def is_restated(fact: Fact, found: Mapping[str, Overtaken]) -> bool:
    """All it rests on was restated, and its own words hold a value that was."""
    ids = fact.source_message_ids
    if not ids or any(i not in found for i in ids):
        return False
    return any((v.kind, v.value) in found[i].values for i in ids for v in values_of(fact.text, said=found[i].said))


def is_fragment(fact: Fact, found: Mapping[str, Overtaken]) -> bool:
    """All it rests on was restated, and its own words hold no value of a kind that was."""
    ids = fact.source_message_ids
    if not ids or any(i not in found for i in ids):
        return False
    kinds = {kind for i in ids for kind, _ in found[i].values}
    return not any(v.kind in kinds for i in ids for v in values_of(fact.text, said=found[i].said))


def below_successors(entries: Sequence[Entry], successors: Mapping[str, tuple[str, ...]]) -> list[Entry]:
    """No overtaken message scores above the message that took its place."""
    scores = {e.item.source_id: e.item.score for e in entries}
    out = []
    for entry in entries:
        limits = [scores[s] for s in successors.get(entry.item.source_id, ()) if s in scores]
        if limits and entry.item.score >= min(limits):
            entry = entry.rescored(max(0.0, min(limits) - 1e-6))
        out.append(entry)
    return out


def after_restatements(entries: Sequence[Entry], found: Mapping[str, Overtaken]) -> list[Entry]:
    """The surest restatement takes the place of what it restates, which goes below all of them that are near."""
    scores = {e.item.source_id: e.item.score for e in entries}
    by_time = [e.item.source_id for e in sorted(entries, key=lambda e: e.item.at.timestamp())]
    later = {i: [n for n in found[i].by if n in scores] for i in by_time if i in found}
    later = {i: them for i, them in later.items() if them}
    # Up a chain of changes the place is handed on from the first to the last, then each goes below the next.
    for old in later:
        scores[later[old][0]] = max(scores[later[old][0]], scores[old])
    for old in reversed(later):
        near = [scores[i] for i in later[old] if scores[i] >= SAME_EVENT * scores[old]]
        scores[old] = max(0.0, min([scores[old], *near]) - 1e-6)
    return [e if scores[e.item.source_id] == e.item.score else e.rescored(scores[e.item.source_id]) for e in entries]


__all__ = ["after_restatements", "below_successors", "is_fragment", "is_restated", "restatements"]
