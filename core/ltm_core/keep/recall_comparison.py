"""Two sets of vectors asked the same questions, by meaning alone, so that a change of embedder is seen in figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ltm_core.errors import InvalidInputError
from ltm_core.types import RecallComparison

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.embed.base import Embedder
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader

USERS, OF_EACH = 25, 10
"""Users asked for, spread over all, and questions of each: 250 questions cost a few seconds with a small model."""
_FIRST = 10
_SCANNED = 500


@dataclass(slots=True)
class _Question:
    text: str
    wanted: set[int] = field(default_factory=set)
    """Chunk items of which one should be found; empty when nobody knows."""


def compare(runtime: Runtime, model: Embedder, pairs: Iterable[Mapping[str, Any]] | None) -> RecallComparison:
    """The present embedder with the first set, ``model`` with the second one."""
    asked = _given(pairs) if pairs is not None else None
    overlaps: list[float] = []
    ranks: list[tuple[int, int]] = []
    for user_id in _sampled(runtime) if asked is None else list(asked):
        with runtime.store.read(user_id) as reader:
            if asked is None:
                questions = _stored(reader)
            else:
                questions = _with_words(reader, asked[user_id])
            snapshot = reader.snapshot()
            items, second = reader.second_vectors()
            if not len(items) or not questions:
                continue
            for question in questions:
                before = snapshot.cosine(runtime.embedder.embed_query(question.text))
                after = second @ model.embed_query(question.text)
                first = _order(snapshot.rows.item, before)
                other = _order(items, after)
                if question.wanted:
                    ranks.append((_rank(first, question.wanted), _rank(other, question.wanted)))
                most = min(_FIRST, len(first), len(other))
                if most:
                    overlaps.append(len(set(first[:most]) & set(other[:most])) / most)
    known = len(ranks)
    return RecallComparison(
        questions=len(overlaps),
        overlap_at_10=_mean(overlaps),
        known=known,
        mrr_before=_mean([1 / a if a else 0.0 for a, _ in ranks]),
        mrr_after=_mean([1 / b if b else 0.0 for _, b in ranks]),
        recall_at_10_before=_mean([float(0 < a <= _FIRST) for a, _ in ranks]),
        recall_at_10_after=_mean([float(0 < b <= _FIRST) for _, b in ranks]),
    )


def _sampled(runtime: Runtime) -> list[str]:
    operations = runtime.store.operations()
    users: list[str] = []
    last: str | None = None
    while page := operations.users(after=last, limit=1000):
        users += page
        last = page[-1]
    step = max(1, len(users) // USERS)
    return users[::step][:USERS]


def _stored(reader: Reader) -> list[_Question]:
    """Half what the user asked, half what is known of the user, which should lead to the turns it was told in."""
    turns = reader.messages(roles=("user",), newest_first=True, limit=_SCANNED)
    asked = [m for m in turns if m.act == "question"] or turns
    questions = [_Question(m.content) for m in _spread(asked, OF_EACH // 2)]
    for fact in _spread([f for f in reader.facts(newest_first=True, limit=_SCANNED) if f.evidence], OF_EACH // 2):
        ids = {e.message_id for e in fact.evidence}
        told = {m.item for m in reader.messages(ids=sorted(ids))}
        questions.append(_Question(fact.text, _chunks_of(reader, told)))
    return questions


def _with_words(reader: Reader, pairs: list[tuple[str, str]]) -> list[_Question]:
    found = [_Question(query) for query, _ in pairs]
    after = 0
    while page := reader.messages(after_item=after, limit=_SCANNED):
        after = page[-1].item
        for question, (_, words) in zip(found, pairs, strict=True):
            held = {m.item for m in page if words.casefold() in m.content.casefold()}
            if held:
                question.wanted |= _chunks_of(reader, held)
    return [q for q in found if q.wanted]


def _chunks_of(reader: Reader, turns: set[int]) -> set[int]:
    rows = reader.snapshot().rows
    return {
        item
        for item, owner, kind in zip(rows.item.tolist(), rows.owner.tolist(), rows.kind.tolist())
        if kind == 0 and owner in turns
    }


def _given(pairs: Iterable[Mapping[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for number, row in enumerate(pairs, start=1):
        values = [row.get(k) if isinstance(row, Mapping) else None for k in ("user_id", "query", "text")]
        if not all(isinstance(v, str) and v.strip() for v in values):
            raise InvalidInputError(f'pair {number} must have "user_id", "query" and "text", each not blank')
        user, query, text = (str(v) for v in values)
        found.setdefault(user, []).append((query, text))
    return found


def _order(items: NDArray[np.int64], scores: NDArray[np.float32]) -> list[int]:
    """Items with a vector, nearest first."""
    import numpy as np

    known = np.flatnonzero(~np.isnan(scores))
    order: list[int] = items[known[np.argsort(-scores[known], kind="stable")]].tolist()
    return order


def _rank(order: list[int], wanted: set[int]) -> int:
    """Place of the first that is wanted, from 1; 0 when there is none."""
    return next((place for place, item in enumerate(order, start=1) if item in wanted), 0)


def _spread(values: list[Any], most: int) -> list[Any]:
    return values[:: max(1, len(values) // most)][:most]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 1.0


__all__ = ["compare"]
