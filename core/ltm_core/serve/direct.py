"""A request read by its model alone. FastAPI describes the route; what it would do for each request takes longer than
many a call of the memory."""

from __future__ import annotations

import collections.abc
import json
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

from ltm_core.serve.problems import Problem, Refused, of_validation

Endpoint: TypeAlias = Callable[[Request, Any], Awaitable[Response]]
Read: TypeAlias = Callable[[Request], Awaitable[Any]]
_MANY = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)


class DirectRoute(APIRoute):
    """Hands the request to what `direct` put beside the endpoint."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handler: Callable[[Request], Any] = self.endpoint.direct  # type: ignore[attr-defined]
        return handler


def direct(endpoint: Endpoint, read: Read) -> Endpoint:
    """The endpoint for a `DirectRoute`: it gets the request, and what ``read`` makes of it."""

    async def handle(request: Request) -> Response:
        return await endpoint(request, await read(request))

    endpoint.direct = handle  # type: ignore[attr-defined]
    return endpoint


def by_query(model: type[BaseModel]) -> Read:
    """Reads the address: of a name that is given twice the last value counts, but for lists."""
    many = frozenset(name for name, field in model.model_fields.items() if _is_many(field.annotation))

    async def read(request: Request) -> BaseModel:
        query = request.query_params
        return _valid(model, {k: query.getlist(k) if k in many else query[k] for k in query}, place="query")

    return read


def by_body(model: type[BaseModel]) -> Read:
    """Reads the body as JSON."""

    async def read(request: Request) -> BaseModel:
        return _valid(model, await json_of(request), place="body")

    return read


async def json_of(request: Request) -> Any:
    """What the body says; Refused (422) when it is no JSON, or not said to be."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise _refused([{"loc": ("body",), "msg": "JSON is expected: Content-Type: application/json"}])
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as e:
        at = getattr(e, "pos", 0)
        raise _refused([{"loc": ("body", at), "msg": "JSON decode error"}]) from None


def _valid(model: type[BaseModel], given: Any, *, place: str) -> BaseModel:
    try:
        return model.model_validate(given)
    except ValidationError as e:
        raise _refused([{"loc": (place, *x["loc"]), "msg": x["msg"]} for x in e.errors()]) from None


def _refused(found: Sequence[Mapping[str, Any]]) -> Refused:
    problem: Problem = of_validation(found)
    return Refused(problem)


def _is_many(annotation: Any) -> bool:
    """Whether values of the type are several."""
    origin = typing.get_origin(annotation)
    return origin in _MANY or any(_is_many(a) for a in typing.get_args(annotation) if origin not in _MANY)


__all__ = ["DirectRoute", "by_body", "by_query", "direct", "json_of"]
