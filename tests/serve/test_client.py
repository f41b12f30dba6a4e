"""The remote memory: the same methods, results and errors as the one in the process."""

from __future__ import annotations

import asyncio
import inspect
from datetime import timedelta
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
httpx = pytest.importorskip("httpx")

from ltm_core import (
    AccessDeniedError,
    ConfigError,
    ConflictError,
    DocumentWrite,
    InvalidFilterError,
    InvalidInputError,
    InvalidScopeError,
    LongTermMemory,
    Message,
    NotFoundError,
    UnavailableError,
)
from ltm_core.client import RemoteMemory
from ltm_core.serve.operations import BY_METHOD, OPERATIONS
from ltm_core.testing.service import NOW, Service


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: o.method)
def test_the_same_signatures(operation: Any) -> None:
    for name in (operation.method, f"a{operation.method}"):
        assert inspect.signature(getattr(RemoteMemory, name)) == inspect.signature(getattr(LongTermMemory, name))
    assert inspect.iscoroutinefunction(getattr(RemoteMemory, f"a{operation.method}"))


def story(memory: Any) -> list[Any]:
    """One user's life, by the methods that hosts use; what differs from run to run left out."""
    out: list[Any] = []
    seen = memory.observe(user_id="ana", session_id="s", user="I live in Lisbon.", message_id="m1", at=NOW)
    out.append([(m.id, m.status) for m in seen.messages])
    turns = [
        Message(role="user", content="I live in Lisbon.", id="m1"),
        {"role": "assistant", "content": "Noted.", "id": "m2"},
    ]
    memory.observe(user_id="ana", session_id="s", messages=turns, at=NOW)
    memory.observe(user_id="ana", session_id="t", user="I moved to Porto.", message_id="m3", ttl=timedelta(days=400))
    out.append(
        [(f.relation, f.object, f.is_current) for f in memory.facts(user_id="ana", include_superseded=True, limit=1)]
    )
    (now,) = memory.facts(user_id="ana", relation="lives_in")
    out.append([f.object for f in memory.history(now.id, user_id="ana")])
    context = memory.context("Where do I live?", user_id="ana", session_id="t", current_messages=turns)
    out.append([i.text for i in context.items])
    assert "Porto" in context.text and context.explain()
    out.append([(r.text, r.tier) for r in memory.search("Porto", user_id="ana", tiers=("semantic",))])
    memory.assert_fact("order:A-1", "status", "shipped", user_id="ana", source="shop", metadata={"n": 1})
    out.append([r.fact.object for r in memory.related("order:A-1", user_id="ana")])
    memory.set_slot("city", {"name": "波尔图"}, user_id="ana", session_id="t", ttl=60)
    out.append(memory.get_slot("city", user_id="ana", session_id="t"))
    out.append(memory.get_slot("none", user_id="ana", session_id="t", default=7))
    memory.put_document(["a", "b"], "k", {"x": [1, None]}, user_id="ana")
    memory.write_documents([DocumentWrite(namespace=("a",), key="l", value={"y": 2})], user_id="ana")
    out.append([d.value for d in memory.search_documents(["a"], user_id="ana")])
    out.append(memory.get_document(["no"], "k", user_id="ana"))
    out.append([m.content for m in memory.messages(user_id="ana", limit=1)])
    out.append([c.op for c in memory.changes(user_id="ana", limit=2)])
    bound = memory.bind("ana", session_id="t", actor="desk")
    bound.remember("My size is 42.")
    out.append([s.id for s in bound.sessions()])
    preview = memory.forget_matching("Porto", user_id="ana")
    out.append(len(preview.facts))
    receipt = memory.forget_matching("Porto", user_id="ana", dry_run=False)
    out.append(receipt.bytes_clean)
    lines = list(memory.export_user("ana"))
    out.append(dict(memory.import_user(lines, user_id="ben").imported))
    out.append(memory.forget_user("ana").bytes_clean)
    return out


