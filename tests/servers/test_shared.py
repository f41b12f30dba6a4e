"""Applications that share one store by its URL: in several processes, through a crash, from one event loop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from ltm_core import BusyError, LongTermMemory, UnavailableError
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.servers import PostgresServer

pytestmark = pytest.mark.servers
ROOT = Path(__file__).parents[2]


@pytest.fixture
def url(postgres_url: str, tmp_path: Path) -> str:
    return f"{postgres_url}?partitions=2&key_file={tmp_path / 'store.key'}"


def opened(url: str, **options: Any) -> LongTermMemory:
    return LongTermMemory.open(url, **{"embedder": "none", "timezone": "UTC", **options})


# two applications -------------------------------------------------------------------------------------
@contextmanager
def started(command: list[str], environment: dict[str, str]) -> Iterator[Any]:
    """A client of a program that listens on the port that the command names last."""
    import httpx

    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "LTM_"))}
    paths = os.pathsep.join(p for p in (str(ROOT), *sys.path) if p)
    process = subprocess.Popen(
        command, env={**inherited, "PYTHONPATH": paths, **environment}, stdout=subprocess.DEVNULL
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{command[-1]}", timeout=90) as client:
            deadline = time.monotonic() + 200
            while True:
                assert process.poll() is None and time.monotonic() < deadline
                try:
                    client.get("/openapi.json")
                    break
                except httpx.TransportError:
                    time.sleep(0.1)
            yield client
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def free_port() -> str:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


@pytest.mark.timeout(300)
def test_a_langserve_app_and_the_service_share_a_store_by_its_location(url: str, tmp_path: Path) -> None:
    for needed in ("langserve", "uvicorn", "fastapi"):
        pytest.importorskip(needed)
    environment = {
        "LTM_STORE": url,
        "XDG_DATA_HOME": str(tmp_path / "home"),
        # The first question loads the model, which takes a while beside other tests.
        "LTM_SERVE_TIMEOUT_SECONDS": "90",
    }
    opened(url, embedder=None).close()
    ltm = [sys.executable, "-m", "ltm_core.cli"]
    added = subprocess.run(
        [*ltm, "keys", "add", "--kind", "user", "--user", "ana@example.org"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    service_head = {"authorization": f"Bearer {added.stdout.split()[0]}"}
    example = [sys.executable, str(ROOT / "examples" / "langserve_app.py"), "--directory", url]
    with (
        started([*example, "--port", free_port()], environment) as chat,
        started([*ltm, "serve", "--port", free_port()], environment) as service,
    ):
        head = {"authorization": "Bearer ana-token"}

        def ask(text: str) -> str:
            said = chat.post("/chat/invoke", json={"input": {"input": text}}, headers=head)
            assert said.status_code == 200, said.text
            return str(said.json()["output"])

        ask("I live in Porto.")
        found = service.post("/v1/context", json={"query": "Where do I live?"}, headers=service_head)
        assert found.status_code == 200 and "Porto" in found.json()["text"], found.text
        told = service.post(
            "/v1/observe", json={"session_id": "desk", "user": "I am allergic to penicillin."}, headers=service_head
        )
        assert told.status_code == 200, told.text
        assert "penicillin" in ask("What am I allergic to?")


# a server that dies -----------------------------------------------------------------------------------
def test_nothing_acknowledged_is_lost_when_the_server_dies_under_traffic(
    url: str, postgres_server: PostgresServer
) -> None:
    acknowledged: dict[str, list[int]] = {"ana": [], "ben": []}
    errors: list[BaseException] = []
    dead = threading.Event()

    def write(memory: LongTermMemory, user: str) -> None:
        n, after = 0, 0
        while after < 10:
            try:
                memory.observe(user_id=user, session_id="s", user=f"Note {n} is here.", message_id=f"m{n}")
            except (UnavailableError, BusyError) as e:
                errors.append(e)
                time.sleep(0.05)
                continue
            acknowledged[user].append(n)
            n += 1
            after += dead.is_set()

    with opened(url, busy_timeout_seconds=2) as memory:
        threads = [threading.Thread(target=write, args=(memory, user)) for user in acknowledged]
        for thread in threads:
            thread.start()
        while min(len(done) for done in acknowledged.values()) < 5:
            time.sleep(0.01)
        postgres_server.kill()
        while not errors:
            time.sleep(0.01)
        postgres_server.start()
        dead.set()
        for thread in threads:
            thread.join(100)
        # A call whose commit was cut off may have been stored before it was repeated: once, under its id.
        for user, done in acknowledged.items():
            kept = [m.content for m in memory.messages(user_id=user, session_id="s", limit=1000)]
            assert kept == [f"Note {n} is here." for n in done]
        password = postgres_server.url("x").split(":")[2].split("@")[0]
        assert all("127.0.0.1" in str(e) and password not in str(e) for e in errors)


# one event loop ---------------------------------------------------------------------------------------
def test_two_hundred_questions_at_once_leave_the_loop_alone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = pytest.importorskip("ltm_core.store.postgres.store").PostgresStore
    ticked, threads = threading.Event(), set()
    real = store.reading

    def waiting(self: Any, user_id: str) -> Any:
        threads.add(threading.get_ident())
        # Nothing is read before the loop came round many times: a call on its thread would never end.
        assert ticked.wait(60)
        return real(self, user_id)

    async def tick() -> None:
        for _ in range(100):
            await asyncio.sleep(0)
        ticked.set()

    async def ask(memory: LongTermMemory) -> tuple[int, list[Any]]:
        asked = [memory.acontext("What is my cat called?", user_id=f"u{i % 5}") for i in range(200)]
        found = await asyncio.gather(tick(), *asked)
        return threading.get_ident(), found[1:]

    with opened(url, embedder=HashEmbedder()) as memory:
        for i in range(5):
            memory.observe(user_id=f"u{i}", session_id="s", user=f"My cat is called Miso {i}.")
        monkeypatch.setattr(store, "reading", waiting)
        loop, found = asyncio.run(ask(memory))
    assert [f"Miso {i % 5}" in c.text for i, c in enumerate(found)] == [True] * 200
    assert loop not in threads and 0 < len(threads) <= min(32, (os.cpu_count() or 1) + 4)


def test_a_cancelled_call_is_repeated_by_its_id(url: str) -> None:
    async def tell(memory: LongTermMemory) -> list[Any]:
        for n in range(20):
            said: dict[str, Any] = {"user_id": "ana", "session_id": "s", "user": f"Note {n}.", "message_id": f"m{n}"}
            call = asyncio.ensure_future(memory.aobserve(**said))
            await asyncio.sleep(n * 0.0005)
            call.cancel()
            with suppress(asyncio.CancelledError):
                await call
            await memory.aobserve(**said)
        return list(memory.messages(user_id="ana", session_id="s"))

    with opened(url) as memory:
        assert [m.content for m in asyncio.run(tell(memory))] == [f"Note {n}." for n in range(20)]


# an index beside it -----------------------------------------------------------------------------------
def test_what_several_processes_say_reaches_the_index_of_one(url: str, chroma_url: str) -> None:
    code = (
        "import sys; from ltm_core import LongTermMemory; from ltm_core.testing.embedders import HashEmbedder\n"
        "with LongTermMemory.open(sys.argv[1], embedder=HashEmbedder(), timezone='UTC', vectors=sys.argv[2],\n"
        "                         external_vectors_from=5) as memory:\n"
        "    s = sys.argv[3]\n"
        "    for i in range(15):\n"
        "        memory.observe(user_id='ana', session_id=s, user=f'Parcel {s}{i} is at gate {i}.')\n"
    )
    with ExitStack() as stack:
        options: dict[str, Any] = {"embedder": HashEmbedder(), "external_vectors_from": 5}
        memory = stack.enter_context(opened(url, vectors=chroma_url, **options))
        writers = [subprocess.Popen([sys.executable, "-c", code, url, chroma_url, name]) for name in "xy"]
        assert [w.wait(100) for w in writers] == [0, 0]
        operations = memory._runtime.store.operations()
        while operations.work_external():
            pass
        store: Any = memory._runtime.store
        assert store.core.attached.index.owned and len(store.core.attached.index._open) == 1
        assert operations.external_drift(repair=False) == {}
        exact = stack.enter_context(opened(url, **options))
        for query in ("parcel x7", "parcel y12", "gate 3"):
            wanted = [h.text for h in exact.search(query, user_id="ana", top_k=5)]
            assert [h.text for h in memory.search(query, user_id="ana", top_k=5)] == wanted != []
