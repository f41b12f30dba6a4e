"""``ltm keys`` and ``ltm serve`` as people start them: keys by hand, workers that die, a stop."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("uvicorn")

from typer.testing import CliRunner

from benchmarks.processes import children, is_worker
from ltm_core.cli import app
from ltm_core.serve.keys import KEYS_FILE

DATABASE = "postgresql://ltm@localhost/ltm"


def ltm(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LTM_STORE", str(tmp_path))
    return tmp_path


def test_keys_are_made_listed_and_revoked(place: Path) -> None:
    for arguments, missing in (
        (["--kind", "user"], "--user"),
        (["--kind", "app"], "--app"),
        (["--kind", "wizard"], "kind"),
        (["--kind", "admin", "--user", "ana"], "admin"),
    ):
        done = ltm("keys", "add", *arguments)
        assert done.exit_code == 2 and missing in done.stderr and "NoneType" not in done.stderr
    made = json.loads(ltm("keys", "add", "--user", "小明", "--label", "phone", "--json").stdout)
    assert re.fullmatch(r"ltm_[0-9a-f]{12}_[\w-]{43}", made["key"])
    assert stat.S_IMODE((place / KEYS_FILE).stat().st_mode) == 0o600
    shown = ltm("keys", "list")
    assert "1 key" in shown.stdout and "小明" in shown.stdout and made["key"] not in shown.stdout
    assert ltm("keys", "revoke", made["id"]).exit_code == 0
    assert ltm("keys", "revoke", made["id"]).exit_code == 2
    assert json.loads(ltm("keys", "list", "--json").stdout) == []


def test_keys_for_a_database_are_in_the_folder_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LTM_STORE", DATABASE)
    monkeypatch.setenv("LTM_SERVE_DIRECTORY", str(tmp_path))
    assert ltm("keys", "add", "--kind", "admin").exit_code == 0 and (tmp_path / KEYS_FILE).is_file()


def test_what_works_on_files_says_so_for_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LTM_STORE", DATABASE.replace("ltm@", "ltm:secret@"))
    done = ltm("rekey", "--to", "env:NEW")
    assert done.exit_code == 2 and "secret" not in done.output


@dataclass
class Running:
    """`ltm serve` in processes of its own."""

    process: subprocess.Popen[str]
    port: int
    key: str = ""

    def ask(self, verb: str, path: str, body: object = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": f"Bearer {self.key}", "LTM-User": "ana", "Content-Type": "application/json"}
        try:
            connection.request(verb, path, body=None if body is None else json.dumps(body), headers=headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    @property
    def workers(self) -> list[int]:
        return [pid for pid in children(self.process.pid) if is_worker(pid)]


def until(condition: Any, *, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.1)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "ltm_core.cli", "serve", "--store", str(tmp_path / "store"), "--workers", "2"]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--embedder", "none"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "LTM_TIMEZONE": "UTC"},
    )
    one = Running(process, port)

    def ready() -> bool:
        assert process.poll() is None, "it ended"
        try:
            return one.ask("GET", "/ready")[0] == 200
        except OSError:
            return False

    try:
        assert process.stdout is not None
        shown = (process.stdout.readline() for _ in range(10))
        one.key = next(m[0] for line in shown if (m := re.search(r"ltm_[0-9a-f]{12}_[\w-]{43}", line)))
        until(ready)
        yield one
    finally:
        process.kill()
        for pid in one.workers:
            os.kill(pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs Linux")
def test_a_worker_that_was_killed_is_replaced_and_a_stop_is_clean(running: Running) -> None:
    status, seen = running.ask("POST", "/v1/observe", {"session_id": "s", "user": "I live in Porto."})
    assert status == 200 and seen["messages"][0]["status"] == "stored"
    until(lambda: len(running.workers) == 2)
    before = running.workers
    os.kill(before[0], signal.SIGKILL)
    until(lambda: len(set(running.workers) - set(before)) == 1)
    for _ in range(10):
        status, found = running.ask("GET", "/v1/facts")
        assert status == 200 and [f["object"] for f in found["items"]] == ["Porto"]
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(30) == 0 and not any(Path(f"/proc/{pid}").exists() for pid in before)
