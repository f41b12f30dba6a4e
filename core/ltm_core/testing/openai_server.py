"""A server on this machine that speaks the OpenAI protocol as far as tests need it, and fails on order."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from ltm_core.testing.embedders import HashEmbedder

Route = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Request:
    """What a client sent; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What a route may answer instead of a value: a status, and a value with it."""

    status: int
    value: Any = None


@dataclass(frozen=True)
class _Step:
    """How one request is answered instead of normally."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    seconds: float = 0.0
    drop: bool = False


class OpenAIServer:
    """``with OpenAIServer() as server:`` listens on 127.0.0.1 at a free port, ``server.base_url``.

    ``POST /v1/embeddings`` answers the vectors of a HashEmbedder, in reverse order with the right
    ``index``, as the protocol allows. ``route`` adds other paths. ``fail``, ``hang``, ``drop`` and
    ``garbage`` queue what happens to the next requests, whatever their path; ``requests`` holds all
    that came. ``chat`` scripts ``POST /v1/chat/completions``. Closing it ends hanging answers.
    """

    def __init__(self, *, dimension: int = 64) -> None:
        self.dimension = dimension
        self.requests: list[Request] = []
        self._steps: deque[_Step] = deque()
        self._routes: dict[str, Route] = {"/v1/embeddings": self._embeddings}
        self._closing = threading.Event()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def route(self, path: str, answer: Route) -> None:
        """POSTs to ``path`` (such as ``/v1/chat/completions``) answer what ``answer`` makes of the body."""
        self._routes[path] = answer

    def chat(
        self, *answers: str | Callable[[dict[str, Any]], str], refuse: Collection[str] = (), status: int = 500
    ) -> None:
        """Chats are answered with these, in order, the last one again and again; a callable is given the body.
        ``refuse`` names the types of ``response_format`` that are answered with ``status``, as some local servers
        do. An answer is cut as a model's is when it is longer than ``max_tokens`` times four characters."""
        waiting = deque(answers or ('{"facts": []}',))

        def answer(body: dict[str, Any]) -> Any:
            if body.get("response_format", {}).get("type", "text") in refuse:
                return Reply(status, {"error": {"message": "response_format is not supported"}})
            scripted = waiting.popleft() if len(waiting) > 1 else waiting[0]
            said = scripted if isinstance(scripted, str) else scripted(body)
            most = 4 * int(body.get("max_tokens", 10**6))
            choice = {
                "index": 0,
                "message": {"role": "assistant", "content": said[:most]},
                "finish_reason": "stop" if len(said) <= most else "length",
            }
            return {"object": "chat.completion", "model": body["model"], "choices": [choice]}

        self.route("/v1/chat/completions", answer)

    def fail(self, status: int = 500, *, times: int = 1, headers: Mapping[str, str] | None = None) -> None:
        content = b'{"error": {"message": "scripted"}}'
        self._steps.extend([_Step(status, headers or {}, content)] * times)

    def hang(self, seconds: float, *, times: int = 1) -> None:
        """Answer after ``seconds``, or when the server closes."""
        self._steps.extend([_Step(seconds=seconds)] * times)

    def drop(self, *, times: int = 1) -> None:
        """Close the connection without an answer."""
        self._steps.extend([_Step(drop=True)] * times)

    def garbage(self, content: bytes | Any = b"<html>", *, times: int = 1) -> None:
        """Answer 200 with these bytes, or with this value as JSON."""
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self._steps.extend([_Step(content=raw)] * times)

    def _embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        rows = HashEmbedder(body.get("dimensions", self.dimension)).embed_documents(texts).tolist()
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
        return {"object": "list", "model": body["model"], "data": data[::-1]}

    def _answer(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> _Step:
        self.requests.append(Request(path, headers, body))
        try:
            step = self._steps.popleft()
        except IndexError:
            step = _Step()
        if step.seconds:
            self._closing.wait(step.seconds)
        if step.content is not None or step.drop:
            return step
        answer = self._routes.get(path)
        if answer is None:
            return _Step(404, content=b"{}")
        value = answer(body)
        if isinstance(value, Reply):
            return _Step(value.status, content=json.dumps(value.value).encode())
        return _Step(content=json.dumps(value).encode())


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: OpenAIServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that gave up are part of the script."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length))
        headers = {key.lower(): value for key, value in self.headers.items()}
        step = self.server.owner._answer(self.path, headers, body)
        if step.drop:
            self.close_connection = True
            return
        content = step.content or b""
        with contextlib.suppress(OSError):
            self.send_response(step.status)
            for key, value in step.headers.items():
                self.send_header(key, value)
            if "Content-Type" not in step.headers:
                self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests print nothing."""


def wait_for_requests(server: OpenAIServer, count: int, *, seconds: float = 5.0) -> bool:
    """Whether ``count`` requests have come before the time was over."""
    end = time.monotonic() + seconds
    while len(server.requests) < count and time.monotonic() < end:
        time.sleep(0.005)
    return len(server.requests) >= count
