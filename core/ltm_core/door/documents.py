"""Application data by namespace and key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from ltm_core.arguments import limit_of, optional_text, words_of
from ltm_core.door.base import Door
from ltm_core.errors import InvalidInputError
from ltm_core.twins import twin
from ltm_core.types import Document, DocumentWrite, Page


class Documents(Door):
    """Application data by namespace and key."""

    def put_document(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        user_id: str | int,
        index: bool | Sequence[str] = True,
        ttl: float | timedelta | None = None,
        actor: str | None = None,
    ) -> Document:
        """The namespace holds ``value`` (JSON) under ``key``; an earlier value is replaced.

        A document is application data inside the user's wall, erased with the user, and no memory: it appears in
        no context and is no fact. ``index``: what `search_documents` finds it by: the whole value, nothing
        (False), or the texts at these paths (``"title"``, ``"notes[*].text"``). ``ttl``: seconds it lives after it
        was written, or read with ``refresh_ttl``.
        """
        if value is None:
            raise InvalidInputError("value must be a mapping, not None; delete_document removes a document")
        write = DocumentWrite(namespace=namespace, key=key, value=value, index=index, ttl=ttl)
        (stored,) = self.write_documents([write], user_id=user_id, actor=actor)
        assert stored is not None
        return stored

    def write_documents(
        self, writes: Iterable[DocumentWrite], *, user_id: str | int, actor: str | None = None
    ) -> list[Document | None]:
        """All of these documents are stored or deleted, or none is; of several for one key the last one counts.

        Returns, in order, what is stored, or for a deletion what is gone (None when there was nothing). Raises
        ConflictError while the user is paused, unless all are deletions.
        """
        from ltm_core.documents.checks import checked_write
        from ltm_core.documents.service import write

        scope, config, now = self._runtime.scope(user_id), self.config, self._runtime.now()
        puts = [
            checked_write(
                w,
                now=now,
                id_limit=config.max_id_characters,
                most_bytes=config.max_document_bytes,
                masked=config.redact_pii,
            )
            for w in writes
        ]
        return write(self._runtime, scope.user_id, puts, actor=actor)

    def get_document(
        self, namespace: Sequence[str], key: str, *, user_id: str | int, refresh_ttl: bool = False
    ) -> Document | None:
        """The document under the key, or None. With ``refresh_ttl`` its time to live begins again."""
        from ltm_core.documents.checks import key_of, namespace_of
        from ltm_core.documents.service import get

        where = namespace_of(namespace, limit=self._limit), key_of(key, limit=self._limit)
        return get(self._runtime, self._runtime.scope(user_id).user_id, *where, refresh_ttl=refresh_ttl)

    def search_documents(
        self,
        namespace_prefix: Sequence[str] = (),
        *,
        user_id: str | int,
        query: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        offset: int = 0,
        refresh_ttl: bool = False,
    ) -> list[Document]:
        """The user's documents whose namespace begins with the prefix and whose value passes the filter.

        With a ``query`` the nearest in meaning first and those without an index last, else in the order in which
        they were first put. ``filters``: ``{key: value}`` or ``{key: {"$gt": 3}}`` with $eq $ne $gt $gte $lt $lte
        $in $nin $exists, $and and $or. ``limit``: 10 by default, 1,000 at most.
        """
        from ltm_core.documents.checks import namespace_of
        from ltm_core.documents.match import checked
        from ltm_core.documents.search import search

        if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
            raise InvalidInputError(f"offset must be a whole number of at least 0, not {offset!r}")
        return search(
            self._runtime,
            self._runtime.scope(user_id).user_id,
            namespace_of(namespace_prefix, limit=self._limit, what="namespace_prefix"),
            query=words_of(query, "query"),
            filters=checked(filters),
            limit=limit_of(limit, default=10),
            offset=offset,
            refresh_ttl=refresh_ttl,
        )

    def delete_document(
        self, namespace: Sequence[str], key: str, *, user_id: str | int, actor: str | None = None
    ) -> bool:
        """Nothing is stored under the key, and the bytes are overwritten now or by `maintain`; False when nothing
        was. An erasure: no backup and no export made before brings the document back. The key is free."""
        write = DocumentWrite(namespace=namespace, key=key, value=None)
        return self.write_documents([write], user_id=user_id, actor=actor)[0] is not None

    def document_namespaces(
        self,
        prefix: Sequence[str] = (),
        *,
        user_id: str | int,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[tuple[str, ...]]:
        """The namespaces that begin with ``prefix`` and hold a document of the user, sorted."""
        from ltm_core.documents.checks import namespace_of
        from ltm_core.documents.service import namespaces

        return namespaces(
            self._runtime,
            self._runtime.scope(user_id).user_id,
            namespace_of(prefix, limit=self._limit, what="prefix"),
            limit=limit_of(limit),
            cursor=cursor,
        )

    def document_owners(self, *, limit: int | None = None, cursor: str | None = None) -> Page[str]:
        """The ids of all users who have documents, for the operator: it looks across the wall, but shows no
        content."""
        from ltm_core.documents.service import owners

        return owners(self._runtime, limit=limit_of(limit), cursor=optional_text(cursor, "cursor"))

    aput_document = twin(put_document)
    awrite_documents = twin(write_documents, "long")
    aget_document = twin(get_document)
    asearch_documents = twin(search_documents)
    adelete_document = twin(delete_document, "long")
    adocument_namespaces = twin(document_namespaces)
    adocument_owners = twin(document_owners)


__all__ = ["Documents"]
