"""Results as JSON and back, by the type that the method names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from ltm_core.serve.operations import Operation, page_of
from ltm_core.types import Page

T = TypeVar("T")
_EMPTY = inspect.Parameter.empty


class PageOf(BaseModel, Generic[T]):
    """A page of results: give ``next_cursor`` as ``cursor`` (or ``since``) for the next one."""

    items: list[T]
    next_cursor: str | None = None


def request_model(operation: Operation) -> type[BaseModel]:
    """The request of the operation: its parameters, and the user where one has to be named again."""
    fields: dict[str, Any] = {
        p.name: (p.type, ... if p.default is _EMPTY else _listed(p.default)) for p in operation.parameters
    }
    if operation.reach != "store" or "user_id" in operation.accepts:
        fields["user_id"] = (str | int | None, None)
    name = "".join(part.capitalize() for part in operation.method.split("_")) + "Request"
    example = [dict(operation.example)] if operation.example else []
    config = ConfigDict(extra="forbid", json_schema_extra=cast("Any", {"examples": example} if example else None))
    return create_model(name, __config__=config, **fields)


def response_model(operation: Operation) -> Any:
    """The type of the answer, for the API's description."""
    items = page_of(operation.returns)
    return operation.returns if items is None else _page(items)


def dump(operation: Operation, result: Any) -> bytes:
    """The result as JSON in UTF-8."""
    items = page_of(operation.returns)
    if items is None:
        return _adapter(operation.returns).dump_json(result)
    return _adapter(_page(items)).dump_json(_page(items)(items=list(result.items), next_cursor=result.next_cursor))


def load(operation: Operation, content: bytes, *, fetch: Callable[[str], Page[Any]]) -> Any:
    """The result that was dumped; ``fetch`` gets a later page by its cursor."""
    items = page_of(operation.returns)
    if items is None:
        return _adapter(operation.returns).validate_json(content)
    page = _adapter(_page(items)).validate_json(content)
    return Page(tuple(page.items), page.next_cursor, fetch)


def _page(items: Any) -> Any:
    return PageOf.__class_getitem__(items)


def _listed(default: Any) -> Any:
    return list(default) if isinstance(default, tuple) else default


@functools.cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    return TypeAdapter(type_)


__all__ = ["PageOf", "dump", "load", "request_model", "response_model"]
