"""A store for LangGraph: its documents lie inside the wall of the user they belong to."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from langchain_ltm._labels import namespace_label, user_of
from langchain_ltm._sweeper import Sweeper
from ltm_core.adapting import Call, Steps, adrive, checked_id, drive, served
from ltm_core.errors import ConfigError, InvalidScopeError
from ltm_core.types import Document, DocumentWrite

SHARED_USER = "langgraph:shared"
"""Owner of the documents whose namespace is too short to name a user; only with ``cross_user=True``."""
_PAGE = 1000
_METHODS = ("write_documents", "get_document", "search_documents", "document_namespaces")

T = TypeVar("T")


class LTMStore(BaseStore):
    """LangGraph's long-term store on a LongTermMemory: persistent, searchable by meaning, erased with the user.

    ``user_id`` binds one user, whatever the namespaces are. ``user_label=1`` takes the user from the second label of
    the namespace (``("memories", namespace_label(user_id))``); what does not name a user there raises
    InvalidScopeError, unless ``cross_user=True``: then prefixes too short to name one look at all users, and
    documents in such namespaces belong to `SHARED_USER`. With neither, the user of the active
    ``ltm_core.scope(...)`` is served.

    ``index``: ``{"fields": ["text"]}`` names the texts that a ``query`` finds documents by; by default the whole
    value; False switches it off. The memory's own embedder embeds them. ``ttl``: LangGraph's TTLConfig, minutes; what
    is over is never returned, and swept by ``memory.maintain()``, `sweep_ttl` or `start_ttl_sweeper`.

    Operations of one batch are those of LangGraph's InMemoryStore: reads see what was there before it, the last put
    of a key counts. The puts of one user are one transaction. ``created_at`` is kept when a value is replaced. A
    document is no memory: no context and no fact shows it.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Any,
        *,
        user_id: str | int | None = None,
        user_label: int | None = None,
        cross_user: bool = False,
        index: IndexConfig | Mapping[str, Any] | Literal[False] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        missing = [m for m in _METHODS if not callable(getattr(memory, m, None))]
        if missing:
            raise ConfigError(f"memory must be a LongTermMemory, not {type(memory).__name__} without {missing[0]}")
        if user_id is not None and user_label is not None:
            raise ConfigError("give user_id= or user_label=, not both")
        if user_label is not None and (isinstance(user_label, bool) or not isinstance(user_label, int)):
            raise ConfigError("user_label must be the position of a label, counted from 0")
        if user_label is not None and user_label < 0:
            raise ConfigError(f"user_label must be at least 0, not {user_label}")
        if cross_user and user_label is None:
            raise ConfigError("cross_user=True needs user_label=: a bound store has one user")
        self._memory = memory
        self._user_id = checked_id(user_id, "user_id")
        self._position = user_label
        self._cross_user = cross_user
        self._fields = _fields_of(index)
        self.ttl_config = ttl
        self._sweeper = Sweeper(memory)

    def __repr__(self) -> str:
        whose = f"user_label={self._position}" if self._position is not None else f"user_id={self._user_id!r}"
        return f"LTMStore({self._memory!r}, {whose})"

    # the two methods of the host ---------------------------------------------------------------------------
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The results in the order of the operations. All are checked before the first one runs."""
        return drive(self._memory, self._running(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Async form of `batch`; the loop is not blocked."""
        return await adrive(self._memory, self._running(list(ops)))

    # expiry --------------------------------------------------------------------------------------------------
    def sweep_ttl(self) -> int:
        """Documents whose time is over are gone, with everything else that is due (``memory.maintain()``); returns
        how many items went."""
        return self._sweeper.sweep()

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> threading.Thread | None:
        """A background thread sweeps at this interval (else the one of ``ttl``), until `stop_ttl_sweeper`; None when
        neither names one."""
        minutes = sweep_interval_minutes or (self.ttl_config or {}).get("sweep_interval_minutes")
        return self._sweeper.start(minutes * 60) if minutes else None

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """The sweeper has ended, or False when it still works after ``timeout`` seconds."""
        return self._sweeper.stop(timeout)

    # the work, once for both -----------------------------------------------------------------------------------
    def _running(self, ops: Sequence[Op]) -> Steps[list[Result]]:
        owners = [self._checked(op) for op in ops]
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], tuple[str, PutOp]] = {}
        for op, user in zip(ops, owners, strict=True):
            if isinstance(op, GetOp):
                results.append((yield from self._get(_one(user), op)))
            elif isinstance(op, SearchOp):
                results.append((yield from self._search(user, op)))
            elif isinstance(op, ListNamespacesOp):
                results.append((yield from self._list(user, op)))
            else:
                puts[op.namespace, op.key] = _one(user), op
                results.append(None)
        by_user: dict[str, list[DocumentWrite]] = {}
        for user, put in puts.values():
            by_user.setdefault(user, []).append(self._write_of(put))
        for user, writes in by_user.items():
            yield Call("write_documents", {"user_id": user, "writes": writes})
        return results

    def _checked(self, op: Op) -> str | None:
        """Whose operation it is; None for all users."""
        if not isinstance(op, GetOp | PutOp | SearchOp | ListNamespacesOp):
            raise ValueError(f"Unknown operation type: {type(op)}")
        validate_op_namespace(op)
        if self._position is None:
            return served(self._user_id, None).user_id
        if isinstance(op, ListNamespacesOp):
            prefixes = [c.path for c in op.match_conditions or () if c.match_type == "prefix"]
            named = [p for p in prefixes if len(p) > self._position and p[self._position] != "*"]
            return self._owner(named[0] if named else ())
        if isinstance(op, SearchOp):
            return self._owner(op.namespace_prefix)
        return self._owner(op.namespace) or SHARED_USER

    def _owner(self, labels: tuple[str, ...]) -> str | None:
        """The user whom the labels name, or None (all users) where that is allowed."""
        assert self._position is not None
        if len(labels) > self._position:
            user = user_of(labels[self._position], self._position)
            if user == SHARED_USER:
                raise InvalidScopeError(f"{SHARED_USER!r} is the owner of what all users share, and no user")
            return user if self._cross_user else served(user, None).user_id
        if not self._cross_user:
            raise InvalidScopeError(
                f"the namespace has {len(labels)} labels, so none at position {self._position} names the user; "
                "LTMStore(..., cross_user=True) allows that"
            )
        return None

    def _get(self, user: str, op: GetOp) -> Steps[Item | None]:
        options = {"user_id": user, "namespace": op.namespace, "key": op.key, "refresh_ttl": op.refresh_ttl}
        found: Document | None = yield Call("get_document", options)
        return None if found is None else Item(**_shown(found))

    def _search(self, user: str | None, op: SearchOp) -> Steps[list[SearchItem]]:
        if op.limit <= 0:
            return []
        if user is not None:
            return [_found(d) for d in (yield from self._pages(user, op))]
        everything: list[Document] = []
        for owner in (yield from self._all_users()):
            # What other stores on this memory wrote is passed over, so more than the page may have to be read.
            alike = op._replace(offset=0, limit=op.offset + op.limit, refresh_ttl=False)
            everything += yield from self._pages(owner, alike, size=_PAGE)
        everything.sort(key=lambda d: (d.similarity is None, -(d.similarity or 0.0)))
        return [_found(d) for d in everything[op.offset : op.offset + op.limit]]

    def _pages(self, user: str, op: SearchOp, *, size: int | None = None) -> Steps[list[Document]]:
        """The user's documents that the operation asks for, read by ``size``."""
        found: list[Document] = []
        offset = op.offset
        while len(found) < op.limit:
            asked = size or min(_PAGE, op.limit - len(found))
            page: list[Document] = yield Call(
                "search_documents",
                {
                    "user_id": user,
                    "namespace_prefix": op.namespace_prefix,
                    "query": op.query if self._fields is not False else None,
                    "filters": op.filter,
                    "limit": asked,
                    "offset": offset,
                    "refresh_ttl": op.refresh_ttl,
                },
            )
            found += [d for d in page if self._belongs(d.namespace, user)]
            offset += len(page)
            if len(page) < asked:
                break
        return found[: op.limit]

    def _list(self, user: str | None, op: ListNamespacesOp) -> Steps[list[tuple[str, ...]]]:
        users = [user] if user is not None else (yield from self._all_users())
        spaces: list[tuple[str, ...]] = []
        for owner in users:
            cursor = None
            while True:
                options = {"user_id": owner, "limit": _PAGE, "cursor": cursor}
                page = yield Call("document_namespaces", options)
                spaces += [n for n in page.items if self._belongs(n, owner)]
                cursor = page.next_cursor
                if cursor is None:
                    break
        spaces = [n for n in spaces if all(_matches(c, n) for c in op.match_conditions or ())]
        if op.max_depth is not None:
            spaces = list({n[: op.max_depth] for n in spaces})
        return sorted(spaces)[op.offset : op.offset + op.limit]

    def _all_users(self) -> Steps[list[str]]:
        users: list[str] = []
        cursor = None
        while True:
            page = yield Call("document_owners", {"limit": _PAGE, "cursor": cursor})
            users += page.items
            cursor = page.next_cursor
            if cursor is None:
                return users

    def _belongs(self, namespace: tuple[str, ...], user: str) -> bool:
        """Whether this store would look for the namespace at this user: other stores on the same memory may have
        namespaces of other shapes."""
        if self._position is None:
            return True
        if len(namespace) <= self._position:
            return user == SHARED_USER
        return namespace[self._position] == namespace_label(user)

    def _write_of(self, op: PutOp) -> DocumentWrite:
        index: Any = self._fields if op.index is None else op.index
        return DocumentWrite(
            namespace=op.namespace,
            key=op.key,
            value=op.value,
            index=False if self._fields is False or index is False else tuple(index),
            ttl=None if op.ttl is None or op.value is None else op.ttl * 60,
        )


