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
from ltm_core.when import stored_zone

_JUST_BELOW = 1 - 1e-6
"""What a score is multiplied with to stand below another in the order and change nothing else: a share of it, as
scores may be as small as they like."""


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
    return row.at.astimezone(stored_zone(row.timezone))


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
    """The best message that supports what took the place of another takes its place in the order too, and the
    overtaken one goes below it.

    Pressed below all of them, it was lost behind every turn on another subject that one of them also stands for.
    """
    scores = {e.item.source_id: e.item.score for e in entries}
    later = {
        old: sorted((i for i in new if i in scores), key=lambda i: -scores[i]) for old, new in successors.items()
    }
    return _handed_on(entries, later)


def after_restatements(entries: Sequence[Entry], found: Mapping[str, Overtaken]) -> list[Entry]:
    """The surest restatement takes the place of what it restates, which goes below all of them that are near."""
    return _handed_on(entries, {old: one.by for old, one in found.items()})


def _handed_on(entries: Sequence[Entry], later: Mapping[str, Sequence[str]]) -> list[Entry]:
    """``later``: per overtaken message those that took its place, the surest first."""
    scores = {e.item.source_id: e.item.score for e in entries}
    by_time = [e.item.source_id for e in sorted(entries, key=lambda e: e.item.at.timestamp())]
    known = {i: [n for n in later[i] if n in scores and n != i] for i in by_time if i in later}
    known = {i: them for i, them in known.items() if them}
    # Up a chain of changes the place is handed on from the first to the last, then each goes below the next.
    for old, them in known.items():
        scores[them[0]] = max(scores[them[0]], scores[old])
    for old, (surest, *others) in reversed(known.items()):
        near = [scores[i] for i in others if scores[i] >= SAME_EVENT * scores[old]]
        scores[old] = min(scores[old], scores[surest], *near) * _JUST_BELOW
    return [e if scores[e.item.source_id] == e.item.score else e.rescored(scores[e.item.source_id]) for e in entries]


__all__ = ["after_restatements", "below_successors", "is_fragment", "is_restated", "restatements"]
