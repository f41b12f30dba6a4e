"""Which of the found memories are offered to the prompt, and in which order. Pure; candidates are few."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np

from ltm_core.recall.entry import Entry
from ltm_core.types import Dropped

DUPLICATE = 0.85
"""Share of common terms from which two memories say the same."""
SAID_BY_FACT = 0.8
"""Share of a message's terms that a chosen fact holds, from which the message adds nothing."""
DIVERSITY = 0.25
"""What a second memory of the same words loses against the first."""
OWN_SHARE = 0.3
"""Share of a fact's score that is its own; the rest is that of the best message it rests on."""
SAME_EVENT = 0.6
"""Share of the best relevance from which a memory counts as one of the type that "last time" means."""


def by_score(entries: Sequence[Entry]) -> list[Entry]:
    """Best first; equal scores: current before past, later before earlier."""
    return sorted(entries, key=lambda e: (-e.item.score, not e.item.is_current, -e.item.at.timestamp()))


def in_context(facts: Sequence[Entry], messages: Sequence[Entry]) -> list[Entry]:
    """The facts, scored mostly by the messages they rest on: a fact alone knows nothing of what was talked about.

    None scores above its best message: its few words resemble a question more than the turn they stand in, and it
    would bring the same words in before turns that say more. A fact whose messages were not found counts as if they
    had the least score found.
    """
    scores = {e.item.source_id: e.item.score for e in messages}
    least = min(scores.values(), default=None)
    if least is None:
        return list(facts)
    out = []
    for entry in facts:
        found = [scores[i] for i in entry.item.source_message_ids if i in scores]
        below = max(found, default=least if entry.item.source_message_ids else entry.item.score)
        score = OWN_SHARE * entry.item.score + (1 - OWN_SHARE) * below
        out.append(entry.rescored(min(score, below) if found else score))
    return out


def latest_first(entries: Sequence[Entry]) -> list[Entry]:
    """Of the memories nearly as relevant as the best, the latest gets the best score, the others follow in time."""
    ordered = by_score(entries)
    if not ordered:
        return []
    best = ordered[0].item.score
    alike = [e for e in ordered if e.item.score >= SAME_EVENT * best]
    scores = sorted((e.item.score for e in alike), reverse=True)
    in_time = sorted(alike, key=lambda e: -e.item.at.timestamp())
    raised = [
        e.rescored(s, "" if i else "the latest of its kind")
        for i, (e, s) in enumerate(zip(in_time, scores, strict=True))
    ]
    return raised + ordered[len(alike) :]


def distinct(entries: Sequence[Entry]) -> tuple[list[Entry], list[Dropped]]:
    """Near-duplicates collapse onto the better one; one of another state (current, past) is no duplicate."""
    kept: list[int] = []
    dropped: list[Dropped] = []
    for i, (entry, alike) in enumerate(zip(entries, _likeness(entries), strict=True)):
        twin = next(
            (
                k
                for j in kept
                if alike[j] >= DUPLICATE
                and (k := entries[j]).item.is_current == entry.item.is_current
                and k.item.role == entry.item.role
                and not _differ_in_number(k.terms, entry.terms)
            ),
            None,
        )
        if twin is None or entry.keep:
            kept.append(i)
        else:
            dropped.append(entry.dropped(f"says the same as {twin.item.source_id}"))
    return [entries[i] for i in kept], dropped


def _likeness(entries: Sequence[Entry]) -> list[list[float]]:
    """Of every two entries the share of common terms (Jaccard), in [0, 1]."""
    places = {t: i for i, t in enumerate(dict.fromkeys(chain.from_iterable(e.terms for e in entries)))}
    table = np.zeros((len(entries), max(1, len(places))), dtype=np.float32)
    for row, entry in zip(table, entries, strict=True):
        row[[places[t] for t in entry.terms]] = 1
    # Whole numbers far below 2**24: exact in float32.
    common = (table @ table.T).astype(np.float64)
    sizes = common.diagonal()
    alike: list[list[float]] = (common / np.maximum(sizes[:, None] + sizes - common, 1)).tolist()
    return alike


def _differ_in_number(a: frozenset[str], b: frozenset[str]) -> bool:
    """Two texts alike but for a number or an identifier say two things."""
    return any(c.isdigit() for term in a ^ b for c in term)


def without_said(facts: Sequence[Entry], messages: Sequence[Entry]) -> tuple[list[Entry], list[Dropped]]:
    """The messages that say more than the chosen facts which rest on them."""
    kept: list[Entry] = []
    dropped: list[Dropped] = []
    for entry in messages:
        fact = next(
            (
                f
                for f in facts
                if entry.item.source_id in f.item.source_message_ids
                and f.item.is_current == entry.item.is_current
                and len(entry.terms & f.terms) >= SAID_BY_FACT * len(entry.terms)
            ),
            None,
        )
        if fact is None:
            kept.append(entry)
        else:
            dropped.append(entry.dropped(f"the fact {fact.item.source_id} says it"))
    return kept, dropped


def not_held(facts: Sequence[Entry], message_ids: Collection[str]) -> tuple[list[Entry], list[Dropped]]:
    """The facts that rest on more than these messages, which the host shows itself, and those always wanted."""
    shown = frozenset(message_ids)
    kept: list[Entry] = []
    dropped: list[Dropped] = []
    for entry in facts:
        sources = entry.item.source_message_ids
        if sources and not entry.keep and shown.issuperset(sources):
            dropped.append(entry.dropped("the host shows the words it rests on"))
        else:
            kept.append(entry)
    return kept, dropped


def varied(entries: Sequence[Entry], limit: int) -> tuple[list[Entry], list[Dropped]]:
    """Up to ``limit`` entries: each next one is the best that is not much like those chosen before it.

    Maximal marginal relevance on terms; an entry whose topic is taken waits until every topic had one.
    """
    likeness = _likeness(entries)
    nearest = [0.0] * len(entries)
    value = [(e.keep, e.item.score) for e in entries]
    waiting = list(range(len(entries)))
    chosen: list[Entry] = []
    topics: set[str] = set()
    while waiting and len(chosen) < limit:
        fresh = [i for i in waiting if not (topic := entries[i].topic) or topic not in topics]
        # Of equals the first: both lists are in the given order.
        best = max(fresh or waiting, key=value.__getitem__)
        waiting.remove(best)
        chosen.append(entries[best])
        topics.add(entries[best].topic)
        alike = likeness[best]
        for i in waiting:
            if alike[i] > nearest[i]:
                nearest[i] = alike[i]
                value[i] = (entries[i].keep, entries[i].item.score * (1 - DIVERSITY * alike[i]))
    return chosen, [entries[i].dropped(f"more than {limit} memories are about this") for i in waiting]


__all__ = ["by_score", "distinct", "in_context", "latest_first", "not_held", "varied", "without_said"]
