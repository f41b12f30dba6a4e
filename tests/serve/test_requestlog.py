"""The log of requests: one line each, and never what was said, asked or who it was about."""

from __future__ import annotations

import json
import multiprocessing
import re
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("httpx")

from ltm_core.errors import UnavailableError
from ltm_core.serve.requestlog import SECRET_FILE, UNKNOWN, Pseudonyms, RequestLog, secret_of
from ltm_core.testing.service import service_at

HOSTILE = (
    "kumquat-7421",
    'kumquat"}\n{"time":"forged"',
    "kumquat\r\n\x1b[31m\u2028\u202e",
    "金橘的密码是七四二一",
    "%s %(message)s {kumquat}",
    "\ud83d",
)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_no_line_holds_what_was_said_asked_or_who_it_was(tmp_path: Path) -> None:
    place = tmp_path / "requests.log"
    service = service_at(tmp_path / "store", log_file=str(place))
    asked = 0
    with service.http:
        for words in HOSTILE:
            sent = words.encode("utf-8", "replace").decode()
            inside = quote(sent, safe="")
            requests: tuple[tuple[str, str, dict[str, Any]], ...] = (
                ("POST", "/v1/observe", {"json": {"session_id": sent, "user": sent}}),
                ("POST", "/v1/context", {"json": {"query": sent}}),
                ("POST", "/v1/context", {"json": {"query": sent, sent: sent}}),
                ("POST", "/v1/observe/batch", {"json": {"items": [{"session_id": "s", "user": sent}]}}),
                ("GET", f"/v1/facts?subject={inside}", {}),
                ("GET", f"/{inside}", {}),
                ("GET", f"/v1/{inside}?q={inside}", {}),
                ("GET", f"/page/facts/{inside}", {}),
                ("GET", f"/page/recall?lang={inside}", {}),
                ("DELETE", "/v1/observe", {}),
                ("GET", "/health", {"headers": {"Host": "kumquat.example"}}),
                ("POST", "/v1/observe", {"content": sent.encode()}),
            )
            for verb, path, options in requests:
                headers = {"LTM-User": inside, "LTM-Actor": inside, "LTM-Reason": inside, "User-Agent": "kumquat"}
                options["headers"] = headers | dict(options.get("headers", {}))
                service.ask(verb, path, service.admin, follow_redirects=False, **options)
                asked += 1
        service.ask("POST", "/v1/context", "ltm_kumquat", json={"query": "kumquat"})
    told = place.read_text(encoding="utf-8")
    found = lines(place)
    assert len(found) == asked + 1
    for words in ("kumquat", "forged", "金橘", "7421", "%", "\u2028", "ud83d", "ltm_", service.admin[-20:]):
        assert words not in told, words
    assert {tuple(line) for line in found} == {("time", "operation", "status", "ms", "key", "user")}
    operations = {line["operation"] for line in found}
    assert {"observe", "context", "observe_batch", "facts", UNKNOWN} <= operations
    assert found[-1]["status"] == 401 and found[-1]["key"] is None
    assert stat.S_IMODE(place.stat().st_mode) == 0o600 or sys.platform == "win32"


def test_a_line_says_what_was_asked_by_whom_and_how_long_it_took(tmp_path: Path) -> None:
    place = tmp_path / "requests.log"
    service = service_at(tmp_path / "store", log_file=str(place))
    with service.http:
        body = {"session_id": "s", "user": "I live in Porto."}
        service.ask("POST", "/v1/observe", service.ana, json=body)
        service.ask("POST", "/v1/observe", service.admin, json=body, headers={"LTM-User": "ana"})
        service.ask("POST", "/v1/observe", service.ben, json=body, headers={"LTM-User": "ana"})
        service.ask("GET", "/v1/facts", service.ben)
        service.ask("GET", "/metrics", service.admin)
    first, second, refused, other, figures = lines(place)
    assert [x["status"] for x in (first, second, refused, other, figures)] == [200, 200, 403, 200, 200]
    assert [x["operation"] for x in (first, other, figures)] == ["observe", "facts", "metrics"]
    assert [x["key"] for x in (first, second, refused)] == [service.ids[k] for k in ("ana", "admin", "ben")]
    assert first["user"] == second["user"] != other["user"]
    assert refused["user"] is None and figures["user"] is None
    assert first["ms"] > 0 and datetime.fromisoformat(first["time"]).tzinfo is not None


def test_the_page_names_its_key_and_no_path(tmp_path: Path) -> None:
    place = tmp_path / "requests.log"
    service = service_at(tmp_path / "store", log_file=str(place))
    with service.http:
        form = service.http.get("/page/sign-in").text
        mark = re.search(r'name="mark" value="([^"]+)"', form)
        assert mark is not None
        service.http.post(
            "/page/sign-in",
            data={"mark": mark[1], "key": service.ana},
            headers={"Origin": "http://localhost"},
            follow_redirects=False,
        )
        assert service.http.get("/page/timeline").status_code == 200
    *_, last = lines(place)
    assert last["operation"] == "/page/timeline" and last["key"] == service.ids["ana"] and last["user"]
    assert service.ana not in place.read_text(encoding="utf-8")


def test_the_secret_of_a_store_stays_and_another_store_has_another(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for place in (one, two):
        place.mkdir()
    assert secret_of(one) == secret_of(one) != secret_of(two) and len(secret_of(one)) == 32
    assert [p.name for p in one.iterdir()] == [SECRET_FILE]
    assert stat.S_IMODE((one / SECRET_FILE).stat().st_mode) == 0o600 or sys.platform == "win32"


def test_no_log_unless_asked_for(tmp_path: Path) -> None:
    service = service_at(tmp_path / "store")
    with service.http:
        service.ask("GET", "/health", None)
    assert not (tmp_path / "store" / SECRET_FILE).exists()


def test_a_place_that_cannot_be_written_is_said_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="cannot be opened"):
        RequestLog(tmp_path / "none" / "requests.log", most_bytes=1024, files=1, users=Pseudonyms(b"x"))


def _write(path: Path, name: str, count: int) -> None:
    log = RequestLog(path, most_bytes=4096, files=100, users=Pseudonyms(b"x"))
    for _ in range(count):
        log.write(at=datetime.now(UTC), operation=name, status=200, seconds=0.001, key=None, user_id="ana")
    log.close()


def test_workers_that_turn_the_file_over_lose_no_line(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "requests.log"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write, args=(path, f"worker{n}", 300)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    files = list(tmp_path.glob("requests.log*"))
    found = [line["operation"] for file in files for line in lines(file)]
    assert sorted(found) == ["worker0"] * 300 + ["worker1"] * 300
    assert len(files) > 5 and max(f.stat().st_size for f in files) <= 4096


def test_only_so_many_older_files_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "requests.log"
    log = RequestLog(path, most_bytes=1024, files=2, users=Pseudonyms(b"x"))
    for _ in range(100):
        log.write(at=datetime.now(UTC), operation="observe", status=200, seconds=0.001, key=None, user_id=None)
    log.close()
    assert {f.name for f in tmp_path.glob("requests*")} == {"requests.log", "requests.log.1", "requests.log.2"}


def test_a_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "requests.log"
    log = RequestLog(path, most_bytes=10**6, files=2, users=Pseudonyms(b"x"))
    for name in ("before", "after"):
        log.write(at=datetime.now(UTC), operation=name, status=200, seconds=0.001, key=None, user_id=None)
        if name == "before":
            path.rename(tmp_path / "moved")
    log.close()
    assert [x["operation"] for x in lines(path)] == ["after"]
    assert [x["operation"] for x in lines(tmp_path / "moved")] == ["before"]
