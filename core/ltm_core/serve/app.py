"""The HTTP API over one open memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse

from ltm_core import __version__
from ltm_core.errors import LTMError, MissingExtraError
from ltm_core.serve.calls import Calls
from ltm_core.serve.guard import Guard
from ltm_core.serve.health import add_health
from ltm_core.serve.keys import Keyring
from ltm_core.serve.metrics import Metrics
from ltm_core.serve.operations import EXPORT, IMPORT
from ltm_core.serve.problems import MEDIA_TYPE, Problem, Refused, of_error, of_validation
from ltm_core.serve.rate import Rate
from ltm_core.serve.requestlog import Logged, Pseudonyms, RequestLog, secret_of
from ltm_core.serve.routes import add_operations
from ltm_core.serve.settings import ServeSettings
from ltm_core.serve.streams import add_streams
from ltm_core.serve.webhook import Deliverer, poster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ltm_core.memory import LongTermMemory

_ABOUT = (
    "What was said, what is true, and what was true, per user. The user comes from the key, or for an app's or an "
    "administrator's key from the header LTM-User, never from the body. Errors are problem details (RFC 9457)."
)

_NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""FastAPI's own spans and logs would hold addresses with their queries, and messages of errors: what people said."""


def create_app(
    memory: LongTermMemory,
    keys: Keyring,
    settings: ServeSettings | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
    wall: Callable[[], float] = time.time,
    close: bool = False,
) -> FastAPI:
    """An application that serves ``memory`` to who holds a key. With ``close`` the memory is closed when it stops.
    ``clock``: seconds, for rates; ``wall``: seconds since 1970, for the end of a sign-in to the page,
    the log and the signatures of the webhook. While the application runs, one of the processes with this store sends
    the webhook's changes.

    Every answer that is no success is a problem document; what a memory says is in none of them, nor in a log.
    """
    settings = settings or ServeSettings()

    metrics = Metrics(memory)
    log = _request_log(keys, settings)
    deliverer = _deliverer(memory, keys, settings, metrics, wall)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if deliverer is not None:
            deliverer.start()
        yield
        if deliverer is not None:
            await anyio.to_thread.run_sync(deliverer.stop, settings.webhook_timeout_seconds + 1)
        if log is not None:
            log.close()
        if close:
            await memory.aclose()

    app = FastAPI(
        title="ltm-core",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json" if settings.docs else None,
        telemetry=_NO_TELEMETRY,
    )
    rate = Rate(per_minute=settings.requests_per_minute, burst=settings.burst, clock=clock)
    calls = Calls(memory, keys, settings, rate=rate, metrics=metrics)
    add_operations(app, calls)
    add_streams(app, calls)
    add_health(app, calls)
    if settings.page:
        try:
            from ltm_core.serve.page import add_page
        except ImportError:
            raise MissingExtraError("the page (LTM_SERVE_PAGE=false serves without it)", "server") from None
        add_page(app, calls, wall=wall)
    _answer_errors(app)
    if settings.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.allowed_origins),
            allow_methods=["GET", "POST", "PUT"],
            allow_headers=["authorization", "content-type", "ltm-user", "ltm-actor", "ltm-reason"],
        )
    app.add_middleware(Guard, settings=settings, streams=frozenset({IMPORT, EXPORT}))
    if log is not None:
        app.add_middleware(Logged, log=log, wall=wall)
    if memory.config.telemetry:
        from ltm_core.serve.traced import Traced
        from ltm_core.telemetry import Telemetry

        app.add_middleware(Traced, telemetry=Telemetry(), users=Pseudonyms(secret_of(keys.place)))
    return app


def _deliverer(
    memory: LongTermMemory, keys: Keyring, settings: ServeSettings, metrics: Metrics, wall: Callable[[], float]
) -> Deliverer | None:
    if not settings.webhook_url:
        return None
    return Deliverer(
        memory,
        keys.place,
        url=settings.webhook_url,
        secret=settings.webhook_secret,
        post=poster(settings.webhook_url, timeout=settings.webhook_timeout_seconds),
        wall=wall,
        batch=settings.webhook_batch,
        told=metrics.delivered,
    )


def _request_log(keys: Keyring, settings: ServeSettings) -> RequestLog | None:
    if not settings.log_file:
        return None
    return RequestLog(
        Path(settings.log_file),
        most_bytes=settings.log_bytes,
        files=settings.log_files,
        users=Pseudonyms(secret_of(keys.place)),
    )


def _answer_errors(app: FastAPI) -> None:
    async def refused(_: Request, error: Any) -> Response:
        return answer(error.problem)

    async def invalid(_: Request, error: Any) -> Response:
        return answer(of_validation(error.errors()))

    async def of_http(_: Request, error: Any) -> Response:
        return answer(Problem(status=error.status_code, title=str(error.detail), headers=error.headers or {}))

    async def of_product(_: Request, error: Any) -> Response:
        return answer(of_error(error))

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(LTMError, of_product)


def answer(problem: Problem) -> JSONResponse:
    """The problem as a response."""
    return JSONResponse(
        problem.body, status_code=problem.status, media_type=MEDIA_TYPE, headers=dict(problem.headers)
    )


__all__ = ["answer", "create_app"]
