"""The webhook: in order, at least once, signed, by one of the workers, and to nobody else."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("httpx")

from starlette.testclient import TestClient

from ltm_core import LongTermMemory
from ltm_core.errors import ConfigError
from ltm_core.serve.app import create_app
from ltm_core.serve.settings import ServeSettings
from ltm_core.serve.signature import SIGNATURE_HEADER, TOLERANCE_SECONDS, is_signed, sign
from ltm_core.serve.webhook import (
    IDLE_SECONDS,
    LONGEST_WAIT_SECONDS,
    TAKEOVER_SECONDS,
    Deliverer,
    cursor_name,
    poster,
    wait_after,
)
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.service import NOW, service_at

SECRET = "0123456789abcdef0123456789abcdef"
AT = 1_772_355_600.0


@dataclass
class Receiver:
    """A server of this machine that answers with the statuses it is given, then with 204."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    got: list[tuple[str, bytes, dict[str, str]]] = field(default_factory=list)
    enough: threading.Event = field(default_factory=threading.Event)

    def cursors(self) -> list[int]:
        return [int(c["cursor"]) for _, body, _ in self.got for c in json.loads(body)["changes"]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            made.got.append((self.path, body, dict(self.headers.items())))
            self.send_response(made.answers.pop(0) if made.answers else 204)
            self.send_header("Location", f"{made.url}elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
            made.enough.set()

        do_GET = do_POST

        def log_message(self, *_: object) -> None:
            """Tests print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_port}/hook?of=crm"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        server.shutdown()
        thread.join()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path, embedder=HashEmbedder(), timezone="UTC", clock=lambda: NOW) as one:
        yield one


def deliverer(memory: LongTermMemory, place: Path, url: str, **options: Any) -> Deliverer:
    options = {"post": poster(url, timeout=5), "wall": lambda: AT, "batch": 2, **options}
    return Deliverer(memory, place, url=url, secret=SECRET, **options)


def tell(memory: LongTermMemory, *orders: int) -> list[int]:
    for order in orders:
        memory.assert_fact(f"order:{order}", "status", "sent", user_id="ana", source="shop", at=NOW)
    return [int(c.cursor) for c in memory.changes(limit=1000)]


def test_every_change_comes_once_and_in_order(memory: LongTermMemory, tmp_path: Path, receiver: Receiver) -> None:
    one = deliverer(memory, tmp_path, receiver.url)
    assert one.step() == IDLE_SECONDS and receiver.got == []
    known = tell(memory, 1, 2, 3)
    assert len(known) == 3
    assert [one.step(), one.step(), one.step()] == [0.0, 0.0, IDLE_SECONDS]
    assert receiver.cursors() == known and [len(json.loads(b)["changes"]) for _, b, _ in receiver.got] == [2, 1]
    path, body, headers = receiver.got[0]
    assert path == "/hook?of=crm" and headers["Content-Type"] == "application/json"
    assert is_signed(SECRET, headers[SIGNATURE_HEADER], body, now=AT)
    first = json.loads(body)["changes"][0]
    assert (first["op"], first["fact"]["subject"], first["fact"]["user_id"]) == ("add", "order:1", "ana")
    one.stop(1)
    tell(memory, 4)
    again = deliverer(memory, tmp_path, receiver.url)
    assert again.step() == 0.0 and len(receiver.cursors()) == 4
    again.stop(1)


def test_what_was_dropped_before_it_was_taken_is_told_and_the_rest_goes_on(
    memory: LongTermMemory, tmp_path: Path, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    one = deliverer(memory, tmp_path, receiver.url)
    known = tell(memory, 1, 2, 3, 4)
    assert one.step() == 0.0 and receiver.cursors() == known[:2]
    operations = memory._runtime.store.operations()
    assert operations.drop_old("changes", before=NOW + timedelta(days=1), limit=3) == 3
    assert [one.step(), one.step(), one.step()] == [0.0, 0.0, IDLE_SECONDS]
    assert receiver.cursors() == [*known[:2], known[3]] and "no longer kept" in caplog.text
    one.stop(1)


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 404, 429, 500, 503])
def test_what_was_not_taken_is_sent_again_and_nothing_passes_it(
    memory: LongTermMemory, tmp_path: Path, receiver: Receiver, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[bool] = []
    one = deliverer(memory, tmp_path, receiver.url, told=tried.append)
    known = tell(memory, 1, 2, 3)
    receiver.answers = [status, status]
    assert [one.step(), one.step()] == [1.0, 2.0]
    assert memory._runtime.store.operations().setting(cursor_name(receiver.url)) is None
    assert [one.step(), one.step(), one.step()] == [0.0, 0.0, IDLE_SECONDS]
    assert receiver.cursors() == known[:2] + known[:2] + known
    assert {path for path, _, _ in receiver.got} == {"/hook?of=crm"}
    assert tried == [False, False, True, True]
    assert str(status) in caplog.text and "order" not in caplog.text and "of=crm" not in caplog.text
    one.stop(1)


def test_nobody_there(memory: LongTermMemory, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(body: bytes, headers: dict[str, str]) -> int:
        raise ConnectionRefusedError(111, "refused")

    tell(memory, 1)
    one = deliverer(memory, tmp_path, "http://localhost/", post=refuse)
    assert [one.step() for _ in range(12)] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    assert "ConnectionRefusedError" in caplog.text
    one.stop(1)


def test_a_crash_before_the_cursor_is_kept_sends_the_batch_again(
    memory: LongTermMemory, tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = tell(memory, 1, 2)
    one = deliverer(memory, tmp_path, receiver.url)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(memory._runtime.store.operations()), "set_setting", die)
    with pytest.raises(KeyboardInterrupt):
        one.step()
    monkeypatch.undo()
    one.stop(1)
    other = deliverer(memory, tmp_path, receiver.url)
    assert [other.step(), other.step()] == [0.0, IDLE_SECONDS]
    assert receiver.cursors() == known * 2
    other.stop(1)


def test_one_of_the_workers_delivers(memory: LongTermMemory, tmp_path: Path, receiver: Receiver) -> None:
    pytest.importorskip("fcntl")
    known = tell(memory, 1, 2)
    one, two = (deliverer(memory, tmp_path, receiver.url) for _ in range(2))
    assert [one.step(), two.step()] == [0.0, TAKEOVER_SECONDS]
    one.stop(1)
    known = tell(memory, 3)
    assert two.step() == 0.0
    assert receiver.cursors() == known
    two.stop(1)


def test_another_address_begins_at_the_beginning(memory: LongTermMemory, tmp_path: Path, receiver: Receiver) -> None:
    known = tell(memory, 1)
    for url in (receiver.url, receiver.url + "2"):
        one = deliverer(memory, tmp_path, url)
        assert one.step() == 0.0
        one.stop(1)
    assert receiver.cursors() == known * 2


def test_an_erased_fact_is_sent_without_its_words(memory: LongTermMemory, tmp_path: Path, receiver: Receiver) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    memory.forget_session("s", user_id="ana")
    one = deliverer(memory, tmp_path, receiver.url, batch=100)
    one.step()
    one.stop(1)
    ((_, body, _),) = receiver.got
    assert b"Porto" not in body and {"add", "erase"} <= {c["op"] for c in json.loads(body)["changes"]}


def test_the_service_delivers_while_it_runs(tmp_path: Path, receiver: Receiver) -> None:
    service = service_at(tmp_path / "store", webhook_url=receiver.url, webhook_secret=SECRET)
    with service.http:
        answer = service.ask("POST", "/v1/observe", service.ana, json={"session_id": "s", "user": "I live in Porto."})
        assert answer.status_code == 200 and receiver.enough.wait(20)
        figures = service.ask("GET", "/metrics", service.admin).text
    assert 'ltm_webhook_deliveries_total{taken="yes"} ' in figures
    assert b"Porto" in receiver.got[0][1]
    assert "ltm-webhook" not in {t.name for t in threading.enumerate()}


def test_no_webhook_no_thread(memory: LongTermMemory, tmp_path: Path) -> None:
    from ltm_core.serve.keys import KEYS_FILE, Keyring

    with TestClient(create_app(memory, Keyring(tmp_path / KEYS_FILE)), base_url="http://localhost"):
        assert "ltm-webhook" not in {t.name for t in threading.enumerate()}


@pytest.mark.parametrize(
    "url",
    [
        "http://crm.example.org/hook",
        "http://10.0.0.1/hook",
        "http://localhost.example.org/",
        "ftp://localhost/",
        "https://",
        "https://me:pw@crm.example.org/",
        "https://crm.example.org/#part",
        "https://crm.example.org/a b",
        "https://crm.example.org:port/",
        "crm.example.org",
    ],
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ServeSettings.load({"LTM_SERVE_WEBHOOK_URL": url, "LTM_SERVE_WEBHOOK_SECRET": SECRET})
    assert SECRET not in repr(refused.value) and "example" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    "url", ["https://crm.example.org/hook", "http://localhost:1/", "http://127.9.9.9/", "http://[::1]:8/x"]
)
def test_addresses_that_are_taken(url: str) -> None:
    taken = ServeSettings.load({"LTM_SERVE_WEBHOOK_URL": url, "LTM_SERVE_WEBHOOK_SECRET": SECRET})
    assert taken.webhook_url == url and SECRET not in repr(taken) and url not in repr(taken)
    assert ServeSettings.load(taken.environment()) == taken


@pytest.mark.parametrize("secret", ["", "x" * 31])
def test_a_secret_is_needed(secret: str) -> None:
    with pytest.raises(ConfigError, match="webhook_secret"):
        ServeSettings.load({"LTM_SERVE_WEBHOOK_URL": "http://localhost/", "LTM_SERVE_WEBHOOK_SECRET": secret})


def test_signatures() -> None:
    header = sign(SECRET, b"body", now=AT)
    assert is_signed(SECRET, header, b"body", now=AT + TOLERANCE_SECONDS)
    assert not is_signed(SECRET, header, b"body", now=AT + TOLERANCE_SECONDS + 1)
    assert not is_signed(SECRET, header, b"body", now=AT - TOLERANCE_SECONDS - 1)
    assert not is_signed(SECRET, header, b"Body", now=AT)
    assert not is_signed(SECRET + "x", header, b"body", now=AT)
    later = header.replace(f"t={int(AT)}", f"t={int(AT) + 1}")
    assert not is_signed(SECRET, later, b"body", now=AT)
    for bad in ("", "t=1", header + ",v1=0", header.upper(), "t=x,v1=" + "0" * 64):
        assert not is_signed(SECRET, bad, b"body", now=AT)


def test_waits_grow_to_a_bound() -> None:
    waits = [wait_after(n) for n in range(1, 2000)]
    assert waits == sorted(waits) and waits[0] == 1.0 and waits[-1] == LONGEST_WAIT_SECONDS


def test_a_receiver_needs_the_standard_library_alone() -> None:
    code = "import sys; import ltm_core.serve.signature; print(*{m.split('.')[0] for m in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pydantic", "fastapi", "starlette", "numpy", "typer"} & set(done.stdout.split())
