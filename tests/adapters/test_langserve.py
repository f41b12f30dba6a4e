"""LangServe over real HTTP: two signed-in users, and everything by which one could reach the other."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import itemgetter
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI, Request
from langchain_core.runnables import ConfigurableField, RunnableConfig, RunnableLambda, RunnablePassthrough

from langchain_ltm.langserve import ChatInput, add_memory_routes, per_request_user, per_user
from ltm_core import ConfigError, InvalidScopeError, LongTermMemory
from ltm_core.testing.embedders import HashEmbedder

pytestmark = [
    # LangServe reads `model_fields` from instances at each request.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_fields' attribute on the instance is deprecated"),
    # LangChain's own deprecations of ConversationChain, which one of the routes is about.
    pytest.mark.filterwarnings("ignore:The class `ConversationChain` was deprecated"),
    pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning"),
]
EXAMPLE = Path(__file__).parents[2] / "examples" / "langserve_app.py"
ANA = {"authorization": "Bearer ana-token"}
BEN = {"authorization": "Bearer ben-token"}


def example() -> Any:
    spec = importlib.util.spec_from_file_location("langserve_app", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def running(app: FastAPI) -> Iterator[httpx.Client]:
    """The app on a real server at a free port, and a client for it."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(30)


@contextmanager
def serving(directory: Path) -> Iterator[httpx.Client]:
    with (
        LongTermMemory.open(directory, embedder=HashEmbedder(), timezone="UTC") as memory,
        running(example().make_app(memory)) as client,
    ):
        yield client


def ask(client: httpx.Client, path: str, text: str, who: dict[str, str], **body: Any) -> httpx.Response:
    return client.post(f"{path}/invoke", json={"input": {"input": text}, **body}, headers=who)


def answer(client: httpx.Client, path: str, text: str, who: dict[str, str], **body: Any) -> str:
    response = ask(client, path, text, who, **body)
    assert response.status_code == 200, response.text
    output: str = response.json()["output"]
    return output


def streamed(client: httpx.Client, path: str, text: str, who: dict[str, str]) -> list[str]:
    """The data of each event."""
    found, event = [], ""
    with client.stream("POST", f"{path}/stream", json={"input": {"input": text}}, headers=who) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            if line.startswith("event:"):
                event = line.removeprefix("event:").strip()
            elif line.startswith("data:") and event == "data":
                found.append(json.loads(line.removeprefix("data:")))
    return found


@pytest.mark.parametrize("path", ["/chat", "/conversation"])
def test_two_users_never_meet(tmp_path: Path, path: str) -> None:
    with serving(tmp_path / "data") as client:
        answer(client, path, "I live in Porto.", ANA)
        answer(client, path, "I live in Lima.", BEN)
        for who, own, other in ((ANA, "Porto", "Lima"), (BEN, "Lima", "Porto")):
            later = {**who, "x-session-id": "later"}
            said = answer(client, path, "Where do I live?", later)
            assert own in said and other not in said
            whole = "".join(streamed(client, path, "Where do I live?", later))
            assert own in whole and other not in whole
            batch = client.post(
                f"{path}/batch",
                json={"inputs": [{"input": "Where do I live?"}, {"input": "Where is my home, where do I live?"}]},
                headers=later,
            )
            assert batch.status_code == 200
            assert all(own in o and other not in o for o in batch.json()["output"])
    with serving(tmp_path / "data") as client:
        said = answer(client, path, "Where do I live?", {**ANA, "x-session-id": "after a restart"})
        assert "Porto" in said and "Lima" not in said


