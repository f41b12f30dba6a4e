"""Writing, reading and listing documents of one user."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.documents.checks import Put
from ltm_core.documents.units import spans, with_vectors
from ltm_core.errors import InvalidInputError
from ltm_core.keep.documents import delete_documents
from ltm_core.keep.proof import owe, pay
from ltm_core.store.base import DocumentRow, Namespace
from ltm_core.types import Document, Page
from ltm_core.write.incoming.index import embed_texts
from ltm_core.write.incoming.pause import not_paused

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime


def write(runtime: Runtime, user_id: str, puts: Sequence[Put], *, actor: str | None) -> list[Document | None]:
    """All of them or none are written; of several for one key the last one counts.

    Returns, in order, the document that is stored, or for a deletion the one that is gone (None if there was none).
    """
    last = {(p.namespace, p.key): p for p in puts}
    pieces = {at: spans(p.value, p.fields, runtime.config) for at, p in last.items() if p.value is not None}
    vectors = embed_texts(runtime, [text for found in pieces.values() for _, _, text in found])
    now = runtime.now()
    results: dict[tuple[Namespace, str], Document | None] = {}
    gone: list[DocumentRow] = []
    with runtime.store.write(user_id) as writer:
        if pieces:
            not_paused(writer.user())
            writer.ensure_user(now=now)
        for at, put in last.items():
            if put.value is None:
                row = writer.document(*at)
                results[at] = None if row is None or _is_over(row, now) else shown(row)
                gone += [] if row is None else [row]
                continue
            before = writer.document(put.namespace, put.key)
            if before is not None and _is_over(before, now):
                # A new document, not a new value of the one whose time was over.
                writer.delete_documents([before.item])
            new = DocumentRow(
                namespace=put.namespace,
                key=put.key,
                value=put.value,
                created_at=now,
                updated_at=now,
                ttl=put.ttl,
                expires_at=None if put.ttl is None else now + put.ttl,
                fields=put.fields,
            )
            results[at] = shown(writer.put_document(new, with_vectors(pieces[at], vectors)))
        if gone:
            counts = {"documents": delete_documents(writer, gone, now=now)}
            writer.audit("delete_documents", now=now, actor=actor, counts=counts)
            owe(writer, now=now)
    if gone:
        # Not waited for: maintain finishes what a reader is in the way of.
        pay(runtime, wait_seconds=0)
    return [results[p.namespace, p.key] for p in puts]


def get(runtime: Runtime, user_id: str, namespace: Namespace, key: str, *, refresh_ttl: bool) -> Document | None:
    """The document under the key; with ``refresh_ttl`` its time begins again."""
    now = runtime.now()
    with runtime.store.read(user_id) as reader:
        row = reader.document(namespace, key)
    if row is None or _is_over(row, now):
        return None
    return refreshed(runtime, user_id, [row], now=now)[0] if refresh_ttl else shown(row)


def refreshed(runtime: Runtime, user_id: str, rows: Sequence[DocumentRow], *, now: datetime) -> list[Document]:
    """The documents, with their time begun again where they have one. A read-only store only reads."""
    items = [r.item for r in rows if r.ttl is not None]
    if not items or runtime.store.read_only:
        return [shown(r) for r in rows]
    with runtime.store.write(user_id) as writer:
        writer.touch_documents(items, now=now)
        ends = {d.item: d.expires_at for d in writer.documents(items=items)}
    return [shown(r, expires_at=ends.get(r.item, r.expires_at)) for r in rows]


def namespaces(
    runtime: Runtime, user_id: str, prefix: Namespace, *, limit: int, cursor: str | None
) -> Page[tuple[str, ...]]:
    """The namespaces that begin with ``prefix`` and hold a document, sorted."""
    after = _place(cursor)
    with runtime.store.read(user_id) as reader:
        found = sorted(under(prefix, reader.document_namespaces(alive_at=runtime.now())))
    rest = [n for n in found if after is None or n > after]
    page = tuple(rest[:limit])
    return Page(
        page,
        json.dumps(list(page[-1])) if len(rest) > limit else None,
        lambda following: namespaces(runtime, user_id, prefix, limit=limit, cursor=following),
    )


def owners(runtime: Runtime, *, limit: int, cursor: str | None) -> Page[str]:
    """The users who have documents."""
    found = runtime.store.operations().users_with_documents(after=cursor, limit=limit + 1)
    return Page(
        tuple(found[:limit]),
        found[limit - 1] if len(found) > limit else None,
        lambda following: owners(runtime, limit=limit, cursor=following),
    )


def under(prefix: Namespace, spaces: Sequence[Namespace]) -> list[Namespace]:
    """Those that begin with the labels of ``prefix``."""
    return [n for n in spaces if n[: len(prefix)] == prefix]


def shown(row: DocumentRow, *, expires_at: datetime | None = None, similarity: float | None = None) -> Document:
    """The row as it crosses the door."""
    return Document(
        namespace=row.namespace,
        key=row.key,
        value=row.value,
        created_at=row.created_at,
        updated_at=row.updated_at,
        expires_at=expires_at or row.expires_at,
        similarity=similarity,
    )


def _is_over(row: DocumentRow, now: datetime) -> bool:
    return row.expires_at is not None and row.expires_at <= now


def _place(cursor: str | None) -> Namespace | None:
    if cursor is None:
        return None
    try:
        labels = json.loads(cursor)
    except (TypeError, ValueError):
        labels = None
    if not isinstance(labels, list) or not all(isinstance(x, str) for x in labels):
        raise InvalidInputError(f"cursor {str(cursor)[:40]!r} was not given by this call")
    return tuple(labels)
