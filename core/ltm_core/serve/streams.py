"""What does not fit into one answer: exports, imports and the feed of changes."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Literal, TypeAlias

import anyio
from fastapi import FastAPI, Request, Response
from pydantic import TypeAdapter
from starlette.responses import StreamingResponse

from ltm_core.acting import acting
from ltm_core.arguments import one_of
from ltm_core.serve.calls import Caller, Calls
from ltm_core.serve.operations import EXPORT, IMPORT
from ltm_core.serve.problems import Problem, Refused
from ltm_core.serve.routes import PROBLEMS
from ltm_core.spans import silent
from ltm_core.types import FactChange, ImportResult

LINES = "application/x-ndjson"
EVENTS = "text/event-stream"
FEED = "/v1/changes/stream"
_POLL_SECONDS = 0.5
"""How soon a change is seen; writes of other processes are found by asking the store."""
_ALIVE_SECONDS = 15.0
"""A comment keeps the connection through proxies, which cut silence after 30 to 60 seconds."""
_PAGE = 100
_After: TypeAlias = Literal["refuse", "allow"]
_change = TypeAdapter(FactChange)


def add_streams(app: FastAPI, calls: Calls) -> None:
    """Export, import and feed."""

    @app.get(EXPORT, operation_id="export_user", tags=["upkeep"], response_model=None, responses=PROBLEMS)
    async def export_user(request: Request) -> Response:
        """Everything of the user as JSON lines, read page by page while it is sent."""
        caller = calls.caller(request, request.query_params.get("user_id"), reach="user")
        lines = await calls.run("export_user", caller, lambda: calls.memory.export_user(_user(caller)))
        return StreamingResponse(lines, media_type=LINES)

    @app.post(IMPORT, operation_id="import_user", tags=["upkeep"], response_model=None, responses=PROBLEMS)
    async def import_user(request: Request) -> Response:
        """The lines of an export belong to the user of this request, whoever they were exported from.

        Query: ``after_erasure`` (refuse, allow). ``trust`` needs an administrator's key: a trusted file may say
        what only an application may.
        """
        query = request.query_params
        caller = calls.caller(request, query.get("user_id"), reach="user")
        trust = query.get("trust", "false").lower() in ("true", "1")
        if trust and caller.key.kind != "admin":
            raise Refused(
                Problem(
                    status=403,
                    title="Access denied",
                    detail="trust=true needs an administrator's key",
                    error="AccessDeniedError",
                )
            )
        after: _After = one_of(query.get("after_erasure"), _After, "after_erasure") or "refuse"
        chunks = request.stream().__aiter__()

        def work() -> ImportResult:
            with acting(caller.actor, caller.reason):
                lines = _lines(lambda: anyio.from_thread.run(_next, chunks), most=calls.settings.max_import_bytes)
                return calls.memory.import_user(lines, user_id=_user(caller), after_erasure=after, trust=trust)

        result = await anyio.to_thread.run_sync(work)
        return Response(TypeAdapter(ImportResult).dump_json(result), media_type="application/json")

    @app.get(FEED, operation_id="changes_stream", tags=["facts"], response_model=None, responses=PROBLEMS)
    async def changes_stream(request: Request) -> Response:
        """Changes of facts as they happen, as server-sent events, after ``Last-Event-ID`` or ``since``."""
        caller = calls.caller(request, request.query_params.get("user_id"), reach="user_or_all")
        since = request.headers.get("last-event-id") or request.query_params.get("since")
        first = await calls.run("changes", caller, lambda: _after(calls, caller, since))
        return StreamingResponse(_events(request, calls, caller, since, first), media_type=EVENTS)


def _user(caller: Caller) -> str:
    assert caller.user_id is not None  # the reach "user" never leaves it out
    return caller.user_id


def _after(calls: Calls, caller: Caller, since: str | None) -> tuple[FactChange, ...]:
    return calls.memory.changes(user_id=caller.user_id, since=since, limit=_PAGE).items


async def _events(
    request: Request, calls: Calls, caller: Caller, since: str | None, first: tuple[FactChange, ...]
) -> AsyncIterator[bytes]:
    found, nothing_for = first, 0.0
    yield b"retry: 1000\n\n"
    while not await request.is_disconnected():
        for change in found:
            since = change.cursor
            yield b"id: %s\nevent: change\ndata: %s\n\n" % (since.encode(), _change.dump_json(change))
        if not found:
            await asyncio.sleep(_POLL_SECONDS)
            nothing_for += _POLL_SECONDS
            if nothing_for >= _ALIVE_SECONDS:
                yield b": alive\n\n"
                nothing_for = 0.0
        with silent():
            found = await calls.run("changes", caller, functools.partial(_after, calls, caller, since))


async def _next(chunks: AsyncIterator[bytes]) -> bytes | None:
    try:
        return await chunks.__anext__()
    except StopAsyncIteration:
        return None


def _lines(more: Callable[[], bytes | None], *, most: int) -> Iterator[bytes]:
    """Whole lines of a stream of pieces; a body longer than ``most`` bytes is refused where it passes them."""
    rest, size = b"", 0
    while (piece := more()) is not None:
        size += len(piece)
        if size > most:
            raise Refused(Problem(status=413, title="Too large", detail=f"an import holds at most {most} bytes"))
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
    if rest:
        yield rest


__all__ = ["EVENTS", "FEED", "LINES", "add_streams"]
