"""Results of recent recalls: the same while nothing changes, and never older than the store."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory
from ltm_core.recall.cache import RecallCache
from ltm_core.recall.request import RecallRequest
from ltm_core.testing.embedders import FailingEmbedder, HashEmbedder
from ltm_core.types import ContextItem, Scope

START = datetime(2025, 3, 5, 9, tzinfo=UTC)
ASKED = "Where is my kayak stored?"


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def opened(place: Path | str = ":memory:", **options: Any) -> LongTermMemory:
    options = {"embedder": HashEmbedder(), "timezone": "UTC", **options}
    memory = LongTermMemory.open(place, **options)
    memory.observe(user_id="ana", session_id="s1", user="My kayak is stored in the shed.", at="2025-03-01T09:00:00Z")
    return memory


def kept(memory: LongTermMemory) -> int:
    return len(memory._runtime.recalls)


def texts(memory: LongTermMemory, query: str = ASKED, **options: Any) -> list[str]:
    return [i.text for i in memory.context(query, user_id="ana", **options).items]


def test_the_same_call_reads_once_and_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from ltm_core.recall import door, service

    reads: list[str] = []

    def counted(*args: Any, **options: Any) -> service.Moment:
        reads.append("")
        return service.read_context(*args, **options)

    monkeypatch.setattr(door, "read_context", counted)
    with opened(clock=Clock()) as memory:
        first = memory.context(ASKED, user_id="ana")
        assert memory.context(ASKED, user_id="ana") == first
        assert len(reads) == 1
        found = memory.search(ASKED, user_id="ana")
        assert found and memory.search(ASKED, user_id="ana") == found
        assert kept(memory) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": 300},
        {"format": "compact"},
        {"tiers": ("episodic",)},
        {"language": "zh"},
        {"filters": {"role": "user"}},
        {"session_id": "s1"},
        {"agent_id": "a"},
        {"timezone": "Asia/Shanghai"},
        {"token_counter": len},
        {"exclude_message_ids": ("x",)},
        {"current_messages": [{"role": "user", "content": "hm"}]},
    ],
)
def test_another_call_is_another_result(options: dict[str, Any]) -> None:
    with opened() as memory:
        memory.context(ASKED, user_id="ana")
        memory.context(ASKED, user_id="ana", **options)
        assert kept(memory) == 2
        memory.context(ASKED, user_id="ben")
        assert kept(memory) == 2


def test_users_never_share(tmp_path: Path) -> None:
    with opened() as memory:
        memory.observe(user_id="ben", session_id="s1", user="My kayak is stored at the harbour.")
        assert "harbour" not in " ".join(texts(memory))
        assert "harbour" in memory.context(ASKED, user_id="ben").text
        assert "shed" not in memory.context(ASKED, user_id="ben").text


def correct(m: LongTermMemory) -> object:
    return m.correct(fact_id=m.facts(user_id="ana").items[0].id, right="My kayak is in Rome.", user_id="ana")


WRITES: list[tuple[str, Callable[[LongTermMemory], object]]] = [
    ("observe", lambda m: m.observe(user_id="ana", session_id="s2", user="My kayak is stored in the barn now.")),
    ("remember", lambda m: m.remember("My kayak has a leak.", user_id="ana")),
    ("assert", lambda m: m.assert_fact("kayak", "status", "sold", user_id="ana", source="shop")),
    ("slot", lambda m: m.set_slot("boat", "kayak", user_id="ana", session_id="s1")),
    ("suppress", lambda m: m.suppress(m.facts(user_id="ana").items[0].id, user_id="ana")),
    ("correct", correct),
    ("clear", lambda m: m.clear_window(user_id="ana", session_id="s1")),
    ("end", lambda m: m.end_session("s1", user_id="ana")),
    ("forget", lambda m: m.forget_matching("kayak", user_id="ana", dry_run=False)),
    ("forget session", lambda m: m.forget_session("s1", user_id="ana")),
    ("forget user", lambda m: m.forget_user("ana")),
]


@pytest.mark.parametrize(("name", "write"), WRITES, ids=[n for n, _ in WRITES])
def test_every_write_makes_it_void(name: str, write: Callable[[LongTermMemory], object], tmp_path: Path) -> None:
    """With the cache, a call after the write gives what it gives without one."""
    with (
        opened(tmp_path / "m") as memory,
        LongTermMemory.open(tmp_path / "m", embedder=HashEmbedder(), timezone="UTC", recall_cache_entries=0) as plain,
    ):
        for _ in range(2):
            assert texts(memory, session_id="s1") == texts(plain, session_id="s1")
        assert kept(memory) and not kept(plain)
        write(memory)
        assert texts(memory, session_id="s1") == texts(plain, session_id="s1")
        write_in_other = memory.observe(user_id="ana", session_id="s3", user="The kayak is blue.")
        assert write_in_other is not None
        assert texts(plain, session_id="s1") == texts(memory, session_id="s1")


def test_forgetting_leaves_nothing_of_the_user_in_the_cache() -> None:
    with opened() as memory:
        memory.observe(user_id="ben", session_id="s1", user="My kayak is at the harbour.")
        memory.context(ASKED, user_id="ana")
        memory.search(ASKED, user_id="ana")
        memory.context(ASKED, user_id="ben")
        memory.forget_user("ana")
        assert kept(memory) == 1
        assert len(memory._runtime.embedder) == 0  # type: ignore[arg-type]


def test_time_alone_ends_it() -> None:
    clock = Clock()
    with opened(clock=clock) as memory:
        memory.observe(user_id="ana", session_id="s2", user="My kayak permit is K-4471.", ttl=10)
        assert any("K-4471" in t for t in texts(memory, "kayak permit"))
        clock.now = START + timedelta(seconds=11)
        assert not any("K-4471" in t for t in texts(memory, "kayak permit"))


def test_a_slot_that_ends_and_a_fact_that_begins() -> None:
    clock = Clock()
    with opened(clock=clock) as memory:
        memory.set_slot("boat", "kayak", user_id="ana", session_id="s1", ttl=5)
        memory.assert_fact("kayak", "status", "sold", user_id="ana", source="shop", at=START + timedelta(seconds=8))
        assert any("boat" in t for t in texts(memory, "kayak status", session_id="s1"))
        clock.now = START + timedelta(seconds=6)
        shown = texts(memory, "kayak status", session_id="s1")
        assert not any("boat" in t for t in shown) and not any("sold" in t for t in shown)
        clock.now = START + timedelta(seconds=9)
        assert any("sold" in t for t in texts(memory, "kayak status", session_id="s1"))


def test_seconds_and_size_bound_it() -> None:
    clock = Clock()
    with opened(clock=clock, recall_cache_entries=3, recall_cache_seconds=5) as memory:
        for n in range(10):
            memory.context(f"{ASKED} {n}", user_id="ana")
        assert kept(memory) == 3
        before = memory.context(ASKED, user_id="ana")
        clock.now += timedelta(seconds=6)
        assert memory.context(ASKED, user_id="ana") is not before
    with opened(recall_cache_seconds=0) as memory:
        memory.context(ASKED, user_id="ana")
        assert kept(memory) == 0


def test_questions_that_name_days_are_kept_for_the_day_and_hours_not_at_all() -> None:
    clock = Clock()
    clock.now = START.replace(hour=23, minute=59, second=50)
    with opened(clock=clock) as memory:
        memory.observe(user_id="ana", session_id="s2", user="I painted the kayak.", at="2025-03-04T10:00:00Z")
        memory.observe(user_id="ana", session_id="s3", user="I washed the kayak.", at="2025-03-05T10:00:00Z")
        asked = "What did I do yesterday?"
        assert any("painted" in t for t in texts(memory, asked, tiers=("episodic",))) and kept(memory) == 1
        clock.now += timedelta(seconds=20)
        after = texts(memory, asked, tiers=("episodic",))
        assert any("washed" in t for t in after) and not any("painted" in t for t in after)
        count = kept(memory)
        memory.context("What did I say in the last two hours?", user_id="ana")
        assert kept(memory) == count


def test_a_result_without_the_embedder_is_not_kept() -> None:
    embedder = FailingEmbedder(0)
    with opened(embedder=embedder) as memory:
        embedder.failures = None
        memory.context(ASKED, user_id="ana")
        assert kept(memory) == 0
        embedder.failures = 0
        memory.context(ASKED, user_id="ana")
        assert kept(memory) == 1


def test_a_caller_cannot_change_what_is_kept() -> None:
    with opened(clock=Clock()) as memory:
        first = memory.search(ASKED, user_id="ana")
        first[0].signals["bm25"] = 99.0  # type: ignore[index]
        first.clear()
        again = memory.search(ASKED, user_id="ana")
        assert again and again[0].signals["bm25"] != 99.0
        again[0].signals["bm25"] = 99.0  # type: ignore[index]
        assert memory.search(ASKED, user_id="ana")[0].signals["bm25"] != 99.0


def test_host_turns_dated_anew_are_the_same_call() -> None:
    with opened() as memory:
        for second in range(3):
            turn = {"role": "user", "content": "Hello.", "at": f"2025-03-05T09:00:0{second}Z"}
            memory.context(ASKED, user_id="ana", current_messages=[turn])
        assert kept(memory) == 1


def test_a_seen_revision_removes_older_results() -> None:
    cache = RecallCache(size=8, seconds=30)
    item = ContextItem(text="t", tier="episodic", at=START)
    keys = [
        cache.key(RecallRequest(scope=Scope(user_id="ana"), query=q, now=START), "search") for q in ("a", "b", "a")
    ]
    assert keys[0] == keys[2] != keys[1]
    for key in keys[:2]:
        cache.put(key, (item,), user_id="ana", revision=4, now=START, until=START + timedelta(seconds=9))
    assert cache.get(keys[0], user_id="ana", revision=4, now=START) == (item,)
    assert cache.get(keys[0], user_id="ana", revision=4, now=START - timedelta(seconds=1)) is None
    assert cache.get(keys[0], user_id="ana", revision=4, now=START + timedelta(seconds=9)) is None
    assert cache.get(keys[0], user_id="ana", revision=5, now=START) is None
    assert len(cache) == 0


OTHER = """
import json, sys
from ltm_core import LongTermMemory
from ltm_core.testing.embedders import HashEmbedder
memory = LongTermMemory.open(sys.argv[1], embedder=HashEmbedder(), timezone="UTC")
for line in sys.stdin:
    command, *rest = json.loads(line)
    if command == "say":
        memory.observe(user_id="ana", session_id="other", user=rest[0])
    elif command == "forget":
        memory.forget_matching(rest[0], user_id="ana", dry_run=False)
    elif command == "forget user":
        memory.forget_user("ana")
    print(json.dumps([i.text for i in memory.context(rest[-1], user_id="ana").items]), flush=True)
"""


def test_what_another_process_writes_and_erases_shows_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OTHER, str(tmp_path / "m")]
    with (
        opened(tmp_path / "m") as memory,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other,
    ):
        assert other.stdin is not None and other.stdout is not None
        told, answered = other.stdin, other.stdout

        def there(*command: str) -> list[str]:
            told.write(json.dumps(command) + "\n")
            told.flush()
            return list(json.loads(answered.readline()))

        for _ in range(2):
            assert not any("barn" in t for t in texts(memory))
            assert not any("barn" in t for t in there("ask", ASKED))
        there("say", "My kayak is now stored in the barn, not in the shed.", ASKED)
        assert any("barn" in t for t in texts(memory))
        memory.observe(user_id="ana", session_id="s4", user="The kayak is stored next to canoe Quokka.")
        assert any("Quokka" in t for t in there("ask", ASKED))
        there("forget", "barn", ASKED)
        assert not any("barn" in t for t in texts(memory))
        memory.forget_matching("Quokka", user_id="ana", dry_run=False)
        assert not any("Quokka" in t for t in there("ask", ASKED))
        there("forget user", ASKED)
        assert texts(memory) == [] and kept(memory) <= 1
        told.close()
        assert other.wait(60) == 0
