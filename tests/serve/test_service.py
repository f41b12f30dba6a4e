"""The HTTP API: who may do what, what a bad request is told, and that no answer tells another's memory."""

from __future__ import annotations

import inspect
import itertools
import json
import stat
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("httpx")

from ltm_core import LongTermMemory
from ltm_core.serve.keys import KEYS_FILE, Keyring
from ltm_core.serve.operations import BY_METHOD, NOT_SERVED, OPERATIONS
from ltm_core.serve.rate import Rate
from ltm_core.serve.settings import ServeSettings
from ltm_core.testing.service import NOW, Service, service_at

SECRET = "My locker code is 7421."
"""What ana told; it may stand in no answer to anybody else."""


def told(service: Service) -> None:
    answer = service.ask("POST", "/v1/observe", service.ana, json={"session_id": "s", "user": SECRET})
    assert answer.status_code == 200 and answer.json()["messages"][0]["status"] == "stored"


def test_every_method_is_served_or_said_not_to_be() -> None:
    methods = {
        name
        for name, _ in inspect.getmembers(LongTermMemory, inspect.isfunction)
        if not name.startswith("_") and not inspect.iscoroutinefunction(getattr(LongTermMemory, name))
    }
    assert methods == set(BY_METHOD) | (NOT_SERVED - {"open", "restore_backup"})


def test_what_was_told_comes_back(service: Service) -> None:
    told(service)
    answer = service.ask("POST", "/v1/context", service.ana, json={"query": "What is my locker code?"})
    assert "7421" in answer.json()["text"] and answer.json()["token_count"] <= 1200
    facts = service.ask("GET", "/v1/facts", service.ana).json()
    assert facts["items"] and facts["next_cursor"] is None
    assert answer.headers["cache-control"] == "no-store"


def test_nothing_without_a_key(service: Service) -> None:
    for operation, key in itertools.product(
        OPERATIONS, (None, "", "ltm_000000000000_" + "A" * 43, "Bearer", service.ana[:-1] + "x")
    ):
        answer = service.ask(operation.verb, operation.path, key, json=dict(operation.example) or None)
        if answer.status_code != 422:  # a body that is missing is told before the key is looked at
            assert answer.status_code == 401 and answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.headers["content-type"] == "application/problem+json"


def test_the_store_is_the_administrators(service: Service) -> None:
    guarded = [o for o in OPERATIONS if o.reach == "store"]
    for operation, key in itertools.product(guarded, (service.ana, service.app)):
        body: dict[str, Any] = {"pairs": []} if operation.method == "calibrate" else {}
        answer = service.ask(operation.verb, operation.path, key, json=body if operation.verb != "GET" else None)
        assert answer.status_code == 403, answer.text


def test_a_user_key_reaches_nobody_else(service: Service) -> None:
    told(service)
    for headers, body in (
        ({}, {"user_id": "ana"}),
        ({"LTM-User": "ana"}, {}),
        ({"LTM-User": "ana"}, {"user_id": "ana"}),
    ):
        for path, more in (("/v1/context", {"query": "locker code"}), ("/v1/forget/user", {})):
            answer = service.ask("POST", path, service.ben, headers=headers, json={**more, **body})
            assert answer.status_code == 403 and "7421" not in answer.text
    assert service.ask("GET", "/v1/facts?user_id=ana", service.ben).status_code == 403
    assert service.ask("GET", "/v1/export?user_id=ana", service.ben).status_code == 403
    assert "7421" not in service.ask("GET", "/v1/changes", service.ben).text
    assert "7421" not in service.ask("GET", "/v1/audit", service.ben).text
    assert (
        "7421"
        in service.ask("POST", "/v1/context", service.ana, json={"query": "locker code", "user_id": "ana"}).text
    )


def test_an_app_names_the_user_in_the_header_never_in_the_body_alone(service: Service) -> None:
    body = {"session_id": "s", "user": "I live in Porto.", "user_id": "cem"}
    assert service.ask("POST", "/v1/observe", service.app, json=body).status_code == 403
    assert service.ask("POST", "/v1/observe", service.app, headers={"LTM-User": "eve"}, json=body).status_code == 403
    assert service.ask("POST", "/v1/observe", service.app, headers={"LTM-User": "cem"}, json=body).status_code == 200
    assert service.ask("GET", "/v1/changes", service.app).status_code == 403
    assert service.ask("GET", "/v1/changes", service.admin).json()["items"]
    (message,) = service.memory.messages(user_id="cem")
    assert message.app_id == "crm"
    other = {**body, "app_id": "shop"}
    assert service.ask("POST", "/v1/observe", service.app, headers={"LTM-User": "cem"}, json=other).status_code == 403


