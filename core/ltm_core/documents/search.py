"""Finding documents: by namespace, by filter, by meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.documents.match import Filter, matches
from ltm_core.documents.paths import texts
from ltm_core.documents.service import refreshed, shown, under
from ltm_core.store.base import DocumentRow, Namespace
from ltm_core.text.terms import terms
from ltm_core.types import Document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Reader

_PAGE = 500


def search(
    runtime: Runtime,
    user_id: str,
    prefix: Namespace,
    *,
    query: str | None,
    filters: Filter | None,
    limit: int,
    offset: int,
    refresh_ttl: bool,
) -> list[Document]:
    """The documents under ``prefix`` that pass the filter: with a query the nearest first, those without an index
    last; without one in the order in which they were first put."""
    now = runtime.now()
    vector = runtime.embed_query(query) if query else None
    with runtime.store.read(user_id) as reader:
        spaces = under(prefix, reader.document_namespaces(alive_at=now)) if prefix else None
        if spaces == []:
            return []
        nearness: dict[int, float] = {}
        if not query:
            items = _items(reader, spaces, filters, now=now, most=offset + limit)
        else:
            items = _items(reader, spaces, filters, now=now, most=None)
            if vector is not None:
                nearness = _by_vector(reader, items, vector)
            else:
                nearness = _by_words(reader, spaces, set(items), query, now=now)
            # Stable: equals, and those without an index, stay in the order of insertion.
            items.sort(key=lambda i: (i not in nearness, -nearness.get(i, 0.0)))
        page = items[offset : offset + limit]
        by_item = {d.item: d for d in reader.documents(items=page)} if page else {}
    rows = [by_item[i] for i in page if i in by_item]
    found = refreshed(runtime, user_id, rows, now=now) if refresh_ttl else [shown(r) for r in rows]
    return [replace(d, similarity=nearness.get(r.item)) for d, r in zip(found, rows, strict=True)]


def _items(
    reader: Reader, spaces: Sequence[Namespace] | None, filters: Filter | None, *, now: datetime, most: int | None
) -> list[int]:
    if not filters:
        return reader.document_items(namespaces=spaces, alive_at=now, limit=most)
    found: list[int] = []
    for row in _all(reader, spaces, now=now):
        if matches(filters, row.value):
            found.append(row.item)
            if most is not None and len(found) >= most:
                break
    return found


def _all(reader: Reader, spaces: Sequence[Namespace] | None, *, now: datetime) -> Iterator[DocumentRow]:
    seen = 0
    while page := reader.documents(namespaces=spaces, alive_at=now, after_item=seen, limit=_PAGE):
        yield from page
        seen = page[-1].item


def _by_vector(reader: Reader, items: Sequence[int], query: NDArray[np.float32]) -> dict[int, float]:
    """The cosine of each document's nearest unit."""
    import numpy as np

    owners, matrix = reader.document_vectors(items)
    best: dict[int, float] = {}
    scores = np.clip(matrix @ query, -1.0, 1.0) if len(owners) else ()
    for item, score in zip(owners.tolist(), map(float, scores), strict=True):
        best[item] = max(score, best.get(item, -1.0))
    return best


def _by_words(
    reader: Reader, spaces: Sequence[Namespace] | None, items: set[int], query: str, *, now: datetime
) -> dict[int, float]:
    """The share of the query's terms that each indexed document holds; used while no vector can be compared."""
    wanted = set(terms(query, query=True))
    found: dict[int, float] = {}
    for row in _all(reader, spaces, now=now):
        said = texts(row.value, row.fields) if row.item in items else ()
        if said:
            held = set(terms("\n".join(said)))
            found[row.item] = len(wanted & held) / len(wanted) if wanted else 0.0
    return found
