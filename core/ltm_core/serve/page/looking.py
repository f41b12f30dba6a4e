"""The words behind ids: what was said, and what made it worth keeping."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ltm_core.types import Anchor, Evidence, Fact

if TYPE_CHECKING:
    from ltm_core.serve.inside import Inside
    from ltm_core.store.base import MessageRow


@dataclass(frozen=True, slots=True)
class Quote:
    """One turn, cut where its evidence begins and ends: (words, whether they are the evidence)."""

    message: MessageRow
    pieces: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Why:
    """Why a fact is believed."""

    quotes: tuple[Quote, ...]
    missing: int
    """Sources that the store no longer holds: erased, or moved to files."""
    anchors: tuple[Anchor, ...]


def why(inside: Inside, user_id: str, fact: Fact) -> Why:
    """The turns that support the fact, with the words marked, and the events that made them worth keeping."""
    ids = tuple(dict.fromkeys((*(e.message_id for e in fact.evidence), *fact.source_message_ids)))
    found = inside.messages(user_id, ids)
    quotes = tuple(
        Quote(found[i], cut(found[i].content, [e for e in fact.evidence if e.message_id == i]))
        for i in ids
        if i in found
    )
    spans = [e for e in fact.evidence if e.message_id in found]
    near = [a for group in inside.anchors(user_id, ids).values() for a in group if _touches(a.evidence, spans)]
    return Why(quotes, len(ids) - len(quotes), tuple(near))


def cut(text: str, evidence: Iterable[Evidence]) -> tuple[tuple[str, bool], ...]:
    """The text in pieces, each inside or outside of the evidence; joined they are the text."""
    pieces: list[tuple[str, bool]] = []
    at = 0
    for e in sorted(evidence, key=lambda e: (e.start, e.end)):
        start, end = max(at, e.start), min(len(text), e.end)
        if start < end:
            pieces += [(text[at:start], False), (text[start:end], True)]
            at = end
    pieces.append((text[at:], False))
    return tuple(p for p in pieces if p[0])


def _touches(evidence: Evidence, spans: Sequence[Evidence]) -> bool:
    return any(
        s.message_id == evidence.message_id and s.start < evidence.end and evidence.start < s.end for s in spans
    )


__all__ = ["Quote", "Why", "cut", "why"]