@pytest.mark.parametrize("user", ["用户一", "a/b", "a b", "😀", "%", "o'neil; drop table x", "x" * 300])
def test_any_user_fits_into_the_header(service: Service, user: str) -> None:
    from urllib.parse import quote

    headers = {"LTM-User": quote(user, safe="")}
    body = {"session_id": "s", "user": "I live in Porto."}
    assert service.ask("POST", "/v1/observe", service.admin, headers=headers, json=body).status_code == 200
    assert [m.content for m in service.memory.messages(user_id=user)] == ["I live in Porto."]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/observe", {"user": SECRET}, 422),
        ("/v1/observe", {"session_id": "s", "user": SECRET, "colour": "red"}, 422),
        ("/v1/observe", {"session_id": " ", "user": SECRET}, 400),
        ("/v1/context", {"query": SECRET, "max_tokens": -1}, 400),
        ("/v1/context", {"query": SECRET, "tiers": [SECRET]}, 422),
        ("/v1/search", {"query": SECRET, "filters": {"$nope": SECRET}}, 400),
        ("/v1/forget", {"memory_id": "none"}, 404),
        ("/v1/facts/correct", {"wrong": SECRET, "right": "x"}, 404),
    ],
)
def test_a_refusal_says_why_and_repeats_nothing(
    service: Service, path: str, body: dict[str, Any], status: int
) -> None:
    answer = service.ask("POST", path, service.ana, json=body)
    problem = answer.json()
    assert answer.status_code == status == problem["status"] and problem["detail"] and problem["error"]
    assert problem["type"].startswith("urn:ltm-core:problem:") and "7421" not in answer.text
    assert service.memory.stats().messages == 0


def test_what_is_no_json_is_refused(service: Service) -> None:
    for content in (b"", b"{", b"[]", b"\xff\xfe", b'{"session_id": "s", "user": "\xed\xa0\x80"}', b"null"):
        answer = service.ask("POST", "/v1/observe", service.ana, content=content)
        assert answer.status_code in (400, 422) and answer.json()["title"], content
    assert service.ask("GET", "/v1/nothing", service.ana).status_code == 404
    assert service.ask("DELETE", "/v1/facts", service.ana).status_code == 405


