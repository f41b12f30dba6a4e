"""The turns of files as recall reads them: the same ranking over other rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from ltm_core.keep.archive.table import Cold
from ltm_core.store.base import ACT_CODES, IMPORTANCE_CODES, ROLE_CODES, MessageRow, Rows
from ltm_core.store.times import NEVER, to_us
from ltm_core.text.terms import terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ltm_core.keep.line_values import Limits
    from ltm_core.store.base import Reader
    from ltm_core.types import Fact

VECTOR = np.dtype("<f2")
"""How the store and its files keep a vector."""


def vector_of(stored: bytes | None) -> NDArray[np.float32] | None:
    """The vector as it is compared."""
    return None if stored is None else np.frombuffer(stored, dtype=VECTOR).astype(np.float32)


def terms_of(row: MessageRow, start: int, end: int) -> Counter[str]:
    """The counted terms of a span of a turn; a real name counts among them, as when the turn came."""
    text = row.content[start:end]
    return Counter(terms(f"{row.name} {text}" if row.name else text))


class ColdReader:
    """Turns of one user out of files, with the labels of the store; it holds no facts and no slots.

    It has the part of `Reader` that a search uses.
    """

    def __init__(self, reader: Reader, turns: Sequence[Cold], limits: Limits) -> None:
        self._label = reader.label
        self.user_id = reader.user_id
        self._messages: dict[int, MessageRow] = {}
        chunks: list[tuple[MessageRow, int, int, NDArray[np.float32] | None]] = []
        for turn in sorted(turns, key=lambda t: t.item):
            row, _ = turn.row(limits)
            self._messages[row.item] = row
            chunks += [(row, start, end, vector_of(v)) for start, end, v in turn.spans]
        self._snapshot = ColdSnapshot(chunks, self._label)

    def label(self, value: str | None) -> int:
        return self._label(value)

    def snapshot(self) -> ColdSnapshot:
        return self._snapshot

    def messages(
        self,
        *,
        items: Sequence[int] | None = None,
        ids: Sequence[str] | None = None,
        **_: Any,
    ) -> list[MessageRow]:
        wanted = set(self._messages if items is None else items)
        rows = [r for i, r in self._messages.items() if i in wanted and (ids is None or r.id in ids)]
        return sorted(rows, key=lambda r: (r.at, r.sequence))

    def facts(self, **_: Any) -> list[Fact]:
        return []

    def predecessors(self, ids: Sequence[str]) -> dict[str, list[Fact]]:
        return {i: [] for i in ids}

    def slots(self, session_id: str, *, now: datetime) -> list[Any]:
        return []

    def user(self) -> None:
        return None


class ColdSnapshot:
    """The searchable state of these chunks."""

    revision = 0

    def __init__(self, chunks: Sequence[tuple[MessageRow, int, int, NDArray[np.float32] | None]], label: Any) -> None:
        counted = [terms_of(row, start, end) for row, start, end, _ in chunks]
        self._vectors = [v for *_, v in chunks]
        self._postings: dict[str, tuple[list[int], list[int]]] = {}
        for index, found in enumerate(counted):
            for term, count in found.items():
                places, counts = self._postings.setdefault(term, ([], []))
                places.append(index)
                counts.append(count)
        lengths = [sum(c.values()) for c in counted]
        self.average_length = float(np.mean(lengths)) if lengths else 0.0
        rows = [row for row, *_ in chunks]

        def column(values: Sequence[Any], kind: Any = np.int64) -> NDArray[Any]:
            return np.array(values, dtype=kind)

        self.rows = Rows(
            item=column(range(1, len(chunks) + 1)),
            owner=column([r.item for r in rows]),
            kind=column([0] * len(rows), np.int8),
            at=column([to_us(r.at) for r in rows]),
            session=column([label(r.session_id) for r in rows]),
            agent=column([label(r.agent_id) for r in rows]),
            task=column([label(r.task_id) for r in rows]),
            app=column([label(r.app_id) for r in rows]),
            role=column([ROLE_CODES[r.role] for r in rows], np.int8),
            act=column([ACT_CODES[r.act] for r in rows], np.int8),
            importance=column([IMPORTANCE_CODES[r.importance] for r in rows], np.int8),
            start=column([s for _, s, _, _ in chunks], np.int32),
            end=column([e for _, _, e, _ in chunks], np.int32),
            length=column(lengths, np.float32),
            expires=column([NEVER if r.expires_at is None else to_us(r.expires_at) for r in rows]),
        )

    def cosine(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        found = np.full(len(self._vectors), np.nan, dtype=np.float32)
        known = [i for i, v in enumerate(self._vectors) if v is not None and v.shape == query.shape]
        if known:
            matrix = np.stack([self._vectors[i] for i in known])  # type: ignore[misc]
            found[known] = np.clip(matrix @ query.astype(np.float32), -1.0, 1.0)
        return found

    def postings(self, terms: Sequence[str]) -> list[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        empty: tuple[list[int], list[int]] = ([], [])
        pairs: Mapping[str, tuple[list[int], list[int]]] = self._postings
        return [
            (np.array(places, dtype=np.int64), np.array(counts, dtype=np.int32))
            for places, counts in (pairs.get(t, empty) for t in terms)
        ]


__all__ = ["ColdReader", "ColdSnapshot", "terms_of", "vector_of"]
