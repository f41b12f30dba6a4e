"""Facts from a server that speaks the OpenAI protocol, as well as small ones do."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from ltm_core.errors import ConfigError, ExtractionError, UnavailableError
from ltm_core.llm.openai_compatible import OpenAICompatibleExtractor
from ltm_core.llm.resolve import resolve_extractor
from ltm_core.protocols import ExtractionRequest
from ltm_core.testing.extractor_contract import ExtractorContract, clause
from ltm_core.testing.openai_server import OpenAIServer

KEY = "sk-Rosebud"
OBOE = '{"facts": [{"clause": "c1", "subject": "user", "relation": "plays", "object": "oboe"}]}'
REQUEST = ExtractionRequest(clauses=(clause("My oboe keeps me sane."),))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        server.chat(OBOE)
        yield server


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def client(server: OpenAIServer, pauses: list[float] | None = None, **options: Any) -> OpenAICompatibleExtractor:
    kept = [] if pauses is None else pauses
    return OpenAICompatibleExtractor(server.base_url, "tiny", sleep=kept.append, **options)


def found(extractor: OpenAICompatibleExtractor) -> list[str]:
    return [f.object for f in extractor.extract(REQUEST)]


def formats(server: OpenAIServer) -> list[str]:
    return [r.body.get("response_format", {}).get("type", "text") for r in server.requests]


class TestContract(ExtractorContract):
    @pytest.fixture
    def extractor(self, server: OpenAIServer) -> Any:
        return client(server)


class TestModes:
    def test_the_strictest_mode_is_asked_first(self, server: OpenAIServer) -> None:
        extractor = client(server)
        assert found(extractor) == ["oboe"] and extractor.mode == "json_schema"
        body = server.requests[0].body
        assert body["temperature"] == 0 and body["model"] == "tiny"
        assert body["response_format"]["json_schema"]["strict"] is True
        assert "My oboe keeps me sane." in body["messages"][1]["content"]

    @pytest.mark.parametrize("status", [400, 422, 500])
    def test_a_refused_mode_costs_one_request_and_is_not_asked_again(self, server: OpenAIServer, status: int) -> None:
        server.chat(OBOE, refuse=["json_schema"], status=status)
        pauses: list[float] = []
        extractor = client(server, pauses)
        assert found(extractor) == found(extractor) == ["oboe"]
        assert formats(server) == ["json_schema", "json_object", "json_object"] and pauses == []

    def test_plain_text_is_the_last_resort(self, server: OpenAIServer) -> None:
        server.chat(f"Sure!\n```json\n{OBOE}\n```", refuse=["json_schema", "json_object"])
        extractor = client(server)
        assert found(extractor) == ["oboe"] and extractor.mode == "text"
        assert found(extractor) == ["oboe"] and formats(server)[-1] == "text"

    def test_an_unreadable_answer_is_asked_for_once_more(self, server: OpenAIServer) -> None:
        server.chat("I would rather not.", OBOE)
        extractor = client(server)
        assert found(extractor) == ["oboe"] and extractor.mode == "json_object"

    def test_garbage_twice_is_an_error_that_holds_no_words(self, server: OpenAIServer) -> None:
        server.chat("oboe, oboe, oboe")
        with pytest.raises(ExtractionError) as e:
            found(client(server))
        assert "oboe" not in str(e.value) and len(server.requests) == 2

    def test_a_server_that_changed_its_mind_is_asked_in_the_other_modes(self, server: OpenAIServer) -> None:
        extractor = client(server)
        found(extractor)
        server.chat(OBOE, refuse=["json_schema"])
        assert found(extractor) == ["oboe"] and extractor.mode == "text"


class TestTrouble:
    def test_too_many_requests_are_repeated_when_the_server_says(self, server: OpenAIServer) -> None:
        server.fail(429, headers={"Retry-After": "7"})
        pauses: list[float] = []
        extractor = client(server, pauses)
        assert found(extractor) == ["oboe"] and pauses == [7.0] and extractor.mode == "json_schema"

    def test_a_refused_key_is_said_at_once(self, server: OpenAIServer) -> None:
        server.fail(401)
        with pytest.raises(UnavailableError, match="API key"):
            found(client(server, api_key=KEY))
        assert len(server.requests) == 1

    def test_a_slow_server_is_given_up(self, server: OpenAIServer) -> None:
        server.hang(5, times=3)
        with pytest.raises(UnavailableError, match="3 tries"):
            found(client(server, read_timeout=0.05))

    def test_a_closed_connection_is_tried_again(self, server: OpenAIServer) -> None:
        server.drop(times=2)
        assert found(client(server)) == ["oboe"]

    def test_a_server_that_always_fails_is_unavailable(self, server: OpenAIServer) -> None:
        server.fail(500, times=20)
        with pytest.raises(UnavailableError, match="answered 500"):
            found(client(server))
        assert formats(server) == ["json_schema", "json_object", "text", "text", "text"]

    @pytest.mark.parametrize("value", [{"error": "x"}, {"choices": []}, {"choices": [7]}, [], "oboe", 3])
    def test_another_answer_than_a_completion_is_an_error(self, server: OpenAIServer, value: Any) -> None:
        server.garbage(value)
        with pytest.raises(ExtractionError) as e:
            found(client(server))
        assert "oboe" not in str(e.value)

    def test_bytes_that_are_no_json_are_an_error(self, server: OpenAIServer) -> None:
        server.garbage(b"<html>oboe")
        with pytest.raises(UnavailableError) as e:
            found(client(server))
        assert "oboe" not in str(e.value)

    def test_content_in_parts_and_none(self, server: OpenAIServer) -> None:
        server.garbage({"choices": [{"message": {"content": [{"type": "text", "text": OBOE}]}}]})
        assert found(client(server)) == ["oboe"]
        server.garbage({"choices": [{"message": {"content": None}}]})
        assert found(client(server)) == ["oboe"]  # asked again in another mode

    def test_an_answer_that_was_cut_is_read_as_far_as_it_goes(
        self, server: OpenAIServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        server.chat(OBOE.removesuffix("]}") + ', {"clause": "c1", "object": "keeps me' + "x" * 400)
        with caplog.at_level(logging.WARNING, "ltm"):
            assert found(client(server, max_answer_tokens=40)) == ["oboe"]
        assert "was cut" in caplog.text and "oboe" not in caplog.text


class TestNaming:
    def test_from_a_string(self, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        extractor = resolve_extractor(f"openai:{server.base_url}#qwen2.5:1.5b")
        assert extractor is not None and extractor.name == "qwen2.5:1.5b"
        assert [f.object for f in extractor.extract(REQUEST)] == ["oboe"]
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in repr(extractor)

    @pytest.mark.parametrize(
        "spec",
        ["openai:", "openai:http://127.0.0.1/v1", "openai:ftp://x#m", "gpt-4o", 7,
         OpenAICompatibleExtractor, object()],
    )  # fmt: skip
    def test_what_is_no_extractor_is_refused_with_what_is_possible(self, spec: Any) -> None:
        with pytest.raises(ConfigError) as e:
            resolve_extractor(spec)
        assert "openai:" in str(e.value)

    def test_a_password_in_the_address_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
            resolve_extractor("openai:http://u:p@127.0.0.1/v1#m")

    def test_none_is_none(self) -> None:
        assert resolve_extractor(None) is None and resolve_extractor("none") is None
