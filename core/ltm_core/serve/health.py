"""Whether the service lives, whether it can answer, and its figures."""

from __future__ import annotations

from typing import Any

import anyio
from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import JSONResponse

from ltm_core import __version__
from ltm_core.errors import AccessDeniedError, LTMError
from ltm_core.serve.calls import Calls


def add_health(app: FastAPI, calls: Calls) -> None:
    """``/health`` and ``/ready`` need no key and tell nothing of the store; ``/metrics`` needs an administrator's."""

    @app.get("/health", operation_id="health", tags=["service"])
    async def health() -> dict[str, Any]:
        """The process answers."""
        return {"status": "ok", "version": __version__}

    @app.get("/ready", operation_id="ready", tags=["service"], response_model=None)
    async def ready() -> Response:
        """The store answers too; 503 when it does not."""
        try:
            with anyio.fail_after(calls.settings.timeout_seconds):
                await anyio.to_thread.run_sync(calls.memory.stats, abandon_on_cancel=True)
        except (LTMError, TimeoutError) as e:
            return JSONResponse({"status": "unavailable", "error": type(e).__name__}, status_code=503)
        return JSONResponse({"status": "ok"})

    @app.get("/metrics", operation_id="metrics", tags=["service"], response_model=None)
    async def metrics(request: Request) -> Response:
        """The figures for Prometheus."""
        if calls.key(request).kind != "admin":
            raise AccessDeniedError("metrics need an administrator's key")
        return Response(await anyio.to_thread.run_sync(calls.metrics.text), media_type=CONTENT_TYPE_LATEST)


__all__ = ["add_health"]
