"""The first gate of a request: its host, its origin and its size, before anything is parsed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from ltm_core.serve.problems import MEDIA_TYPE, Problem, of_error
from ltm_core.serve.settings import ServeSettings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
_ANY_ADDRESS = frozenset({"0.0.0.0", "::", ""})
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
"""On every answer: what it holds is somebody's memory."""


class Guard:
    """ASGI: lets a request through when its Host and Origin are known and its body is not too large.

    A body is read whole here and handed on, but for the paths of ``streams``, which count while they read.
    """

    def __init__(self, app: Any, *, settings: ServeSettings, streams: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._settings = settings
        self._streams = streams
        listened = set() if settings.host in _ANY_ADDRESS else {settings.host, f"[{settings.host}]"}
        self._hosts = LOCAL_NAMES | listened | {h.lower() for h in settings.allowed_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        problem = self._refused(headers)
        if problem is None and scope["path"] not in self._streams:
            try:
                body = await asyncio.wait_for(self._body(receive), self._settings.timeout_seconds)
            except TimeoutError:
                problem = Problem(status=408, title="Request timeout", detail="the body did not arrive in time")
            else:
                if body is None:
                    problem = self._too_large()
                else:
                    receive = _replay(body, receive)
        if problem is not None:
            await answer(problem, send)
            return
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, _marked(noted))
        except Exception as e:  # noqa: BLE001  a server would print the traceback, which may quote what was sent
            problem = of_error(e)
            if started:
                raise RuntimeError(f"an answer broke off: {type(e).__name__}") from None
            await answer(problem, send)

    def _refused(self, headers: MutableMapping[str, str]) -> Problem | None:
        host = headers.get("host", "")
        if _name(host) not in self._hosts:
            return Problem(status=421, title="Unknown host", detail="the Host header names no host of this service")
        origin = headers.get("origin")
        if origin is not None and origin not in self._settings.allowed_origins and urlsplit(origin).netloc != host:
            return Problem(status=403, title="Unknown origin", detail="pages of this origin may not call the service")
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._settings.max_import_bytes:
            return self._too_large()
        return None

    def _too_large(self) -> Problem:
        return Problem(
            status=413, title="Too large", detail=f"a body holds at most {self._settings.max_body_bytes} bytes"
        )

    async def _body(self, receive: Receive) -> bytes | None:
        """All of it, or None when it is longer than allowed."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b"".join(parts)
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._settings.max_body_bytes:
                return None
            if not message.get("more_body"):
                return b"".join(parts)


async def answer(problem: Problem, send: Send) -> None:
    """The problem as a whole answer."""
    body = json.dumps(problem.body, ensure_ascii=False).encode()
    extra = [(k.lower().encode(), v.encode()) for k, v in problem.headers.items()]
    kind = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": [*kind, *extra, *_HEADERS]})
    await send({"type": "http.response.body", "body": body})


def _name(host: str) -> str:
    """The host without its port."""
    name, _, port = host.rpartition(":")
    return (name if name and port.isdigit() else host).lower()


def _replay(body: bytes, rest: Receive) -> Receive:
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if sent:
            return await rest()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _marked(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            known = {k.lower() for k, _ in message["headers"]}
            message["headers"] = [*message["headers"], *((k, v) for k, v in _HEADERS if k not in known)]
        await send(message)

    return with_headers


__all__ = ["Guard", "answer"]