def test_the_same_story_here_and_there(service: Service, tmp_path: Any) -> None:
    from ltm_core.testing.embedders import HashEmbedder

    with LongTermMemory.open(tmp_path / "here", embedder=HashEmbedder(), timezone="UTC", clock=lambda: NOW) as here:
        assert story(service.remote(service.admin)) == story(here)


def test_the_same_errors(service: Service) -> None:
    memory = service.remote(service.admin)
    with pytest.raises(InvalidScopeError):
        memory.observe(user_id=" ", session_id="s", user="x")
    with pytest.raises(InvalidScopeError):
        memory.facts(user_id=None)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        memory.history("nothing", user_id="ana")
    with pytest.raises(InvalidFilterError):
        memory.search("x", user_id="ana", filters={"$nope": 1})
    with pytest.raises(InvalidInputError):
        memory.context("x", user_id="ana", max_tokens=-1)
    with pytest.raises(ConfigError):
        memory.context("x", user_id="ana", token_counter=len)
    with pytest.raises(TypeError):
        memory.facts(user_id="ana", colour="red")  # type: ignore[call-arg]
    memory.observe(user_id="ana", session_id="s", user="I like tea from Assam. I like tea from Darjeeling.")
    with pytest.raises(ConflictError) as caught:
        memory.correct(wrong="tea", right="I like coffee.", user_id="ana")
    assert len(caught.value.candidates) == 2
    with pytest.raises(AccessDeniedError):
        service.remote(service.ben).facts(user_id="ana")
    with pytest.raises(AccessDeniedError):
        service.remote("ltm_000000000000_" + "A" * 43).facts(user_id="ana")


def test_twins_run_off_the_loop(service: Service) -> None:
    async def go() -> int:
        async with service.remote(service.ana) as memory:
            await memory.aobserve(user_id="ana", session_id="s", user="I live in Porto.")
            lines = [line async for line in await memory.aexport_user("ana")]
            return len(list(await memory.afacts(user_id="ana"))) + len(lines)

    assert asyncio.run(go()) > 3


def test_a_turn_is_told_again_after_a_broken_connection(service: Service) -> None:
    class Flaky:
        """Loses the answer of the first call."""

        calls = 0

        def request(self, *args: Any, **options: Any) -> Any:
            self.calls += 1
            answer = service.http.request(*args, **options)
            if self.calls == 1:
                raise httpx.ReadError("gone")
            return answer

    http = Flaky()
    memory = RemoteMemory("http://localhost", key=service.ana, http=http)
    seen = memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    assert http.calls == 2 and [m.status for m in seen.messages] == ["duplicate"]
    assert len(service.memory.messages(user_id="ana")) == 1


def test_no_service_is_unavailable_and_the_key_is_not_told() -> None:
    memory = RemoteMemory("http://127.0.0.1:9", key="ltm_secret", timeout=2)
    with pytest.raises(UnavailableError) as caught:
        memory.stats()
    assert "ltm_secret" not in str(caught.value) and caught.value.__cause__ is None
    memory.close()
    with pytest.raises(UnavailableError, match="closed"):
        memory.stats()
    with pytest.raises(ConfigError):
        RemoteMemory("localhost", key="k")


def test_changes_are_followed(service: Service) -> None:
    import threading

    memory = service.remote(service.admin)
    memory.observe(user_id="ana", session_id="s", user="I live in Lisbon.")
    got: list[str] = []
    arrived = threading.Event()

    def take(change: Any) -> None:
        got.append(change.fact.object)
        arrived.set()

    stop = memory.on_change(take, user_id="ana")
    memory.observe(user_id="ana", session_id="s", user="I moved to Porto.")
    assert arrived.wait(10)
    stop()
    assert got[0] == "Porto"


def test_adapters_take_it_for_the_memory_it_is(service: Service) -> None:
    pytest.importorskip("langchain_core")
    from langchain_ltm import LTMRetriever

    memory = service.remote(service.app)
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    found = LTMRetriever(memory=memory, user_id="ana", k=2).invoke("Where do I live?")
    assert any("Porto" in d.page_content for d in found)


def test_every_operation_is_a_method() -> None:
    assert all(callable(getattr(RemoteMemory, name)) for name in BY_METHOD)
