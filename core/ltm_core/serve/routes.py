"""A route for every operation: the table made into an API."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ltm_core.errors import AccessDeniedError, InvalidInputError
from ltm_core.serve.calls import Caller, Calls
from ltm_core.serve.direct import DirectRoute, by_body, by_query, direct, json_of
from ltm_core.serve.operations import BATCH, BY_METHOD, OPERATIONS, Operation
from ltm_core.serve.problems import Refused, of_error, of_validation
from ltm_core.serve.wire import dump, request_model, response_model

_JSON = "application/json"


class ProblemDetails(BaseModel):
    """An error (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["urn:ltm-core:problem:notfounderror"])
    title: str
    status: int
    detail: str = ""
    error: str = Field("", description="Name of the error in the Python package")


PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ProblemDetails, "description": "The request was refused"},
    "5XX": {"model": ProblemDetails, "description": "The store or the server could not do it"},
}


def add_operations(app: FastAPI, calls: Calls) -> None:
    """Every operation of the table, and the batch of turns."""
    for operation in OPERATIONS:
        model = request_model(operation)
        app.router.add_api_route(
            operation.path,
            _endpoint(operation, model, calls),
            methods=[operation.verb],
            name=operation.method,
            operation_id=operation.method,
            summary=operation.summary,
            description=inspect.getdoc(operation.function) or "",
            tags=[operation.tag],
            response_model=None,
            responses={200: {"model": response_model(operation), "description": "Done"}, **PROBLEMS},
            route_class_override=DirectRoute,
        )
    app.router.add_api_route(
        BATCH,
        _batch(calls),
        methods=["POST"],
        name="observe_batch",
        operation_id="observe_batch",
        summary="Several turns are observed, each for itself, in order.",
        tags=["memory"],
        response_model=None,
        responses=PROBLEMS,
        route_class_override=DirectRoute,
    )


def _endpoint(operation: Operation, model: type[BaseModel], calls: Calls) -> Callable[..., Awaitable[Response]]:
    async def endpoint(request: Request, given: BaseModel) -> Response:
        caller = calls.caller(request, getattr(given, "user_id", None), reach=operation.reach)
        call = functools.partial(getattr(calls.memory, operation.method), **filled(operation, given, caller))
        result = await calls.run(operation.method, caller, call)
        return Response(dump(operation, result), media_type=_JSON)

    if operation.verb == "GET":
        return direct(_takes(endpoint, Annotated[model, Query()]), by_query(model))
    return direct(_takes(endpoint, Annotated[model, Body()]), by_body(model))


def _takes(endpoint: Callable[..., Awaitable[Response]], given: Any) -> Callable[..., Awaitable[Response]]:
    """The endpoint, whose ``given`` is described as this type: annotations of a closure cannot name it."""
    place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("request", place, annotation=Request),
            inspect.Parameter("given", place, annotation=given),
        ]
    )
    return endpoint


def filled(operation: Operation, given: BaseModel, caller: Caller) -> dict[str, Any]:
    """The method's arguments: what was given, the user, and an app's label. AccessDeniedError for another app's."""
    arguments = {name: getattr(given, name) for name in given.model_fields_set if name != "user_id"}
    if "user_id" in operation.accepts and caller.user_id is not None:
        arguments["user_id"] = caller.user_id
    app_id = caller.key.app_id
    if app_id is not None and "app_id" in operation.accepts:
        if arguments.get("app_id") not in (None, app_id):
            raise AccessDeniedError("the key belongs to another app than app_id names")
        arguments["app_id"] = app_id
    return arguments


def _batch(calls: Calls) -> Callable[..., Awaitable[Response]]:
    operation = BY_METHOD["observe"]
    model = request_model(operation)

    async def endpoint(request: Request, given: Any) -> Response:
        items = given.get("items") if isinstance(given, dict) else None
        if not isinstance(given, dict) or set(given) != {"items"} or not isinstance(items, list) or not items:
            raise InvalidInputError('a batch is {"items": [...]}, each as for observe, at least one')
        if len(items) > calls.settings.batch_items:
            raise InvalidInputError(f"a batch holds at most {calls.settings.batch_items} items, not {len(items)}")
        answers = []
        for item in items:
            try:
                turn = model.model_validate(item)
                caller = calls.caller(request, getattr(turn, "user_id", None), reach="user")
                call = functools.partial(calls.memory.observe, **filled(operation, turn, caller))
                seen = await calls.run("observe", caller, call)
                answers.append(b'{"status":200,"observation":' + dump(operation, seen) + b"}")
            except ValidationError as e:
                answers.append(_failed(of_validation(e.errors()).body))
            except (AccessDeniedError, InvalidInputError) as e:
                answers.append(_failed(of_error(e).body))
            except Refused as e:
                answers.append(_failed(e.problem.body))
        return Response(b'{"results":[' + b",".join(answers) + b"]}", media_type=_JSON)

    return direct(_takes(endpoint, Annotated[dict[str, Any], Body()]), json_of)


def _failed(body: dict[str, Any]) -> bytes:
    return b'{"status":%d,"problem":' % body["status"] + TypeAdapter(Any).dump_json(body) + b"}"


__all__ = ["PROBLEMS", "ProblemDetails", "add_operations", "filled"]
