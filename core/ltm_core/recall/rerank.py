"""The best candidates judged once more, each read together with the question."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from ltm_core.recall.gather import Found
from ltm_core.recall.hits import Hit
from ltm_core.store.base import MessageRow, OwnerKind
from ltm_core.text.chunks import embedded_text
from ltm_core.types import Fact

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.recall.bounded import Bounded
    from ltm_core.recall.protocols import Reranker

T = TypeVar("T", MessageRow, Fact)


def rerank(found: Found, query: str, reranker: Bounded[Reranker], config: Config) -> bool:
    """The scores in ``found`` are blended with the reranker's; a note says what happened.

    Only the best ``rerank_candidates`` are judged, and they only move among what recall found: the floor was
    passed before, and what a later statement replaced is put below it afterwards. If the reranker fails, nothing
    changes and the answer is False.
    """
    hits = [(row.at.timestamp(), row.item, hit, _shown(row, hit, config)) for row, hit in found.messages]
    hits += [
        (fact.valid_from.timestamp(), hit.item, hit, fact.text[: config.rerank_characters])
        for fact, hit in found.facts.values()
        if hit is not None
    ]
    hits.sort(key=lambda h: (-h[2].score, -h[0], h[2].kind, -h[1]))
    chosen = hits[: config.rerank_candidates]
    if not query.strip() or len(chosen) < 2:
        return True
    texts = [text for *_, text in chosen]
    scores, why = reranker(lambda judge: _checked(judge.rerank(query, texts), len(texts)))
    if scores is None:
        found.notes.append(f"{why}: the order is recall's own")
        return False
    scaled = {(hit.kind, hit.item): s for (_, _, hit, _), s in zip(chosen, _scaled(scores), strict=True)}
    blend = _blend(scaled, config.rerank_weight)
    found.messages = _in_order([(row, blend(hit)) for row, hit in found.messages])
    found.facts = {id: (fact, None if hit is None else blend(hit)) for id, (fact, hit) in found.facts.items()}
    found.notes.append(f"{reranker.name} judged {len(chosen)} of {len(hits)} candidates")
    return True


def _shown(row: MessageRow, hit: Hit, config: Config) -> str:
    """The turn as it is indexed, with its day and speaker, cut around what was found."""
    text, most = row.content, config.rerank_characters
    if len(text) > most:
        start = max(0, min((hit.start + hit.end - most) // 2, len(text) - most))
        text = text[start : start + most]
    return embedded_text(text, at=row.at.date(), speaker=row.name or row.role)


def _checked(scores: Sequence[float], count: int) -> list[float]:
    values = [float(s) for s in scores]
    if len(values) != count or not all(map(math.isfinite, values)):
        raise ValueError("one finite number per text is needed")
    return values


def _scaled(scores: Sequence[float]) -> list[float]:
    """Min-max in [0, 1]: rerankers answer logits or probabilities. All alike: all in the middle."""
    low, high = min(scores), max(scores)
    reach = high - low
    return [(s - low) / reach if reach > 0 else 0.5 for s in scores]


def _blend(scaled: Mapping[tuple[OwnerKind, int], float], weight: float) -> Callable[[Hit], Hit]:
    def blend(hit: Hit) -> Hit:
        value = scaled.get((hit.kind, hit.item))
        score = (1 - weight) * hit.score + weight * (value or 0.0)
        signals = hit.signals if value is None else {**hit.signals, "rerank": round(value, 4)}
        return replace(hit, score=score, signals=signals)

    return blend


def _in_order(pairs: list[tuple[MessageRow, Hit]]) -> list[tuple[MessageRow, Hit]]:
    return sorted(pairs, key=lambda p: (-p[1].score, -p[0].at.timestamp(), -p[0].item))


__all__ = ["rerank"]
