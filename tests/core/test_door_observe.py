"""What becomes of a message: stored, duplicate, edited, erased; in which order; paired with what."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory, Message
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import FailingEmbedder, HashEmbedder

START = datetime(2025, 6, 2, 10, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock(START, timedelta(seconds=1))


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder=HashEmbedder(), clock=clock, timezone="UTC") as opened:
        yield opened


def told(memory: LongTermMemory, user: str = "ana", session: str | None = None) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in memory.messages(user_id=user, session_id=session)]


def current(memory: LongTermMemory, user: str = "ana") -> list[str]:
    return [f.object for f in memory.facts(user_id=user)]


def test_same_id_same_words_is_a_duplicate(memory: LongTermMemory) -> None:
    first = memory.observe(user_id="ana", session_id="s", user="I live in Porto.", message_id="m1")
    again = memory.observe(user_id="ana", session_id="s", user="I live in Porto.", message_id="m1")
    assert [m.status for m in first.messages + again.messages] == ["stored", "duplicate"]
    assert again.changes == () and len(told(memory)) == 1
    (fact,) = memory.facts(user_id="ana")
    assert fact.support_count == 1


def test_same_id_other_words_is_an_edit(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.", message_id="m1")
    edited = memory.observe(user_id="ana", session_id="s", user="I live in Lisbon.", message_id="m1")
    assert [m.status for m in edited.messages] == ["edited"]
    assert told(memory) == [("user", "I live in Lisbon.")]
    assert current(memory) == ["Lisbon"]
    porto = [f for f in memory.facts(user_id="ana", include_superseded=True) if f.object == "Porto"]
    assert all(f.retracted_at is not None for f in porto)


def test_an_id_belongs_to_its_session(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I live in Porto.", message_id="1")
    other = memory.observe(user_id="ana", session_id="s2", user="I play the oboe.", message_id="1")
    assert [m.status for m in other.messages] == ["stored"]
    assert len(told(memory)) == 2


def test_without_id_the_same_words_count_again(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="好的")
    memory.observe(user_id="ana", session_id="s", user="好的")
    assert len(told(memory)) == 2


def test_a_full_history_each_time_writes_only_its_tail(memory: LongTermMemory) -> None:
    history: list[Message] = []
    for turn in range(3):
        history.append(Message(role="user", content=f"question {turn}"))
        history.append(Message(role="assistant", content=f"answer {turn}"))
        memory.observe(user_id="ana", session_id="s", messages=history)
    assert told(memory) == [(m.role, m.content) for m in history]


def test_a_real_repetition_in_a_history_counts(memory: LongTermMemory) -> None:
    history = [Message(role="user", content="好的"), Message(role="assistant", content="嗯")]
    memory.observe(user_id="ana", session_id="s", messages=history)
    memory.observe(user_id="ana", session_id="s", messages=[*history, Message(role="user", content="好的")])
    assert [c for _, c in told(memory)] == ["好的", "嗯", "好的"]


def test_a_windowed_history_is_recognised(memory: LongTermMemory) -> None:
    turns = [Message(role="user", content=f"line {i}") for i in range(10)]
    memory.observe(user_id="ana", session_id="s", messages=turns)
    memory.observe(user_id="ana", session_id="s", messages=[*turns[6:], Message(role="user", content="line 10")])
    assert [c for _, c in told(memory)] == [f"line {i}" for i in range(11)]


def test_answers_pair_with_their_question(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="first?", assistant="one", at=START)
    question = memory.observe(user_id="ana", session_id="s", user="second?").messages[0].id
    memory.observe(user_id="ana", session_id="s", assistant="two", reply_to=question)
    by_content = {m.content: m for m in memory.messages(user_id="ana")}
    assert by_content["one"].reply_to == by_content["first?"].id
    assert by_content["two"].reply_to == question


def test_a_regenerated_answer_replaces_the_first(memory: LongTermMemory) -> None:
    question = memory.observe(user_id="ana", session_id="s", user="a tip?").messages[0].id
    memory.observe(user_id="ana", session_id="s", assistant="try A", reply_to=question)
    again = memory.observe(user_id="ana", session_id="s", assistant="try B", reply_to=question)
    assert [m.status for m in again.messages] == ["edited"]
    assert [c for _, c in told(memory)] == ["a tip?", "try B"]


def test_equal_instants_keep_the_order_of_arrival(memory: LongTermMemory) -> None:
    for i in range(20):
        memory.observe(user_id="ana", session_id="s", user=f"line {i}", at=START)
    assert [c for _, c in told(memory)] == [f"line {i}" for i in range(20)]


def test_instants_of_several_forms_are_ordered(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s", user="late", at=datetime(2025, 3, 1, 9))  # noqa: DTZ001
    memory.observe(user_id="ana", session_id="s", user="early", at="2025-03-01T09:30:00+08:00")
    memory.observe(user_id="ana", session_id="s", user="middle", at="2025-03-01T02:00:00Z")
    assert [c for _, c in told(memory)] == ["early", "middle", "late"]
    assert all(m.at.tzinfo is not None for m in memory.messages(user_id="ana"))


def test_sessions_and_users_do_not_mix(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="shared", user="My locker code is 4417.")
    memory.observe(user_id="ben", session_id="shared", user="I like tea.")
    assert told(memory, "ana") == [("user", "My locker code is 4417.")]
    assert "4417" not in memory.context("What is the locker code?", user_id="ben", session_id="shared").text
    assert memory.search("locker code 4417", user_id="ben") == []


def test_lists_of_parts_become_text_without_bytes(memory: LongTermMemory) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 200_000}}
    link = {"type": "image_url", "image_url": {"url": "https://x.test/b.png"}}
    parts = [{"type": "text", "text": "This is my new bike"}, link, picture]
    memory.observe(user_id="ana", session_id="s", messages=[{"role": "user", "content": parts}])
    (message,) = memory.messages(user_id="ana")
    assert message.content == "This is my new bike\n[image: https://x.test/b.png]\n[image]"


def test_what_expires_is_not_recalled(memory: LongTermMemory, clock: Clock) -> None:
    memory.observe(user_id="ana", session_id="s1", user="My gate code is 9931.", ttl=60)
    assert "9931" in memory.context("gate code", user_id="ana", session_id="s2").text
    clock.now += timedelta(seconds=120)
    assert "9931" not in memory.context("gate code", user_id="ana", session_id="s2").text
    assert "9931" not in memory.context("gate code", user_id="ana", session_id="s1").text
    assert memory.maintain().items_expired >= 1
    assert told(memory) == []


def test_a_paused_user_is_not_stored(memory: LongTermMemory) -> None:
    memory.pause("ana")
    seen = memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    assert seen.messages == () and seen.skipped and told(memory) == []
    memory.resume("ana")
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    assert len(told(memory)) == 1


def test_an_embedder_that_is_down_loses_no_words(tmp_path: Path, clock: Clock) -> None:
    embedder = FailingEmbedder(failures=None)
    with LongTermMemory.open(tmp_path / "x", embedder=embedder, clock=clock, timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="I play the oboe.")
        assert "oboe" in memory.context("oboe?", user_id="ana", session_id="t").text
        assert memory.stats().vectors == 0


def test_words_written_while_it_was_down_get_their_vectors(tmp_path: Path, clock: Clock) -> None:
    embedder = FailingEmbedder(failures=1)
    with LongTermMemory.open(tmp_path / "x", embedder=embedder, clock=clock, timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s", user="hello there, nice weather")
        assert memory.stats().vectors == 0
        assert memory.maintain().embedded >= 1
        assert memory.stats().vectors == memory.stats().chunks