def _fields_of(index: Any) -> tuple[str, ...] | Literal[False]:
    if index is False:
        return False
    if index is not None and not isinstance(index, Mapping):
        raise ConfigError(f"index must be a mapping such as {{'fields': ['text']}}, not {type(index).__name__}")
    options = dict(index or {})
    fields = options.pop("fields", None) or ("$",)
    if options:
        raise ConfigError(
            f"index cannot hold {', '.join(sorted(map(str, options)))}: the memory's own embedder embeds documents "
            "(LongTermMemory.open(embedder=...)); give only fields"
        )
    if isinstance(fields, str):
        raise ConfigError("index['fields'] must be a list of paths")
    return tuple(fields)


def _one(user: str | None) -> str:
    assert user is not None
    return user


def _shown(document: Document) -> dict[str, Any]:
    return {
        "namespace": document.namespace,
        "key": document.key,
        "value": dict(document.value),
        "created_at": document.created_at,
        "updated_at": document.updated_at,
    }


def _found(document: Document) -> SearchItem:
    return SearchItem(**_shown(document), score=document.similarity)


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        part = namespace[: len(path)]
    elif condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    else:
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    return all(p in ("*", n) for p, n in zip(path, part, strict=True))


__all__ = ["SHARED_USER", "LTMStore", "namespace_label"]
