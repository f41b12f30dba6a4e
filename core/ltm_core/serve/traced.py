"""A span for every request, for OpenTelemetry: its route, its status, who answered it; no word and no user in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from ltm_core.serve.requestlog import NOTE, TRACE, Pseudonyms, route_of
from ltm_core.spans import silent
from ltm_core.telemetry import PREFIX, Telemetry, failed

if TYPE_CHECKING:
    from opentelemetry.context import Context

Message = MutableMapping[str, Any]
UNTRACED = frozenset({"/health", "/ready", "/metrics"})
"""Asked every few seconds by who watches; they would bury what people did."""


class Traced:
    """ASGI, around everything else: a span of the kind "server", inside of the caller's when it sent a W3C
    ``traceparent``. ``users`` names a user without telling who it is."""

    def __init__(self, app: Any, *, telemetry: Telemetry, users: Pseudonyms) -> None:
        self._app = app
        self._telemetry = telemetry
        self._users = users

    async def __call__(self, scope: Message, receive: Any, send: Callable[[Message], Awaitable[None]]) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"] in UNTRACED:
            with silent():
                await self._app(scope, receive, send)
            return
        from opentelemetry.trace import SpanKind, format_trace_id

        note: dict[str, str] = scope.setdefault(NOTE, {})
        method = scope["method"]
        with self._telemetry.tracer.start_as_current_span(
            method,
            _parent(scope),
            SpanKind.SERVER,
            {"http.request.method": method, "url.scheme": scope.get("scheme", "http")},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            scope[TRACE] = format_trace_id(span.get_span_context().trace_id)

            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    status = message["status"]
                    span.set_attribute("http.response.status_code", status)
                    if status >= 500:
                        failed(span, str(status))
                await send(message)

            try:
                await self._app(scope, receive, noted)
            except BaseException as e:
                failed(span, type(e).__name__)
                raise
            finally:
                route = route_of(scope)
                if route is not None:
                    span.update_name(f"{method} {route}")
                    span.set_attribute("http.route", route)
                if "key" in note:
                    span.set_attribute(PREFIX + "key", note["key"])
                if "user" in note:
                    span.set_attribute(PREFIX + "user", self._users.of(note["user"]))


def _parent(scope: Message) -> Context | None:
    """None for the span that is open already, of another instrumentation; else the one that the caller named."""
    from opentelemetry import propagate, trace

    if trace.get_current_span().get_span_context().is_valid:
        return None
    return propagate.extract({k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]})


__all__ = ["UNTRACED", "Traced"]
