"""Assertions inside the shipped contract suites are explained like those of the tests; servers, one per session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("ltm_core.testing")

from ltm_core.testing.servers import ChromaServer, PostgresServer, missing_chroma, missing_postgres  # noqa: E402


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One of this session's process, for all its tests: who kills it starts it again."""
    if reason := missing_postgres():
        pytest.skip(reason)
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """A database of this test alone, with pgvector. It goes with the server: dropping one takes as long as a test."""
    return postgres_server.new_database()


@pytest.fixture(scope="class")
def postgres_place(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where the tests of one class have their store, in two parts; who makes one there empties it first."""
    key = tmp_path_factory.mktemp("key") / "store.key"
    return f"{postgres_server.new_database()}?partitions=2&key_file={key}"


@pytest.fixture
def empty_place(postgres_server: PostgresServer, postgres_place: str) -> str:
    """The same, with an empty store or none."""
    postgres_server.empty(postgres_place)
    return postgres_place


@pytest.fixture(scope="session")
def chroma_server() -> Iterator[ChromaServer]:
    """One of this session's process; stores keep apart there by themselves."""
    if reason := missing_chroma():
        pytest.skip(reason)
    with ChromaServer() as server:
        yield server


@pytest.fixture
def chroma_url(chroma_server: ChromaServer) -> str:
    """What ``vectors=`` takes."""
    return chroma_server.url