def test_an_unexpected_failure_tells_nothing(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(type(service.memory), "facts", broken)
    answer = service.ask("GET", "/v1/facts", service.ana)
    assert answer.status_code == 500 and "7421" not in answer.text and "7421" not in caplog.text
    assert "RuntimeError" in caplog.text


def test_hosts_and_origins_are_known_ones(service: Service) -> None:
    assert service.ask("GET", "/health", None, headers={"Host": "evil.example"}).status_code == 421
    assert service.ask("GET", "/health", None, headers={"Host": "evil.example:8710"}).status_code == 421
    assert service.ask("GET", "/health", None, headers={"Origin": "http://evil.example"}).status_code == 403
    assert service.ask("GET", "/health", None, headers={"Origin": "null"}).status_code == 403
    assert service.ask("GET", "/health", None, headers={"Origin": "http://localhost"}).status_code == 200
    assert service.ask("GET", "/health", None).json()["status"] == "ok"
    assert service.ask("GET", "/ready", None).status_code == 200


def test_large_bodies_and_busy_keys_are_turned_away(tmp_path: Path) -> None:
    one = service_at(tmp_path / "store", max_body_bytes=2048, requests_per_minute=60, burst=3)
    with one.http:
        big = {"session_id": "s", "user": "x" * 3000}
        assert one.ask("POST", "/v1/observe", one.ana, json=big).status_code == 413
        answers = [one.ask("GET", "/v1/profile", one.ana) for _ in range(4)]
        assert [a.status_code for a in answers] == [200, 200, 200, 429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert one.ask("GET", "/v1/profile", one.ben).status_code == 200


def test_a_bucket_fills_again() -> None:
    now = 0.0
    rate = Rate(per_minute=60, burst=2, clock=lambda: now)
    assert [rate.allow("k") > 0 for _ in range(3)] == [False, False, True]
    now = 1.0
    assert [rate.allow("k") > 0 for _ in range(2)] == [False, True]
    assert not Rate(per_minute=0, burst=1, clock=lambda: now).allow("k")


def test_a_slow_call_is_answered_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    gate = threading.Event()
    one = service_at(tmp_path / "store", timeout_seconds=0.2)
    with one.http:
        monkeypatch.setattr(type(one.memory), "profile", lambda *_, **__: gate.wait(10))
        answer = one.ask("GET", "/v1/profile", one.ana)
        gate.set()
        assert answer.status_code == 504


def test_a_batch_takes_each_turn_for_itself(service: Service) -> None:
    items = [
        {"session_id": "s", "user": "I live in Porto.", "message_id": "m1"},
        {"session_id": " ", "user": "x"},
        {"session_id": "s", "user": "x", "user_id": "ben"},
        {"session_id": "s", "user": "I live in Porto.", "message_id": "m1"},
    ]
    results = service.ask("POST", "/v1/observe/batch", service.ana, json={"items": items}).json()["results"]
    assert [r["status"] for r in results] == [200, 400, 403, 200]
    assert [r["observation"]["messages"][0]["status"] for r in results if r["status"] == 200] == [
        "stored",
        "duplicate",
    ]
    wrong: list[dict[str, Any]] = [{}, {"items": []}, {"items": [{}] * 101}, {"items": 1}]
    for bad in wrong:
        assert service.ask("POST", "/v1/observe/batch", service.ana, json=bad).status_code == 400


def test_exports_and_imports_are_streams(service: Service) -> None:
    told(service)
    exported = service.ask("GET", "/v1/export", service.ana)
    lines = exported.text.splitlines()
    assert json.loads(lines[0])["type"] == "header" and json.loads(lines[-1])["type"] == "end"
    answer = service.ask("POST", "/v1/import", service.ben, content=exported.content)
    assert answer.status_code == 200 and answer.json()["imported"]["message"] == 1
    assert [m.user_id for m in service.memory.facts(user_id="ben")] == ["ben"]
    assert service.ask("POST", "/v1/import?trust=true", service.ben, content=exported.content).status_code == 403
    assert service.ask("POST", "/v1/import", service.ben, content=b"no export").status_code == 400


def test_the_audit_log_names_the_key(service: Service) -> None:
    headers = {"LTM-Actor": "%E5%BC%A0", "LTM-Reason": "ticket%207"}
    service.ask("POST", "/v1/observe", service.ana, headers=headers, json={"session_id": "s", "user": SECRET})
    entry = list(service.memory.audit(user_id="ana"))[-1]
    assert entry.actor == f"张 (key:{service.ids['ana']})" and entry.reason == "ticket 7"


def test_figures_name_no_user_and_no_words(service: Service) -> None:
    told(service)
    service.ask("POST", "/v1/context", service.ana, json={"query": "What is my locker code?"})
    assert service.ask("GET", "/metrics", service.ana).status_code == 403
    text = service.ask("GET", "/metrics", service.admin).text
    assert 'ltm_messages_total{state="stored"} 1.0' in text and 'ltm_recalls_total{found="yes"} 1.0' in text
    assert 'ltm_request_seconds_count{operation="context",status="200"} 1.0' in text
    assert "ltm_facts_current" in text and "ltm_queue_depth" in text
    words = "\n".join(line.rpartition(" ")[0] for line in text.splitlines())  # a time may hold any figures
    assert "ana" not in text.replace("finance", "") and "7421" not in words


def test_the_description_is_whole(service: Service) -> None:
    api = service.ask("GET", "/openapi.json", None).json()
    named = {m["operationId"] for path in api["paths"].values() for m in path.values()}
    assert named >= {o.method for o in OPERATIONS} | {"export_user", "import_user", "observe_batch"}
    body = api["paths"]["/v1/observe"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    model = api["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    assert model["examples"] and "session_id" in model["required"] and model["additionalProperties"] is False


def test_examples_of_the_description_work(service: Service) -> None:
    for operation in (o for o in OPERATIONS if o.example):
        answer = service.ask(
            operation.verb, operation.path, service.admin, headers={"LTM-User": "dan"}, json=dict(operation.example)
        )
        assert answer.status_code == 200, (operation.method, answer.text)


def test_keys_are_kept_as_hashes_for_their_owner_only(tmp_path: Path) -> None:
    ring = Keyring(tmp_path / KEYS_FILE)
    token, key = ring.add("user", now=NOW, user_id="ana", label="phone")
    text = (tmp_path / KEYS_FILE).read_text(encoding="utf-8")
    assert token.rpartition("_")[2] not in text and token.split("_", 2)[2] not in text
    assert stat.S_IMODE((tmp_path / KEYS_FILE).stat().st_mode) == 0o600
    other = Keyring(tmp_path / KEYS_FILE)
    assert other.owner(token) == key and other.owner(token[:-1]) is None
    ring.revoke(key.id)
    assert other.owner(token) is None and other.all() == []


@pytest.mark.parametrize(
    ("kind", "options"),
    [("user", {}), ("app", {}), ("admin", {"user_id": "ana"}), ("user", {"app_id": "a", "user_id": "u"})],
)
def test_a_key_says_whose_it_is(tmp_path: Path, kind: Any, options: dict[str, str]) -> None:
    from ltm_core import InvalidInputError

    with pytest.raises(InvalidInputError):
        Keyring(tmp_path / KEYS_FILE).add(kind, now=NOW, **options)
    assert not (tmp_path / KEYS_FILE).exists()


def test_settings_come_from_the_environment_and_back() -> None:
    from ltm_core import ConfigError

    settings = ServeSettings.load({"LTM_SERVE_PORT": "9000", "LTM_SERVE_ALLOWED_HOSTS": "a.example, b.example"})
    assert settings.port == 9000 and settings.allowed_hosts == ("a.example", "b.example")
    assert ServeSettings.load(settings.environment()) == settings
    with pytest.raises(ConfigError, match="port"):
        ServeSettings.load({"LTM_SERVE_PORT": "many"})
