from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ltm_core.embed import checked
from ltm_core.embed.openai_compatible import OpenAICompatibleEmbedder
from ltm_core.errors import ConfigError, UnavailableError
from ltm_core.testing.embedder_contract import EmbedderContract
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.openai_server import OpenAIServer, wait_for_requests

KEY = "sk-Rosebud"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def client(server: OpenAIServer, pauses: list[float] | None = None, **options: Any) -> OpenAICompatibleEmbedder:
    kept = [] if pauses is None else pauses
    return OpenAICompatibleEmbedder(server.base_url, "tiny", sleep=kept.append, **options)


class TestContract(EmbedderContract):
    @pytest.fixture
    def embedder(self, server: OpenAIServer) -> Any:
        return OpenAICompatibleEmbedder(server.base_url, "tiny")


class TestRequests:
    def test_order_follows_the_index(self, server: OpenAIServer) -> None:
        texts = [f"text number {number}" for number in range(10)]
        assert client(server).embed_documents(texts) == pytest.approx(HashEmbedder().embed_documents(texts), abs=1e-6)

    def test_answers_without_index_are_in_order(self, server: OpenAIServer) -> None:
        server.garbage({"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]})
        assert np.array_equal(client(server).embed_documents(["a", "b"]), [[1, 0], [0, 1]])

    def test_batches_of_64(self, server: OpenAIServer) -> None:
        rows = client(server).embed_documents([str(number) for number in range(130)])
        assert rows.shape == (130, 64)
        assert [len(request.body["input"]) for request in server.requests] == [64, 64, 2]

    def test_dimension_is_discovered_once(self, server: OpenAIServer) -> None:
        embedder = client(server)
        assert (embedder.dimension, embedder.dimension) == (64, 64)
        assert len(server.requests) == 1
        assert "dimensions" not in server.requests[0].body

    def test_dimensions_are_asked_for(self, server: OpenAIServer) -> None:
        embedder = client(server, dimensions=8)
        assert embedder.dimension == 8
        assert not server.requests
        assert embedder.embed_query("a").shape == (8,)
        assert server.requests[0].body == {"model": "tiny", "input": ["a"], "dimensions": 8}

    def test_a_query_in_the_address_is_kept(self, server: OpenAIServer) -> None:
        server.route("/v1/embeddings?version=1", lambda body: {"data": [{"index": 0, "embedding": [1.0]}]})
        embedder = OpenAICompatibleEmbedder(f"{server.base_url}/?version=1", "tiny")
        assert embedder.embed_query("a").tolist() == [1.0]

    def test_key_from_parameter_and_environment(self, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
        client(server).embed_query("a")
        monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
        client(server).embed_query("a")
        client(server, api_key="other").embed_query("a")
        seen = [request.headers.get("authorization") for request in server.requests]
        assert seen == [None, f"Bearer {KEY}", "Bearer other"]

    @pytest.mark.parametrize("key", [f"{KEY}\nX-Evil: 1", f"{KEY}钥"])
    def test_unusable_keys_are_refused_and_not_shown(self, server: OpenAIServer, key: str) -> None:
        with pytest.raises(ConfigError) as raised:
            client(server, api_key=key).embed_query("a")
        assert KEY not in str(raised.value)
        assert not server.requests

    def test_key_does_not_show(self, server: OpenAIServer) -> None:
        embedder = client(server, api_key=KEY)
        server.fail(401)
        with pytest.raises(UnavailableError, match="API key") as raised:
            embedder.embed_query("my text")
        for shown in (repr(embedder), embedder.name, repr(checked(embedder)), repr(raised.value)):
            assert KEY not in shown
            assert "my text" not in shown


class TestFailures:
    @pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
    def test_passing_failures_are_tried_again(self, server: OpenAIServer, status: int) -> None:
        pauses: list[float] = []
        server.fail(status, times=2)
        assert client(server, pauses).embed_query("a").shape == (64,)
        assert pauses == [0.5, 1.0]

    def test_dropped_connections_are_tried_again(self, server: OpenAIServer) -> None:
        pauses: list[float] = []
        server.drop(times=2)
        assert client(server, pauses).embed_query("a").shape == (64,)
        assert len(pauses) == 2

    def test_retry_after_is_honoured_within_bounds(self, server: OpenAIServer) -> None:
        pauses: list[float] = []
        server.fail(429, headers={"Retry-After": "3"})
        server.fail(429, headers={"Retry-After": "86400"})
        client(server, pauses).embed_query("a")
        assert pauses == [3.0, 20.0]

    def test_retry_after_nonsense_is_ignored(self, server: OpenAIServer) -> None:
        pauses: list[float] = []
        server.fail(503, headers={"Retry-After": "nan"})
        server.fail(503, headers={"Retry-After": "soon"})
        client(server, pauses).embed_query("a")
        assert pauses == [0.5, 1.0]

    def test_tries_are_bounded(self, server: OpenAIServer) -> None:
        server.fail(500, times=9)
        with pytest.raises(UnavailableError, match=r"500.*3 tries"):
            client(server).embed_query("a")
        assert len(server.requests) == 3

    @pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404, 413, 422])
    def test_lasting_failures_are_not_tried_again(self, server: OpenAIServer, status: int) -> None:
        server.fail(status, headers={"Location": f"{server.base_url}/elsewhere"})
        with pytest.raises(UnavailableError, match=str(status)):
            client(server).embed_query("a")
        assert len(server.requests) == 1

    def test_a_hanging_server_is_given_up(self, server: OpenAIServer) -> None:
        server.hang(30, times=2)
        start = time.monotonic()
        with pytest.raises(UnavailableError, match="reached"):
            client(server, read_timeout=0.1, retries=1).embed_query("a")
        assert time.monotonic() - start < 5
        assert wait_for_requests(server, 2)

    def test_nobody_listening(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        pauses: list[float] = []
        embedder = OpenAICompatibleEmbedder(f"http://127.0.0.1:{port}/v1", "m", sleep=pauses.append)
        with pytest.raises(UnavailableError, match="ConnectionRefused"):
            _ = embedder.dimension
        assert len(pauses) == 2

    @pytest.mark.parametrize(
        "answer",
        [
            b"<html>",
            b"",
            b"\xff\xfe",
            [],
            {"data": None},
            {"data": []},
            {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
            {"data": [{"index": 1, "embedding": [1.0]}]},
            {"data": [{"index": "0", "embedding": [1.0]}]},
            {"data": [{"index": 0, "embedding": []}]},
            {"data": [{"index": 0, "embedding": "AAAA"}]},
            {"data": [{"index": 0, "embedding": [None]}]},
            {"data": [{"index": 0, "embedding": [float("nan")] * 64}]},
            {"data": [{"index": 0, "embedding": [1e308 * 10] * 64}]},
            {"data": [{"index": 0, "embedding": [10**400] * 64}]},
            {"data": [{"index": 0, "embedding": [1e300] * 64}]},
            {"data": ["text"]},
        ],
        ids=range(17),
    )
    def test_garbage_is_unavailable(self, server: OpenAIServer, answer: Any) -> None:
        embedder = checked(client(server))
        assert embedder.dimension == 64
        server.garbage(answer)
        with pytest.raises(UnavailableError):
            embedder.embed_query("a")

    def test_other_dimensions_are_unavailable(self, server: OpenAIServer) -> None:
        server.garbage({"data": [{"index": 0, "embedding": [1.0, 0.0]}]})
        with pytest.raises(UnavailableError, match="2 dimensions, not 64"):
            client(server, dimensions=64).embed_query("a")

    def test_rows_of_different_length_are_unavailable(self, server: OpenAIServer) -> None:
        server.garbage({"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]})
        with pytest.raises(UnavailableError, match="2 dimensions, not 1"):
            client(server).embed_documents(["a", "b"])
