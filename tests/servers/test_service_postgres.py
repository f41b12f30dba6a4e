"""Commands and the service on a store in PostgreSQL: the location is a URL, nothing else changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ltm_core import LongTermMemory
from ltm_core.cli import app
from ltm_core.errors import ConfigError
from ltm_core.locations import Location, directory_of

pytestmark = pytest.mark.servers
SECRET = "p4ss-Kestrel"


@pytest.fixture
def url(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return f"{postgres_url}?partitions=2"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_commands_take_a_url_and_show_no_password(url: str, postgres_server: Any, tmp_path: Path) -> None:
    password = postgres_server._password
    missing = run("stats", "--store", url)
    assert missing.exit_code == 3 and "holds no store" in missing.output
    with LongTermMemory.open(url, embedder="none", timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    told = [missing]
    for arguments in (["stats"], ["facts", "--user", "ana"], ["doctor"], ["maintain"], ["audit"]):
        told.append(run(*arguments, "--store", url, "--embedder", "none"))
        assert told[-1].exit_code == 0, (arguments, told[-1].output)
    assert "Porto" in told[2].output
    for refused in (["encrypt", "--key", "env:HOME"], ["backup", str(tmp_path / "copy")], ["restore", str(tmp_path)]):
        told.append(run(*refused, "--store", url, "--embedder", "none"))
        assert told[-1].exit_code in (2, 3), (refused, told[-1].output)
    assert [t.output for t in told if password in t.output] == []


def test_a_place_tells_no_password() -> None:
    place = Location(f"postgresql://ana:{SECRET}@db/app")
    assert place.is_url and place.absolute == place.text
    assert SECRET not in f"{place} {place!r}"
    with pytest.raises(ConfigError) as e:
        directory_of(place.text, "this")
    assert SECRET not in str(e.value)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_two_services_share_one_database(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack: ExitStack
) -> None:
    pytest.importorskip("fastapi")
    from fastapi.testclient import TestClient

    from ltm_core.serve.main import app as service

    monkeypatch.setenv("LTM_STORE", url)
    monkeypatch.setenv("LTM_EMBEDDER", "none")
    made = run("keys", "add", "--kind", "user", "--user", "ana", "--store", url)
    assert made.exit_code == 0, made.output
    head = {"authorization": f"Bearer {made.output.split()[0]}"}
    one, two = (
        stack.enter_context(TestClient(service(), base_url="http://localhost", headers=head)) for _ in range(2)
    )
    said = one.post("/v1/observe", json={"session_id": "s", "user": "I live in Porto.", "message_id": "m1"})
    assert said.status_code == 200, said.text
    again = two.post("/v1/observe", json={"session_id": "s", "user": "I live in Porto.", "message_id": "m1"})
    assert again.json()["messages"][0]["status"] == "duplicate"
    asked = two.post("/v1/context", json={"query": "Where do I live?"})
    assert "Porto" in asked.json()["text"]

    def write(client: TestClient, name: str) -> None:
        for i in range(10):
            client.post("/v1/observe", json={"session_id": name, "user": f"{name} {i}", "message_id": f"{name}{i}"})

    threads = [threading.Thread(target=write, args=(c, n)) for c, n in ((one, "a"), (two, "b"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with LongTermMemory.open(url, embedder="none", timezone="UTC") as memory:
        for name in ("a", "b"):
            kept = [m.content for m in memory.messages(user_id="ana", session_id=name)]
            assert kept == [f"{name} {i}" for i in range(10)]
