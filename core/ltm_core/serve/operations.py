"""Which methods of `LongTermMemory` are served, where, and for whom: one table for the server and the client."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ltm_core import types
from ltm_core.keep.sources import Sources
from ltm_core.memory import LongTermMemory
from ltm_core.types import Page

Reach: TypeAlias = Literal["user", "user_or_all", "store"]
"""``user``: needs a user; ``user_or_all``: an administrator may leave it out; ``store``: administrators only."""

_NAMES: Mapping[str, Any] = {
    **vars(types),
    "When": datetime | str | None,
    "Sources": Sources,
    "AfterErasure": Literal["refuse", "allow"],
    "Any": Any,
    "Callable": typing.Callable,
    "Iterable": Iterable,
    "Literal": Literal,
    "Mapping": Mapping,
    "Path": Path,
    "Sequence": Sequence,
    "datetime": datetime,
    "timedelta": timedelta,
}
_AS_JSON: Mapping[str, Any] = {
    "messages": list[dict[str, Any]] | None,
    "current_messages": list[dict[str, Any]] | None,
    "message_ids": list[str] | None,
    "exclude_message_ids": list[str],
    "pairs": list[dict[str, Any]],
    "writes": list[types.DocumentWrite],
    "ttl": float | None,
    "value": Any,
}
"""Parameters whose Python types (iterables, objects of a host) have another form in JSON."""
_LOCAL = frozenset({"self", "token_counter", "user_id", "actor", "reason"})
"""What a request cannot carry, or what the server itself fills in."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One field of a request."""

    name: str
    type: Any
    default: Any
    """`inspect.Parameter.empty` when it must be given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One served method: ``VERB path`` with its parameters as query (GET) or JSON body."""

    method: str
    verb: Literal["GET", "POST", "PUT"]
    path: str
    reach: Reach = "user"
    tag: str = "memory"
    example: Mapping[str, Any] = field(default_factory=dict)
    """A request that works on an empty store."""

    @property
    def function(self) -> Any:
        return getattr(LongTermMemory, self.method)

    @property
    def summary(self) -> str:
        """First sentence of the method's documentation."""
        text = " ".join((inspect.getdoc(self.function) or "").split("\n\n")[0].split())
        return text.split(". ")[0].rstrip(".") + "."

    @property
    def returns(self) -> Any:
        """The type of the result."""
        return _hints(self.method)["return"]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The fields of a request, in the order of the method's."""
        hints = _hints(self.method)
        return tuple(
            Parameter(name, _AS_JSON.get(name, hints[name]), p.default)
            for name, p in inspect.signature(self.function).parameters.items()
            if name not in _LOCAL
        )

    @property
    def accepts(self) -> frozenset[str]:
        """Every parameter of the method, those the server fills in among them."""
        return _accepts(self.method)


@functools.cache
def _accepts(method: str) -> frozenset[str]:
    # Asked by every request: reading a signature takes longer than finding facts.
    return frozenset(inspect.signature(getattr(LongTermMemory, method)).parameters) - {"self"}


@functools.cache
def _hints(method: str) -> dict[str, Any]:
    return typing.get_type_hints(getattr(LongTermMemory, method), globalns={**_NAMES, **vars(typing)})


