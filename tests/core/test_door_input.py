"""Bad input raises a named error before anything is written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ltm_core import (
    Config,
    ConfigError,
    CorruptError,
    EmbedderMismatchError,
    InvalidFilterError,
    InvalidInputError,
    InvalidScopeError,
    InvalidTimeError,
    LongTermMemory,
    Message,
    NotFoundError,
    SchemaTooNewError,
    UnavailableError,
)
from ltm_core.testing.embedders import HashEmbedder


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder=HashEmbedder()) as opened:
        yield opened


BAD_IDS: list[Any] = [None, "", "  ", "\n\t", 7.5, True, "x" * 513, "a\0b", "bad\ud800", b"ana", ["ana"]]
SCOPED: list[tuple[str, Callable[[LongTermMemory, Any], Any]]] = [
    ("observe", lambda m, u: m.observe(user_id=u, session_id="s", user="I live in Porto.")),
    ("remember", lambda m, u: m.remember("I live in Porto.", user_id=u)),
    ("assert_fact", lambda m, u: m.assert_fact("order:1", "status", "sent", user_id=u, source="shop")),
    ("context", lambda m, u: m.context("hi", user_id=u)),
    ("search", lambda m, u: m.search("hi", user_id=u)),
    ("facts", lambda m, u: m.facts(user_id=u)),
    ("messages", lambda m, u: m.messages(user_id=u)),
    ("sessions", lambda m, u: m.sessions(user_id=u)),
    ("profile", lambda m, u: m.profile(u)),
    ("changes", lambda m, u: m.changes(user_id=u)),
    ("forget_user", lambda m, u: m.forget_user(u)),
    ("forget_session", lambda m, u: m.forget_session("s", user_id=u)),
    ("forget_matching", lambda m, u: m.forget_matching("Porto", user_id=u)),
    ("set_slot", lambda m, u: m.set_slot("a", 1, user_id=u, session_id="s")),
    ("bind", lambda m, u: m.bind(u)),
    ("pause", lambda m, u: m.pause(u)),
]


# `changes` of nobody in particular is the feed of all users.
REFUSED = [(name, call, bad) for name, call in SCOPED for bad in BAD_IDS if (name, bad) != ("changes", None)]


@pytest.mark.parametrize(("name", "call", "bad"), REFUSED, ids=[f"{n}-{b!r}" for n, _, b in REFUSED])
def test_a_bad_user_is_refused_everywhere(
    memory: LongTermMemory, name: str, call: Callable[[LongTermMemory, Any], Any], bad: Any
) -> None:
    with pytest.raises(InvalidScopeError):
        call(memory, bad)
    assert memory.stats().users == 0


def test_a_number_is_the_text_of_its_digits(memory: LongTermMemory) -> None:
    memory.observe(user_id=7, session_id=1, user="I live in Porto.")
    assert [m.content for m in memory.messages(user_id="7", session_id="1")] == ["I live in Porto."]


@pytest.mark.parametrize("bad", ["", " ", None, "x" * 513])
def test_a_bad_session_is_refused(memory: LongTermMemory, bad: Any) -> None:
    with pytest.raises(InvalidScopeError):
        memory.observe(user_id="ana", session_id=bad, user="hello")
    assert memory.stats().messages == 0


BAD_OBSERVATIONS: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"user": "hi", "messages": []}, InvalidInputError),
    ({"user": 5}, InvalidInputError),
    ({"messages": "hi"}, InvalidInputError),
    ({"messages": [5]}, InvalidInputError),
    ({"messages": [{"role": "robot", "content": "x"}]}, InvalidInputError),
    ({"user": "a", "assistant": "b", "message_id": "1"}, InvalidInputError),
    ({"message_id": "1"}, InvalidInputError),
    ({"user": "hi", "at": "soonish"}, InvalidTimeError),
    ({"user": "hi", "timezone": "Mars/Base"}, InvalidTimeError),
    ({"user": "hi", "ttl": 0}, InvalidInputError),
    ({"user": "hi", "ttl": -5}, InvalidInputError),
    ({"user": "hi", "ttl": math.nan}, InvalidInputError),
    ({"user": "hi", "metadata": {"x": math.nan}}, InvalidInputError),
    ({"user": "hi", "metadata": {"x": object()}}, InvalidInputError),
    ({"user": "hi", "metadata": {1: "x"}}, InvalidInputError),
    ({"user": "hi", "metadata": {"x": "y" * 20_000}}, InvalidInputError),
    ({"user": "hi", "metadata": [1]}, InvalidInputError),
    ({"user": "hi", "doc_type": " "}, InvalidInputError),
    ({"user": "x" * 1_000_001}, InvalidInputError),
    ({"user": "hi", "reply_to": ""}, InvalidScopeError),
]


@pytest.mark.parametrize(("options", "error"), BAD_OBSERVATIONS)
def test_a_bad_observation_leaves_nothing(
    memory: LongTermMemory, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        memory.observe(user_id="ana", session_id="s", **options)
    assert memory.stats().messages == 0 and memory.stats().users == 0


@pytest.mark.parametrize(
    "options",
    [
        {"messages": []},
        {"user": ""},
        {"user": "  \n"},
        {"messages": [{"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}]},
        {"messages": [{"role": "user", "content": []}]},
        {},
    ],
)
def test_nothing_said_is_nothing_stored(memory: LongTermMemory, options: dict[str, Any]) -> None:
    seen = memory.observe(user_id="ana", session_id="s", **options)
    assert seen.messages == () and memory.stats().messages == 0


def test_odd_characters_are_stored_and_found(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="my cat\0 Mimi \ud83d naps \U0001f408")
    (message,) = memory.messages(user_id="ana")
    assert "Mimi" in message.content and "\0" not in message.content
    assert "Mimi" in memory.context("Mimi", user_id="ana").text


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_tokens": -1}, InvalidInputError),
        ({"max_tokens": 1.5}, InvalidInputError),
        ({"tiers": ("dreams",)}, InvalidInputError),
        ({"format": "pdf"}, InvalidInputError),
        ({"filters": {"role": {"$regex": "x"}}}, InvalidFilterError),
        ({"filters": {"$not": 1}}, InvalidFilterError),
        ({"at": "later"}, InvalidTimeError),
        ({"timezone": "Nowhere"}, InvalidTimeError),
    ],
)
def test_a_bad_context_call_is_refused(
    memory: LongTermMemory, options: dict[str, Any], error: type[Exception]
) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    with pytest.raises(error):
        memory.context("where?", user_id="ana", **options)


def test_an_unreadable_range_is_an_error_not_no_filter(memory: LongTermMemory) -> None:
    with pytest.raises(InvalidTimeError, match="when pigs fly"):
        memory.search("x", user_id="ana", since="when pigs fly")


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "?!",
        '"',
        "don't",
        "c++ (or NOT?)",
        "user:x AND *",
        "NEAR(",
        "\0",
        "\ud800",
        "😀",
        "word " * 10_000,
    ],
)
def test_any_question_is_answered(memory: LongTermMemory, query: str) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Porto and I don't use C++.")
    context = memory.context(query, user_id="ana")
    assert context.token_count <= 1200
    memory.search(query, user_id="ana")


def test_unknown_ids_are_not_found(memory: LongTermMemory) -> None:
    memory.observe(user_id="ben", session_id="s", user="I live in Porto.")
    (fact,) = memory.facts(user_id="ben")
    for call in (
        lambda: memory.history(fact.id, user_id="ana"),
        lambda: memory.forget(fact.id, user_id="ana"),
        lambda: memory.restore(fact.id, user_id="ana"),
        lambda: memory.suppress(fact.id, user_id="ana"),
        lambda: memory.correct(fact_id=fact.id, right="Lima", user_id="ana"),
        lambda: memory.forget_session("s", user_id="ana"),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert len(memory.facts(user_id="ben")) == 1


def test_messages_of_errors_never_hold_memory_text(memory: LongTermMemory) -> None:
    with pytest.raises(InvalidInputError) as caught:
        memory.observe(user_id="ana", session_id="s", messages=[Message(role="user", content="secret " * 200_000)])
    assert "secret" not in str(caught.value)


# opening ------------------------------------------------------------------------------------------------
def test_unknown_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="max_tokenz"):
        LongTermMemory.open(tmp_path / "s", embedder="none", max_tokenz=5)
    with pytest.raises(ConfigError, match="durability"):
        LongTermMemory.open(tmp_path / "s", embedder="none", durability="hope")
    with pytest.raises(ConfigError, match="timezone"):
        LongTermMemory.open(tmp_path / "s", embedder="none", timezone="Mars/Base")
    with pytest.raises(ConfigError, match="vectors"):
        LongTermMemory.open(tmp_path / "s", embedder="none", vectors="faiss")
    with pytest.raises(ConfigError):
        LongTermMemory.open(tmp_path / "s", embedder="word2vec")


def test_config_and_overrides_combine(tmp_path: Path) -> None:
    config = Config(max_tokens=300)
    with LongTermMemory.open(tmp_path / "s", embedder="none", config=config, window_turns=3) as memory:
        assert (memory.config.max_tokens, memory.config.window_turns) == (300, 3)


def test_a_file_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    LongTermMemory.open(tmp_path / "s", embedder="none").close()
    (database,) = (tmp_path / "s").glob("*.sqlite3")
    for path in (tmp_path / "s").glob("*.sqlite3-*"):
        path.unlink()
    database.write_bytes(b"not a database at all" * 100)
    with pytest.raises(CorruptError):
        LongTermMemory.open(tmp_path / "s", embedder="none")
    assert database.read_bytes().startswith(b"not a database")


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    import sqlite3

    LongTermMemory.open(tmp_path / "s", embedder="none").close()
    (database,) = (tmp_path / "s").glob("*.sqlite3")
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(SchemaTooNewError):
        LongTermMemory.open(tmp_path / "s", embedder="none")


def test_a_place_that_cannot_hold_a_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnavailableError):
        LongTermMemory.open(tmp_path / "file", embedder="none")
    with pytest.raises(UnavailableError):
        LongTermMemory.open(tmp_path / "file" / "below", embedder="none")


def test_another_embedder_is_named_and_keywords_go_on(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder(64)) as memory:
        memory.observe(user_id="ana", session_id="s", user="I play the oboe.")
    with pytest.raises(EmbedderMismatchError, match="ltm reembed"):
        LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder(32))
    with LongTermMemory.open(tmp_path / "s", embedder="none") as memory:
        assert "oboe" in memory.context("which oboe?", user_id="ana").text


def test_read_only_reads_and_refuses_to_write(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder()) as memory:
        memory.observe(user_id="ana", session_id="s", user="I play the oboe.")
    with LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder(), read_only=True) as memory:
        assert "oboe" in memory.context("which oboe?", user_id="ana").text
        with pytest.raises(UnavailableError):
            memory.observe(user_id="ana", session_id="s", user="I play the harp.")
    with pytest.raises(UnavailableError):
        LongTermMemory.open(tmp_path / "absent", embedder=HashEmbedder(), read_only=True)


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = LongTermMemory.open(tmp_path / "s", embedder="none")
    memory.close()
    memory.close()
    with pytest.raises(UnavailableError):
        memory.observe(user_id="ana", session_id="s", user="hello")


def test_a_naive_clock_is_refused(tmp_path: Path) -> None:
    naive = datetime(2025, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    with (
        LongTermMemory.open(tmp_path / "s", embedder="none", clock=lambda: naive) as memory,
        pytest.raises(InvalidInputError, match="aware"),
    ):
        memory.observe(user_id="ana", session_id="s", user="hello")