def test_words_arrive_one_by_one_and_the_whole_answer_is_kept(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        chunks = streamed(client, "/chat", "I live in Porto.", ANA)
        assert len(chunks) > 3
        whole = "".join(chunks)
    with LongTermMemory.open(tmp_path / "data", embedder=HashEmbedder(), timezone="UTC") as memory:
        turns = [(m.role, m.content, m.reply_to) for m in memory.messages(user_id="ana@example.org")]
    assert [t[:2] for t in turns] == [("user", "I live in Porto."), ("assistant", whole)] and turns[1][2]


def test_a_client_that_hangs_up_keeps_its_words(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        body = {"input": {"input": "I am allergic to bees."}}
        with client.stream("POST", "/chat/stream", json=body, headers=ANA) as response:
            next(response.iter_lines())
        assert "bees" in answer(client, "/chat", "What am I allergic to?", {**ANA, "x-session-id": "s2"})


BODIES: list[Callable[[str], dict[str, Any]]] = [
    lambda user: {"config": {"configurable": {"user_id": user}}},
    lambda user: {"config": {"configurable": {"user_id": user, "session_id": "s"}}},
]


@pytest.mark.parametrize("path", ["/chat", "/conversation"])
def test_the_body_cannot_choose_another_user(tmp_path: Path, path: str) -> None:
    with serving(tmp_path / "data") as client:
        answer(client, path, "I live in Porto.", ANA)
        for body in BODIES:
            for endpoint, given in (
                ("invoke", {"input": {"input": "Where do I live?"}}),
                ("stream", {"input": {"input": "Where do I live?"}}),
                ("batch", {"inputs": [{"input": "Where do I live?"}]}),
            ):
                sent = {**given, **body("ana@example.org")}
                refused = client.post(f"{path}/{endpoint}", json=sent, headers=BEN)
                assert refused.status_code == 403 and "Porto" not in refused.text
                assert client.post(f"{path}/{endpoint}", json=sent, headers=ANA).status_code == 200
        several = {"inputs": [{"input": "a"}, {"input": "b"}], "config": [{}, BODIES[0]("ana@example.org")["config"]]}
        assert client.post(f"{path}/batch", json=several, headers=BEN).status_code == 403
        extra = {"input": {"input": "Where do I live?", "user_id": "ana@example.org"}}
        assert client.post(f"{path}/invoke", json=extra, headers=BEN).status_code == 422
        for headers in ({}, {"authorization": "Bearer nobody"}, {"x-user-id": "ana@example.org"}):
            for endpoint in ("invoke", "stream"):
                hi = {"input": {"input": "hi"}}
                assert client.post(f"{path}/{endpoint}", json=hi, headers=headers).status_code == 401
            assert (
                client.post(f"{path}/batch", json={"inputs": [{"input": "hi"}]}, headers=headers).status_code == 401
            )
        query = client.post(
            f"{path}/invoke?user_id=ana@example.org", json={"input": {"input": "Where?"}}, headers=BEN
        )
        assert query.status_code == 200 and "Porto" not in query.text


@pytest.mark.parametrize("path", ["/chat", "/conversation"])
def test_leaking_endpoints_are_closed(tmp_path: Path, path: str) -> None:
    with serving(tmp_path / "data") as client:
        answer(client, path, "I live in Porto.", ANA)
        body = {"input": {"input": "Where do I live?"}}
        for endpoint in ("stream_log", "stream_events", "feedback", "public_trace_link", "token_feedback"):
            response = client.post(f"{path}/{endpoint}", json=body, headers=ANA)
            assert response.status_code in (404, 405) and "Porto" not in response.text
        for endpoint in ("playground/", "config_schema", "c/abc/config_schema", "c/abc/input_schema"):
            assert client.get(f"{path}/{endpoint}", headers=ANA).status_code == 404
        assert client.post(f"{path}/c/abc/invoke", json=body, headers=ANA).status_code == 404
        assert client.get(f"{path}/input_schema").json()["required"] == ["input"]
        assert client.get(f"{path}/output_schema").json()["type"] == "string"
        assert client.get("/openapi.json").status_code == 200
        # No answer carries what was recalled beside the answer itself.
        assert set(ask(client, path, "hello", ANA).json()) == {"output", "metadata"}


def test_many_requests_at_once_stay_with_their_users(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:

        def say(i: int) -> None:
            who, name = (ANA, "ana") if i % 2 else (BEN, "ben")
            headers = {**who, "x-session-id": f"s{i % 4}"}
            said = answer(client, "/chat" if i % 3 else "/conversation", f"{name} number {i}", headers)
            assert ("ben" if name == "ana" else "ana") not in said.replace("ana@", "")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(say, range(24)))
    with LongTermMemory.open(tmp_path / "data", embedder=HashEmbedder(), timezone="UTC") as memory:
        for user, name, odd in (("ana@example.org", "ana", 1), ("ben", "ben", 0)):
            turns = list(memory.messages(user_id=user))
            said = sorted(m.content for m in turns if m.role == "user")
            assert said == sorted(f"{name} number {i}" for i in range(24) if i % 2 == odd)
            assert len([m for m in turns if m.role == "assistant"]) == 12


# the modifier by itself ------------------------------------------------------------------------------------------
def echo_app(**options: Any) -> FastAPI:
    """An app that answers with the configuration its runnable is given."""

    def tell(value: dict[str, str], config: RunnableConfig) -> str:
        return json.dumps(config.get("configurable"), ensure_ascii=False, sort_keys=True)

    app = FastAPI()

    @app.middleware("http")
    async def sign_in(request: Request, call_next: Any) -> Any:
        if user := request.headers.get("x-token"):
            request.state.user_id = user
        return await call_next(request)

    add_memory_routes(app, RunnableLambda(tell), "/echo", user=per_request_user(**options))
    return app


def told(client: httpx.Client, headers: dict[str, str], **body: Any) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(answer(client, "/echo", "x", headers, **body))
    return shown


async def slow_user(request: Request) -> str | None:
    await asyncio.sleep(0)
    return request.headers.get("x-token")


@pytest.mark.parametrize(
    ("options", "header"),
    [
        ({"state": "user_id"}, "x-token"),
        ({"header": "x-forwarded-user"}, "x-forwarded-user"),
        ({"user_of": slow_user}, "x-token"),
        ({"user_of": lambda request: request.headers.get("x-token")}, "x-token"),
    ],
    ids=["state", "header", "async", "function"],
)
def test_the_user_and_the_session_come_from_the_request(options: dict[str, Any], header: str) -> None:
    with running(echo_app(**options)) as client:
        plain = told(client, {header: "ana"})
        assert (plain["user_id"], plain["session_id"]) == ("ana", "default")
        assert told(client, {header: "ana", "x-session-id": "s1"})["session_id"] == "s1"
        chosen = {"config": {"configurable": {"session_id": "mine", "thread_id": "of ben", "agent_id": "x"}}}
        shown = told(client, {header: "ana"}, **chosen)
        assert shown["session_id"] == "mine" and "ben" not in shown["thread_id"] and "agent_id" not in shown
        assert ask(client, "/echo", "x", {}).status_code == 401
        assert ask(client, "/echo", "x", {header: "x" * 5000}).status_code == 400
        bad = {"config": {"configurable": {"session_id": "a\0b"}}}
        assert ask(client, "/echo", "x", {header: "ana"}, **bad).status_code == 400
        threads = [
            told(client, {header: user, "x-session-id": session})["thread_id"]
            for user, session in (("a", "b:c"), ("a:b", "c"), ("a", "b"), ("b", "a"))
        ]
        assert len(set(threads)) == 4


def test_a_declared_field_for_the_user_is_guarded_too() -> None:
    """A runnable that declares user_id lets LangServe pass the client's value on."""
    own: Any = RunnablePassthrough() | RunnableLambda(lambda x, config: config["configurable"]["user_id"])
    runnable = own.configurable_alternatives(
        ConfigurableField(id="user_id"), default_key="zoe", ana=RunnableLambda(lambda x: "chosen")
    )
    app = FastAPI()
    add_memory_routes(app, runnable, "/echo", user=per_request_user(header="x-token"), enabled_endpoints=("invoke",))
    with running(app) as client:
        body = {"config": {"configurable": {"user_id": "ana"}}}
        assert ask(client, "/echo", "x", {"x-token": "zoe"}, **body).status_code == 403
        assert answer(client, "/echo", "x", {"x-token": "zoe"}) == "zoe"
        assert answer(client, "/echo", "x", {"x-token": "ana"}, **body) == "chosen"
        assert client.post("/echo/batch", json={"inputs": []}, headers={"x-token": "ana"}).status_code == 404


def test_a_blank_user_is_no_user() -> None:
    with running(echo_app(user_of=lambda request: request.headers.get("x-token", "  "))) as client:
        assert ask(client, "/echo", "x", {}).status_code == 400
        assert ask(client, "/echo", "x", {"x-token": "ana"}).status_code == 200


def test_options_that_would_open_a_hole_are_refused() -> None:
    runnable: Any = RunnableLambda(lambda x: "ok")
    user = per_request_user(state="user_id")
    bad: list[dict[str, Any]] = [
        {"enabled_endpoints": ("invoke", "playground")},
        {"enabled_endpoints": ("stream_log",)},
        {"config_keys": ("configurable", "metadata")},
        {"per_req_config_modifier": None},
        {"enable_feedback_endpoint": True},
        {"include_callback_events": True},
    ]
    for options in bad:
        with pytest.raises(ConfigError):
            add_memory_routes(FastAPI(), runnable, "/x", user=user, **options)
    with pytest.raises(ConfigError):
        per_request_user()
    with pytest.raises(ConfigError):
        per_request_user(state="user_id", header="x-user")
    assert ChatInput(input="x").input == "x"


def test_per_user_builds_anew_for_each_call() -> None:
    built: list[tuple[str, str]] = []

    def build(user_id: str, session_id: str) -> Any:
        built.append((user_id, session_id))
        return RunnableLambda(itemgetter("input")) | (lambda text: f"{user_id}: {text}")

    chain = per_user(build)
    config: Any = {"configurable": {"user_id": "ana"}}
    assert chain.invoke({"input": "x"}, config) == "ana: x"
    assert (
        asyncio.run(chain.ainvoke({"input": "y"}, {"configurable": {"user_id": "ben", "session_id": "s"}}))
        == "ben: y"
    )
    assert list(chain.stream({"input": "z"}, config)) == ["ana: z"]
    assert built == [("ana", "default"), ("ben", "s"), ("ana", "default")]
    configurables: list[dict[str, Any]] = [{}, {"user_id": " "}, {"session_id": "s"}]
    for configurable in configurables:
        with pytest.raises(InvalidScopeError):
            chain.invoke({"input": "x"}, {"configurable": configurable})


# the example as a program ----------------------------------------------------------------------------------------
@contextmanager
def program(directory: Path) -> Iterator[httpx.Client]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(EXAMPLE), "--directory", str(directory), "--port", str(port)]
    paths = os.pathsep.join(p for p in (str(EXAMPLE.parents[1]), *sys.path) if p)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
    process = subprocess.Popen(
        command,
        env={**environment, "PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=90) as client:
            for _ in range(900):
                assert process.poll() is None
                try:
                    client.get("/openapi.json")
                    break
                except httpx.TransportError:
                    time.sleep(0.1)
            yield client
    finally:
        process.kill()
        process.wait()


class _Chat(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint that repeats the system message, whole or in pieces."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = "seen: " + body["messages"][0]["content"]
        head = {"id": "c", "created": 0, "model": body["model"]}
        self.send_response(200)
        if body.get("stream"):
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for word in text.split(" "):
                choice = {"index": 0, "delta": {"role": "assistant", "content": f"{word} "}, "finish_reason": None}
                self._event({**head, "object": "chat.completion.chunk", "choices": [choice]})
            end = {"index": 0, "delta": {}, "finish_reason": "stop"}
            self._event({**head, "object": "chat.completion.chunk", "choices": [end]})
            self.wfile.write(b"data: [DONE]\n\n")
            return
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        data = json.dumps({**head, "object": "chat.completion", "choices": [choice]}).encode()
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _event(self, value: Any) -> None:
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def test_another_model_answers_when_the_environment_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langchain_openai")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Chat)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_address[1]}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    try:
        with serving(tmp_path / "data") as client:
            answer(client, "/chat", "I live in Porto.", ANA)
            said = answer(client, "/chat", "Where do I live?", {**ANA, "x-session-id": "later"})
            assert said.startswith("seen: ") and "Porto" in said
            assert "Porto" in "".join(streamed(client, "/chat", "Where do I live?", {**ANA, "x-session-id": "last"}))
            assert "Porto" not in answer(client, "/chat", "Where do I live?", BEN)
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_example_is_a_program_that_remembers(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "data", timezone="UTC") as memory:
        memory.observe(user_id="ana@example.org", session_id="earlier", user="I live in Porto.")
    with program(tmp_path / "data") as client:
        assert "Porto" in answer(client, "/chat", "Where do I live?", ANA)
        assert "Porto" not in answer(client, "/chat", "Where do I live?", BEN)
        answer(client, "/chat", "I live in Lima.", BEN)
    # Killed, not closed.
    with LongTermMemory.open(tmp_path / "data", timezone="UTC") as memory:
        assert [f.object for f in memory.facts(user_id="ben")] == ["Lima"]