_M, _F, _S, _D, _E, _U = "memory", "facts", "sessions", "documents", "forgetting", "upkeep"
OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="observe",
        verb="POST",
        path="/v1/observe",
        example={"session_id": "monday", "user": "I live in Lisbon.", "message_id": "m1"},
    ),
    Operation(method="remember", verb="POST", path="/v1/remember", example={"text": "My locker is number 12."}),
    Operation(
        method="context",
        verb="POST",
        path="/v1/context",
        example={"query": "Where do I live?", "session_id": "today", "max_tokens": 600},
    ),
    Operation(method="search", verb="POST", path="/v1/search", example={"query": "Lisbon", "top_k": 5}),
    Operation(
        method="assert_fact",
        verb="POST",
        path="/v1/facts",
        tag=_F,
        example={"subject": "order:A-1", "relation": "status", "object": "shipped", "source": "shop"},
    ),
    Operation(
        method="remember_procedure",
        verb="POST",
        path="/v1/procedures",
        tag=_F,
        example={"task": "Refund a customer", "steps": ["Look the order up", "Refund to the same card"]},
    ),
    Operation(method="facts", verb="GET", path="/v1/facts", tag=_F),
    Operation(method="history", verb="GET", path="/v1/facts/history", tag=_F),
    Operation(method="timeline", verb="GET", path="/v1/timeline", tag=_F),
    Operation(method="profile", verb="GET", path="/v1/profile", tag=_F),
    Operation(method="related", verb="GET", path="/v1/related", tag=_F),
    Operation(method="changes", verb="GET", path="/v1/changes", reach="user_or_all", tag=_F),
    Operation(method="correct", verb="POST", path="/v1/facts/correct", tag=_F),
    Operation(method="restore", verb="POST", path="/v1/facts/restore", tag=_F),
    Operation(method="suppress", verb="POST", path="/v1/facts/suppress", tag=_F),
    Operation(method="unsuppress", verb="POST", path="/v1/facts/unsuppress", tag=_F),
    Operation(method="messages", verb="GET", path="/v1/messages", tag=_S),
    Operation(method="replace_messages", verb="PUT", path="/v1/messages", tag=_S),
    Operation(method="delete_messages", verb="POST", path="/v1/messages/delete", tag=_S),
    Operation(method="clear_window", verb="POST", path="/v1/messages/clear_window", tag=_S),
    Operation(method="sessions", verb="GET", path="/v1/sessions", tag=_S),
    Operation(method="end_session", verb="POST", path="/v1/sessions/end", tag=_S),
    Operation(method="slots", verb="GET", path="/v1/slots", tag=_S),
    Operation(method="set_slot", verb="PUT", path="/v1/slots", tag=_S),
    Operation(method="put_document", verb="PUT", path="/v1/documents", tag=_D),
    Operation(method="write_documents", verb="POST", path="/v1/documents", tag=_D),
    Operation(method="get_document", verb="GET", path="/v1/documents", tag=_D),
    Operation(method="search_documents", verb="POST", path="/v1/documents/search", tag=_D),
    Operation(method="delete_document", verb="POST", path="/v1/documents/delete", tag=_D),
    Operation(method="document_namespaces", verb="GET", path="/v1/documents/namespaces", tag=_D),
    Operation(method="document_owners", verb="GET", path="/v1/documents/owners", reach="store", tag=_D),
    Operation(method="pause", verb="POST", path="/v1/pause", tag=_E),
    Operation(method="resume", verb="POST", path="/v1/resume", tag=_E),
    Operation(method="set_retention", verb="POST", path="/v1/retention", tag=_E, example={"retention": "deep"}),
    Operation(method="forget", verb="POST", path="/v1/forget", tag=_E),
    Operation(method="forget_matching", verb="POST", path="/v1/forget/matching", tag=_E, example={"text": "Lisbon"}),
    Operation(method="forget_session", verb="POST", path="/v1/forget/session", tag=_E),
    Operation(method="forget_user", verb="POST", path="/v1/forget/user", tag=_E),
    Operation(method="audit", verb="GET", path="/v1/audit", reach="user_or_all", tag=_U),
    Operation(method="restore_archive", verb="POST", path="/v1/archive/restore", tag=_U),
    Operation(method="doctor", verb="POST", path="/v1/doctor", reach="store", tag=_U),
    Operation(method="maintain", verb="POST", path="/v1/maintain", reach="store", tag=_U, example={"dry_run": True}),
    Operation(method="calibrate", verb="POST", path="/v1/calibrate", reach="store", tag=_U),
    Operation(method="work", verb="POST", path="/v1/work", reach="store", tag=_U),
    Operation(method="dead_letters", verb="GET", path="/v1/dead_letters", reach="store", tag=_U),
    Operation(method="retry_dead_letters", verb="POST", path="/v1/dead_letters/retry", reach="store", tag=_U),
    Operation(method="drop_dead_letters", verb="POST", path="/v1/dead_letters/drop", reach="store", tag=_U),
    Operation(method="stats", verb="GET", path="/v1/stats", reach="store", tag=_U),
)
BY_METHOD: Mapping[str, Operation] = {o.method: o for o in OPERATIONS}
EXPORT, IMPORT, BATCH = "/v1/export", "/v1/import", "/v1/observe/batch"
"""Streams of JSON lines, and many turns in one request."""
NOT_SERVED = frozenset(
    {"open", "close", "bind", "get_slot", "on_change", "export_user", "import_user", "backup", "reembed"}
)
"""Methods of the door that are no operation: their counterparts are streams (`EXPORT`, `IMPORT`), the client's own,
or, for a backup, a path on the server's disk, which a request may not choose; nor may it another embedder."""


def page_of(returns: Any) -> Any:
    """The type of a page's items, or None when the result is no page."""
    return typing.get_args(returns)[0] if typing.get_origin(returns) is Page else None


__all__ = [
    "BATCH",
    "BY_METHOD",
    "EXPORT",
    "IMPORT",
    "NOT_SERVED",
    "OPERATIONS",
    "Operation",
    "Parameter",
    "Reach",
    "page_of",
]
