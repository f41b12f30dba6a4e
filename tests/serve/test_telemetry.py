"""Spans of operations and requests: what is in them, what is not, and that nothing happens while nobody asks."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
trace = pytest.importorskip("opentelemetry.trace")
sdk = pytest.importorskip("opentelemetry.sdk.trace")
export = pytest.importorskip("opentelemetry.sdk.trace.export")
memory_export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")

from ltm_core import InvalidInputError, LongTermMemory, NotFoundError
from ltm_core.client import RemoteMemory
from ltm_core.serve.calls import Caller, Calls
from ltm_core.serve.metrics import Metrics
from ltm_core.serve.rate import Rate
from ltm_core.serve.requestlog import Pseudonyms, secret_of
from ltm_core.serve.settings import ServeSettings
from ltm_core.serve.traced import UNTRACED
from ltm_core.serve.webhook import Deliverer
from ltm_core.telemetry import SCOPE
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.service import Service, service_at

WORDS = ("Lisbon", "Porto", "ana", "where do i live", "monday")
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(scope="module")
def exporter() -> Any:
    """As an application does: one provider for the process, set once, with what it wants done with spans."""
    made, kept = sdk.TracerProvider(), memory_export.InMemorySpanExporter()
    made.add_span_processor(export.SimpleSpanProcessor(kept))
    trace.set_tracer_provider(made)
    return kept


@pytest.fixture
def spans(exporter: Any) -> Any:
    exporter.clear()
    return exporter


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path, embedder=HashEmbedder(), timezone="UTC", telemetry=True) as one:
        yield one


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    one = service_at(tmp_path, library={"telemetry": True})
    with one.http:
        yield one


def names(spans: Any) -> list[str]:
    return [s.name for s in spans.get_finished_spans()]


def named(spans: Any, name: str) -> Any:
    (found,) = (s for s in spans.get_finished_spans() if s.name == name)
    return found


def stages(spans: Any, name: str) -> list[str]:
    """The children of the one span of this name, in the order of their ends."""
    parent = named(spans, name).context.span_id
    return [s.name for s in spans.get_finished_spans() if s.parent is not None and s.parent.span_id == parent]


def test_a_turn_and_a_question_in_their_stages(memory: LongTermMemory, spans: Any) -> None:
    memory.observe(user_id="ana", session_id="monday", user="I live in Lisbon.")
    assert stages(spans, "ltm.observe") == ["ltm.embed", "ltm.analyse", "ltm.transaction"] or stages(
        spans, "ltm.observe"
    ) == ["ltm.analyse", "ltm.embed", "ltm.transaction"]
    told = named(spans, "ltm.observe")
    assert dict(told.attributes) == {"ltm.messages": 1, "ltm.anchors": 1, "ltm.changes": 1}
    assert told.instrumentation_scope.name == SCOPE and told.parent is None
    spans.clear()
    found = memory.context("Where do I live?", user_id="ana", session_id="monday")
    assert stages(spans, "ltm.context") == ["ltm.embed", "ltm.rank", "ltm.pack"]
    assert named(spans, "ltm.context").attributes["ltm.tokens"] == found.token_count
    assert named(spans, "ltm.embed").attributes == {"ltm.texts": 1}
    spans.clear()
    memory.search("Lisbon", user_id="ana")
    assert stages(spans, "ltm.search") == ["ltm.embed", "ltm.rank"]
    assert named(spans, "ltm.search").attributes["ltm.items"] >= 1


def test_erasure_and_upkeep_in_their_stages(memory: LongTermMemory, spans: Any) -> None:
    memory.observe(user_id="ana", session_id="monday", user="I live in Lisbon.", message_id="m1")
    spans.clear()
    memory.forget("m1", user_id="ana")
    assert {"ltm.transaction", "ltm.scrub", "ltm.prove"} <= set(stages(spans, "ltm.forget"))
    assert named(spans, "ltm.forget").attributes["ltm.bytes_clean"] == 1
    memory.maintain()
    assert {"ltm.expire", "ltm.consolidate", "ltm.forget", "ltm.jobs"} <= set(stages(spans, "ltm.maintain"))


async def _turn(memory: LongTermMemory) -> None:
    with trace.get_tracer("application").start_as_current_span("a turn of the chat"):
        await memory.aobserve(user_id="ana", session_id="monday", user="I live in Lisbon.")
        await memory.bind("ana").acontext("Where do I live?")


def test_spans_are_inside_of_the_application_s(memory: LongTermMemory, spans: Any) -> None:
    import asyncio

    asyncio.run(_turn(memory))
    assert stages(spans, "a turn of the chat") == ["ltm.observe", "ltm.context"]
    (only,) = {s.context.trace_id for s in spans.get_finished_spans()}
    assert only


def test_an_error_is_its_class_alone(memory: LongTermMemory, spans: Any) -> None:
    with pytest.raises(NotFoundError):
        memory.history("of Lisbon", user_id="ana")
    with pytest.raises(InvalidInputError):
        memory.observe(user_id="ana", session_id="monday", user="I live in Lisbon.", at="never, said ana")
    for span, error in zip(spans.get_finished_spans(), ("NotFoundError", "InvalidTimeError"), strict=True):
        assert span.attributes["error.type"] == error and not span.status.is_ok
        assert span.status.description is None and not span.events


def test_no_word_and_no_user_is_in_any_span(service: Service, spans: Any) -> None:
    service.ask("POST", "/v1/observe", service.ana, json={"session_id": "monday", "user": "I live in Lisbon."})
    service.ask("POST", "/v1/context", service.ana, json={"query": "Where do I live?"})
    service.ask("GET", "/v1/facts?subject=Porto", service.app, headers={"LTM-User": "ana"})
    service.ask("POST", "/v1/forget/matching", service.ana, json={"text": "Lisbon", "dry_run": False})
    service.ask("GET", "/of/Lisbon?q=ana", service.ana)
    service.ask("POST", "/v1/forget/user", service.ana, json={})
    service.ask("POST", "/v1/maintain", service.admin, json={})
    found = spans.get_finished_spans()
    assert len(found) > 20
    assert {s.instrumentation_scope.name for s in found} == {SCOPE}, "frameworks trace what was asked, word by word"
    for span in found:
        told = f"{span.name} {dict(span.attributes)} {span.status.description} {span.events}"
        assert not re.search(rf"\b({'|'.join(WORDS)})\b", told, re.IGNORECASE), told
        assert all(isinstance(v, int | str) for v in span.attributes.values())


def test_a_request_is_a_span_of_its_route(service: Service, spans: Any) -> None:
    answer = service.ask(
        "POST", "/v1/context", service.ana, json={"query": "Where?"}, headers={"traceparent": TRACEPARENT}
    )
    assert answer.status_code == 200
    request = named(spans, "POST /v1/context")
    assert request.kind is trace.SpanKind.SERVER
    assert f"{request.context.trace_id:032x}" == TRACEPARENT.split("-")[1]
    assert f"{request.parent.span_id:016x}" == TRACEPARENT.split("-")[2]
    hashed = Pseudonyms(secret_of(service.keys.place)).of("ana")
    assert dict(request.attributes) == {
        "http.request.method": "POST",
        "url.scheme": "http",
        "http.response.status_code": 200,
        "http.route": "/v1/context",
        "ltm.key": service.ids["ana"],
        "ltm.user": hashed,
    }
    assert stages(spans, "POST /v1/context") == ["ltm.context"]
    assert "ltm.rank" in names(spans)


def test_a_broken_traceparent_begins_a_trace(service: Service, spans: Any) -> None:
    for broken in ("", "00-zz", TRACEPARENT.replace("0af7", "zzzz"), "00-" + "0" * 32 + "-b7ad6b7169203331-01"):
        service.ask("GET", "/v1/facts", service.ana, headers={"traceparent": broken})
    requests = [s for s in spans.get_finished_spans() if s.name == "GET /v1/facts"]
    assert len(requests) == 4 and all(s.parent is None for s in requests)


def test_refusals_and_failures(service: Service, spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    service.ask("GET", "/v1/facts", None)
    refused = named(spans, "GET /v1/facts")
    assert refused.attributes["http.response.status_code"] == 401 and "ltm.user" not in refused.attributes
    assert refused.status.status_code is trace.StatusCode.UNSET
    spans.clear()

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("Lisbon")

    monkeypatch.setattr(type(service.memory), "facts", broken)
    assert service.ask("GET", "/v1/facts", service.ana).status_code == 500
    assert named(spans, "GET /v1/facts").status.status_code is trace.StatusCode.ERROR


def test_who_watches_leaves_no_spans(service: Service, spans: Any) -> None:
    for path in UNTRACED:
        assert service.ask("GET", path, service.admin).status_code == 200
    assert names(spans) == []


def test_polls_leave_no_spans(service: Service, spans: Any) -> None:
    import anyio

    from ltm_core.serve.streams import _events

    class Gone:
        """A listener that leaves after its second look."""

        looks = 0

        async def is_disconnected(self) -> bool:
            self.looks += 1
            return self.looks > 2

    key = service.keys.owner(service.ana)
    assert key is not None
    calls = Calls(
        service.memory,
        service.keys,
        ServeSettings(),
        rate=Rate(per_minute=0, burst=1, clock=lambda: 0.0),
        metrics=Metrics(service.memory),
    )

    async def listen() -> list[bytes]:
        feed = _events(Gone(), calls, Caller(key, "ana", "key", None), None, ())  # type: ignore[arg-type]
        return [piece async for piece in feed]

    assert anyio.run(listen) == [b"retry: 1000\n\n"]
    deliverer = Deliverer(
        service.memory,
        service.keys.place,
        url="https://example.org/",
        secret="s" * 32,
        post=lambda body, headers: 200,
        wall=lambda: 0.0,
    )
    deliverer.step()
    deliverer.stop(1)
    assert names(spans) == []


def test_the_page_is_traced_by_its_pattern(service: Service, spans: Any) -> None:
    service.http.get("/page/facts/of-Lisbon", follow_redirects=False)
    assert names(spans) == ["GET /page/facts/{fact_id}"]


def test_a_remote_memory_hands_its_trace_on(service: Service, spans: Any) -> None:
    remote = RemoteMemory("http://localhost", key=service.ana, http=service.http, telemetry=True)
    with trace.get_tracer("application").start_as_current_span("a turn of the chat") as own:
        remote.observe(user_id="ana", session_id="monday", user="I live in Lisbon.")
    # The test's client calls in the same process; a service elsewhere sees nothing but the header.
    assert named(spans, "POST /v1/observe").context.trace_id == own.get_span_context().trace_id


def test_the_log_names_the_trace(tmp_path: Path, spans: Any) -> None:
    import json

    path = tmp_path / "requests.log"
    one = service_at(tmp_path / "store", library={"telemetry": True}, log_file=str(path))
    with one.http:
        one.ask("GET", "/v1/facts", one.ana)
    (line,) = map(json.loads, path.read_text("utf-8").splitlines())
    span = named(spans, "GET /v1/facts")
    assert line["trace"] == f"{span.context.trace_id:032x}" and line["user"] == span.attributes["ltm.user"]


def test_the_class_stays_what_it_is(memory: LongTermMemory) -> None:
    assert isinstance(memory, LongTermMemory) and type(memory).__name__ == "LongTermMemory"
    assert type(memory).observe.__doc__ == LongTermMemory.observe.__doc__


OFF = """
import sys
from ltm_core import LongTermMemory
with LongTermMemory.open({place!r}, embedder="none", timezone="UTC") as memory:
    assert type(memory) is LongTermMemory
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    memory.context("Where do I live?", user_id="ana"); memory.forget_user("ana"); memory.maintain()
    assert not any(m.startswith("opentelemetry") for m in sys.modules)
    try:
        from ltm_core.serve.app import create_app
        from ltm_core.serve.keys import Keyring
    except ImportError:
        pass
    else:
        from pathlib import Path
        create_app(memory, Keyring(Path({place!r}) / "keys.json"))
print(*(m for m in sys.modules if m.startswith(("ltm_core.telemetry", "ltm_core.serve.traced"))))
"""
WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from ltm_core import LongTermMemory, MissingExtraError
try:
    LongTermMemory.open({place!r}, embedder="none", timezone="UTC", telemetry=True)
except MissingExtraError as e:
    print(e.extra)
"""


@pytest.mark.parametrize(("code", "printed"), [(OFF, ""), (WITHOUT, "telemetry")], ids=["off", "without-the-package"])
def test_nothing_is_loaded_while_it_is_off(tmp_path: Path, code: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code.format(place=str(tmp_path / "store"))], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == printed
