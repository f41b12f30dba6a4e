"""Documents at the door: application data inside the user's wall that is no memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import (
    ConflictError,
    DocumentWrite,
    InvalidFilterError,
    InvalidInputError,
    InvalidScopeError,
    LongTermMemory,
)
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import FailingEmbedder, HashEmbedder

START = datetime(2025, 6, 2, 10, tzinfo=UTC)
NS = ("notes", "work")


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder=HashEmbedder(), clock=clock, timezone="UTC") as opened:
        yield opened


def keys(memory: LongTermMemory, prefix: tuple[str, ...] = (), **options: Any) -> list[str]:
    return [d.key for d in memory.search_documents(prefix, user_id="ana", **options)]


def put(memory: LongTermMemory, key: str, value: Any = None, namespace: tuple[str, ...] = NS, **options: Any) -> None:
    memory.put_document(namespace, key, {"text": key} if value is None else value, user_id="ana", **options)


def test_a_document_is_kept_for_its_user_only(memory: LongTermMemory, tmp_path: Path) -> None:
    value = {"标题": "会议", "n": [1, 2.5, None, True], "deep": {"a.b": "x"}}
    stored = memory.put_document(NS, "k", value, user_id="ana")
    assert (stored.namespace, stored.key, stored.value, stored.expires_at) == (NS, "k", value, None)
    assert stored.created_at == stored.updated_at
    again = memory.put_document(list(NS), "k", {"v": 2}, user_id="ana")
    assert again.created_at == stored.created_at and again.updated_at > stored.updated_at
    assert memory.get_document(NS, "k", user_id="ana") == again
    assert memory.get_document(NS, "k", user_id="ben") is None
    assert memory.search_documents(user_id="ben", query="会议") == []
    assert memory.document_namespaces(user_id="ben").items == ()
    assert not memory.delete_document(NS, "k", user_id="ben")
    other = LongTermMemory.open(tmp_path / "store", embedder=HashEmbedder(), timezone="UTC")
    with other:
        assert other.get_document(NS, "k", user_id="ana") == again
        assert other.delete_document(NS, "k", user_id="ana")
        assert not other.delete_document(NS, "k", user_id="ana")
    assert memory.get_document(NS, "k", user_id="ana") is None


def test_a_document_is_no_memory(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="I like tea.")
    before = memory.context("Where do I live?", user_id="ana"), memory.stats()
    put(memory, "k", {"text": "I live in Porto. My order is ORD-7741."})
    memory.maintain()
    for query in ("Where do I live?", "ORD-7741", "Porto", None):
        assert "Porto" not in memory.context(query, user_id="ana").text
    assert all("Porto" not in i.text for i in memory.search("Porto ORD-7741", user_id="ana"))
    assert all("Porto" not in f.object for f in memory.facts(user_id="ana", include_superseded=True))
    after = memory.context("Where do I live?", user_id="ana"), memory.stats()
    assert [i.score for i in after[0].items] == pytest.approx([i.score for i in before[0].items], abs=1e-3)
    assert (after[1].chunks, after[1].vectors, after[1].documents) == (before[1].chunks, before[1].vectors, 1)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"n": 2}, ["b"]),
        ({"n": {"$gt": 1}}, ["b", "c"]),
        ({"n": {"$gte": 1, "$lt": 3}}, ["a", "b"]),
        ({"n": {"$lte": "2"}}, ["a", "b"]),
        ({"n": {"$ne": 2}}, ["a", "c", "d"]),
        ({"n": {"$eq": None}}, ["d"]),
        ({"n": {"$in": [1, 3]}}, ["a", "c"]),
        ({"n": {"$nin": [1, 3]}}, ["b", "d"]),
        ({"n": {"$exists": True}}, ["a", "b", "c"]),
        ({"tags": ["x", "y"]}, ["a"]),
        ({"tags": ["y", "x"]}, []),
        ({"meta": {"city": "杭州"}}, ["b"]),
        ({"meta": {"pop": {"$gt": 10}}}, ["b"]),
        ({"at": {"$gt": "2025-02-01", "$lt": "2025-12-01"}}, ["c"]),
        ({"$or": [{"n": 1}, {"at": {"$exists": True}}]}, ["a", "c"]),
        ({"$and": [{"n": {"$gt": 0}}, {"n": {"$lt": 2}}]}, ["a"]),
        ({}, ["a", "b", "c", "d"]),
    ],
)
def test_filters_choose_by_value(memory: LongTermMemory, filters: dict[str, Any], expected: list[str]) -> None:
    put(memory, "a", {"n": 1, "tags": ["x", "y"]})
    put(memory, "b", {"n": 2, "meta": {"city": "杭州", "pop": 12, "x": 1}})
    put(memory, "c", {"n": 3, "at": "2025-06-01"})
    put(memory, "d", {"text": "none"})
    assert keys(memory, filters=filters) == expected
    assert keys(memory, filters=filters, offset=1, limit=1) == expected[1:2]
    assert sorted(keys(memory, filters=filters, query="x")) == expected


@pytest.mark.parametrize(
    "filters",
    [
        {"n": {"$near": 1}},
        {"n": {"$gt": None}},
        {"n": {"$gt": 1, "x": 2}},
        {"n": {"$in": "abc"}},
        {"n": {"$exists": 1}},
        {"$not": {"n": 1}},
        {"$or": []},
        {"$or": {"n": 1}},
        {"": 1},
        ["n"],
        {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": 1}}}}}}}}},
        {str(i): i for i in range(300)},
    ],
)
def test_a_filter_that_means_nothing_is_refused(memory: LongTermMemory, filters: Any) -> None:
    with pytest.raises(InvalidFilterError):
        memory.search_documents(user_id="ana", filters=filters)


def test_a_query_finds_the_nearest_first(memory: LongTermMemory) -> None:
    put(memory, "tea", {"text": "green tea from the hills", "kind": "drink"}, index=["text"])
    put(memory, "bike", {"text": "a new red bicycle", "kind": "green tea from the hills"}, index=["text"])
    put(memory, "hidden", {"text": "green tea from the hills"}, index=False)
    put(memory, "whole", {"about": {"drinks": ["coffee", "green tea from the hills"]}})
    found = memory.search_documents(user_id="ana", query="green tea from the hills")
    assert [d.key for d in found] == ["tea", "whole", "bike", "hidden"]
    assert found[0].similarity == pytest.approx(1, abs=1e-3) and found[-1].similarity is None
    assert keys(memory, query="green tea from the hills", offset=1, limit=2) == ["whole", "bike"]
    assert keys(memory, query="green tea from the hills", offset=3, limit=2) == ["hidden"]
    assert all(d.similarity is None for d in memory.search_documents(user_id="ana", query=""))
    put(memory, "tea", {"text": "nothing like it"}, index=["text"])
    assert keys(memory, query="green tea from the hills")[0] == "whole"


def test_a_long_text_is_found_by_one_sentence_of_it(memory: LongTermMemory) -> None:
    filler = " ".join(f"Paragraph {i} speaks of budgets and of forecasts for region {i}." for i in range(40))
    put(memory, "long", {"text": f"{filler} The spare key hangs behind the blue door. {filler}"})
    put(memory, "short", {"text": "Budgets and forecasts."})
    found = memory.search_documents(user_id="ana", query="The spare key hangs behind the blue door.")
    assert found[0].key == "long" and (found[0].similarity or 0) > 0.6


@pytest.mark.parametrize("embedder", ["none", FailingEmbedder(failures=None)], ids=["none", "down"])
def test_without_vectors_words_count(tmp_path: Path, embedder: Any) -> None:
    with LongTermMemory.open(tmp_path / "other", embedder=embedder, timezone="UTC") as memory:
        put(memory, "a", {"text": "我在杭州的会议"})
        put(memory, "b", {"text": "the contract of Lisbon"})
        put(memory, "c", {"text": "the contract of Lisbon"}, index=False)
        assert keys(memory, query="Lisbon contract") == ["b", "a", "c"]
        assert keys(memory, query="杭州会议")[0] == "a"
        assert [d.similarity for d in memory.search_documents(user_id="ana", query="Lisbon contract")] == [1, 0, None]


def test_what_was_put_while_the_embedder_was_down_is_embedded_later(tmp_path: Path) -> None:
    embedder = FailingEmbedder(failures=1)
    with LongTermMemory.open(tmp_path / "other", embedder=embedder, timezone="UTC") as memory:
        put(memory, "a", {"text": "green tea"}, index=["text"])
        assert memory.search_documents(user_id="ana", query="green tea")[0].similarity is None
        assert memory.maintain(dry_run=True).embedded == 1
        assert memory.maintain().embedded == 1 and memory.maintain().embedded == 0
        (found,) = memory.search_documents(user_id="ana", query="green tea")
        assert found.similarity == pytest.approx(1, abs=1e-3)


def test_a_document_lives_as_long_as_it_was_given(memory: LongTermMemory, clock: Clock) -> None:
    put(memory, "short", ttl=60)
    put(memory, "long", ttl=timedelta(days=1))
    put(memory, "ever")
    clock.now += timedelta(seconds=50)
    assert memory.get_document(NS, "short", user_id="ana") is not None
    refreshed = memory.get_document(NS, "short", user_id="ana", refresh_ttl=True)
    assert refreshed is not None and refreshed.expires_at is not None
    assert refreshed.expires_at - clock.now == pytest.approx(timedelta(seconds=60), abs=timedelta(seconds=1))
    clock.now += timedelta(seconds=50)
    assert keys(memory, refresh_ttl=True, limit=1) == ["short"]
    clock.now += timedelta(seconds=61)
    assert memory.get_document(NS, "short", user_id="ana") is None and keys(memory) == ["long", "ever"]
    assert not memory.delete_document(NS, "short", user_id="ana")
    put(memory, "short", ttl=60)
    assert keys(memory) == ["long", "ever", "short"]
    clock.now += timedelta(seconds=61)
    assert memory.stats().documents == 3
    assert memory.maintain(dry_run=True).items_expired == 1
    assert memory.maintain().items_expired == 1 and memory.stats().documents == 2
    clock.now += timedelta(days=2)
    assert memory.document_namespaces(user_id="ana").items == (NS,) and keys(memory) == ["ever"]


def test_several_writes_are_one(memory: LongTermMemory) -> None:
    put(memory, "gone")
    writes = [
        DocumentWrite(namespace=NS, key="a", value={"v": 1}),
        DocumentWrite(namespace=NS, key="gone", value=None),
        DocumentWrite(namespace=NS, key="a", value={"v": 2}),
        DocumentWrite(namespace=NS, key="never", value=None),
    ]
    first, gone, second, never = memory.write_documents(writes, user_id="ana")
    assert first == second and first is not None and first.value == {"v": 2}
    assert gone is not None and gone.value == {"text": "gone"} and never is None
    assert keys(memory) == ["a"]
    with pytest.raises(InvalidInputError):
        memory.write_documents([*writes[2:], DocumentWrite(namespace=NS, key="b", value={"x": {1}})], user_id="ana")
    assert keys(memory) == ["a"] and memory.write_documents([], user_id="ana") == []


class Odd:
    pass


@pytest.mark.parametrize(
    ("namespace", "key", "value"),
    [
        ((), "k", {}),
        ("notes", "k", {}),
        (("a", ""), "k", {}),
        (("a", "b\0"), "k", {}),
        (("a", 7), "k", {}),
        (("a", "\ud800"), "k", {}),
        (("x" * 513,), "k", {}),
        (tuple("a" * 65), "k", {}),
        (None, "k", {}),
        (NS, None, {}),
        (NS, "k" * 513, {}),
        (NS, "k", "text"),
        (NS, "k", None),
        (NS, "k", {"x": Odd()}),
        (NS, "k", {"x": b"bytes"}),
        (NS, "k", {"x": float("nan")}),
        (NS, "k", {"x": [float("inf")]}),
        (NS, "k", {1: "x"}),
        (NS, "k", {"x": {2: "x"}}),
        (NS, "k", {"x": "\ud800"}),
        (NS, "k", {"x": datetime(2025, 1, 1, tzinfo=UTC)}),
        (NS, "k", {"x": "y" * 1_000_001}),
    ],
)
def test_what_is_no_document_is_refused(memory: LongTermMemory, namespace: Any, key: Any, value: Any) -> None:
    with pytest.raises(InvalidInputError) as e:
        memory.put_document(namespace, key, value, user_id="ana")
    assert "yyy" not in str(e.value)
    assert memory.stats().users == 0


@pytest.mark.parametrize(
    "options", [{"index": "text"}, {"index": [""]}, {"index": [1]}, {"ttl": 0}, {"ttl": "1"}, {"user_id": " "}]
)
def test_bad_options_are_refused(memory: LongTermMemory, options: Any) -> None:
    with pytest.raises((InvalidInputError, InvalidScopeError)):
        memory.put_document(NS, "k", {}, **{"user_id": "ana", **options})
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(InvalidInputError, match="nested"):
        memory.put_document(NS, "k", deep, user_id="ana")
    bad: list[dict[str, Any]] = [{"limit": 0}, {"limit": 1001}, {"offset": -1}, {"offset": True}, {"query": 7}]
    for limits in bad:
        with pytest.raises(InvalidInputError):
            memory.search_documents(user_id="ana", **limits)
    with pytest.raises(InvalidInputError):
        memory.document_namespaces(user_id="ana", cursor="x")


def test_the_largest_document_is_configured(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder="none", timezone="UTC", max_document_bytes=1000) as memory:
        text = "语" * 320
        fits = {"t": text + "x" * (1000 - len(json.dumps({"t": text}, ensure_ascii=False).encode()))}
        put(memory, "k", fits)
        with pytest.raises(InvalidInputError, match="1001 bytes"):
            put(memory, "k", {"t": fits["t"] + "x"})
        assert memory.get_document(NS, "k", user_id="ana").value == fits  # type: ignore[union-attr]


def test_namespaces_are_listed_in_pages(memory: LongTermMemory) -> None:
    spaces = [("a",), ("a", "ana@x.org"), ("a", "b/c"), ("a.b",), ("b", "a"), ("用户", "a")]
    for space in reversed(spaces):
        put(memory, "k", namespace=space)
    assert list(memory.document_namespaces(user_id="ana", limit=2)) == sorted(spaces)
    first = memory.document_namespaces(user_id="ana", limit=2)
    rest = memory.document_namespaces(user_id="ana", cursor=first.next_cursor)
    assert first.items + rest.items == tuple(sorted(spaces))
    assert list(memory.document_namespaces(("a",), user_id="ana")) == [("a",), ("a", "ana@x.org"), ("a", "b/c")]
    assert keys(memory, ("a",)) == ["k"] * 3 and keys(memory, ("a", "b")) == []
    memory.put_document(("z",), "k", {}, user_id="ben")
    assert list(memory.document_owners(limit=1)) == ["ana", "ben"]
    memory.delete_document(("z",), "k", user_id="ben")
    assert list(memory.document_owners()) == ["ana"]


def test_a_paused_user_keeps_what_is_there(memory: LongTermMemory) -> None:
    put(memory, "a")
    memory.pause("ana")
    with pytest.raises(ConflictError, match="paused"):
        put(memory, "b")
    assert keys(memory) == ["a"] and memory.delete_document(NS, "a", user_id="ana")


def test_masking_reaches_documents(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder="none", timezone="UTC", redact_pii=True) as memory:
        stored = memory.put_document(NS, "k", {"mail": ["ana@example.org"]}, user_id="ana")
        assert stored.value == {"mail": ["[email]"]}


def in_files(directory: Path, words: bytes) -> list[str]:
    return [p.name for p in sorted(directory.rglob("*")) if p.is_file() and words in p.read_bytes()]


def test_erasing_leaves_no_byte_of_a_document(memory: LongTermMemory, tmp_path: Path) -> None:
    for user in ("ana", "ben"):
        for i in range(20):
            memory.put_document(NS, f"k{i}", {"text": f"Kestrel-{user} flies {i}"}, user_id=user)
    assert in_files(tmp_path, b"Kestrel-ana")
    memory.delete_document(NS, "k0", user_id="ana")
    assert not in_files(tmp_path, b"Kestrel-ana flies 0") and in_files(tmp_path, b"Kestrel-ana flies 1")
    receipt = memory.forget_user("ana")
    assert receipt.counts["documents"] == 19 and receipt.counts["document_units"] == 19
    assert receipt.bytes_clean and not in_files(tmp_path, b"Kestrel-ana")
    assert len(memory.search_documents(user_id="ben", limit=50)) == 20 and keys(memory) == []
    put(memory, "new")
    assert keys(memory) == ["new"]


def test_forgetting_reaches_what_documents_repeat(memory: LongTermMemory, tmp_path: Path) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Lisbon.")
    put(memory, "profile", {"text": "Ana lives in Lisbon, near the river", "city": "lisbon", "n": 1})
    put(memory, "lisbon trip", {"text": "packing list"})
    put(memory, "tea", {"text": "likes tea"})
    memory.put_document(NS, "p", {"text": "Ben lives in Lisbon"}, user_id="ben")
    preview = memory.forget_matching("Lisbon", user_id="ana")
    assert preview.documents == ((NS, "profile"), (NS, "lisbon trip"))  # type: ignore[union-attr]
    assert keys(memory) == ["profile", "lisbon trip", "tea"]
    (fact,) = memory.facts(user_id="ana")
    receipt = memory.forget(fact.id, user_id="ana")
    assert receipt.bytes_clean
    assert (receipt.counts["documents_redacted"], receipt.counts["documents_deleted"]) == (1, 1)
    profile = memory.get_document(NS, "profile", user_id="ana")
    assert profile is not None and profile.value == {
        "text": "Ana lives in ██████, near the river",
        "city": "██████",
        "n": 1,
    }
    assert keys(memory) == ["profile", "tea"]
    assert memory.search_documents(user_id="ana", query="near the river")[0].similarity is not None
    assert memory.get_document(NS, "p", user_id="ben").value == {"text": "Ben lives in Lisbon"}  # type: ignore[union-attr]


def test_a_bound_memory_writes_for_its_user(memory: LongTermMemory) -> None:
    bound = memory.bind("ana")
    bound.put_document(NS, "k", {"v": 1})
    assert bound.get_document(NS, "k").value == {"v": 1}
    assert [d.key for d in bound.search_documents()] == ["k"]
    with pytest.raises(AttributeError):
        bound.document_owners()


def test_the_twins_do_the_same(memory: LongTermMemory) -> None:
    async def go() -> None:
        await memory.aput_document(NS, "k", {"v": 1}, user_id="ana")
        found = await memory.aget_document(NS, "k", user_id="ana")
        assert found is not None and found.value == {"v": 1}
        assert [d.key for d in await memory.asearch_documents(user_id="ana")] == ["k"]
        assert (await memory.adocument_namespaces(user_id="ana")).items == (NS,)
        assert await memory.adelete_document(NS, "k", user_id="ana")

    asyncio.run(go())
