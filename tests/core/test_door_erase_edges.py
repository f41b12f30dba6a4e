"""Forgetting at its edges: what is told again, told twice, hidden in slots, asked for in passing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import ConflictError, ErasurePendingError, ForgetPreview, LongTermMemory, NotFoundError, Receipt
from ltm_core.testing.clock import Clock

START, TICK = datetime(2025, 6, 2, 10, tzinfo=UTC), timedelta(microseconds=10)
WHO: dict[str, Any] = {"user_id": "ana", "session_id": "s"}


@pytest.fixture
def clock() -> Clock:
    return Clock(START, TICK)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "s", embedder="none", clock=clock, timezone="UTC") as opened:
        yield opened


def user(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def assistant(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def turns(memory: LongTermMemory) -> list[str]:
    return [m.content for m in memory.messages(user_id="ana")]


def objects(memory: LongTermMemory) -> set[str]:
    return {f.object for f in memory.facts(user_id="ana")}


def statuses(memory: LongTermMemory, messages: list[dict[str, Any]], session: str = "s") -> list[str]:
    seen = memory.observe(user_id="ana", session_id=session, messages=messages)
    assert all(m.id for m in seen.messages)
    return [m.status for m in seen.messages]


def holds(memory: LongTermMemory, words: str) -> bool:
    data = b"".join(p.read_bytes() for p in Path(memory.location).rglob("*") if p.is_file())
    return words.encode() in data


FORGET: dict[str, Callable[[LongTermMemory], Any]] = {
    "user": lambda m: m.forget_user("ana"),
    "session": lambda m: m.forget_session("s", user_id="ana"),
}


# told again -------------------------------------------------------------------------------------------------
OLD = [user("I am allergic to penicillin."), assistant("noted"), user("weather?"), assistant("sunny")]


def test_equal_words_are_a_new_statement_unless_they_replay(memory: LongTermMemory, clock: Clock) -> None:
    before = clock.now
    memory.observe(**WHO, messages=OLD)
    memory.forget_matching("penicillin", user_id="ana", dry_run=False)
    again = OLD[0]
    assert statuses(memory, OLD) == ["erased", "duplicate", "duplicate", "duplicate"]
    assert statuses(memory, OLD, "t")[0] == "erased"
    assert statuses(memory, [{**again, "at": before}], "t") == ["erased"]
    assert objects(memory) == set()
    assert statuses(memory, [{**again, "id": "n1"}], "t") == ["stored"]
    assert statuses(memory, [{**again, "at": clock.now + timedelta(days=1)}], "u") == ["stored"]
    assert statuses(memory, [user("good morning"), again], "v") == ["stored", "stored"]
    assert statuses(memory, [again], "w") == ["stored"] and objects(memory) == {"penicillin"}


@pytest.mark.parametrize("what", ["user", "session"])
def test_a_greeting_is_never_lost_and_a_transcript_never_comes_back(memory: LongTermMemory, what: str) -> None:
    talk = [user("hello"), assistant("Hi!"), user("I play the oboe."), assistant("Lovely!")]
    memory.observe(**WHO, messages=talk)
    FORGET[what](memory)
    assert statuses(memory, talk) == ["erased"] * 4
    assert statuses(memory, talk, "other") == ["erased"] * 4
    assert statuses(memory, [*talk, user("bye")]) == ["erased"] * 4 + ["stored"]
    assert statuses(memory, [user("hello")], "other") == ["stored"]
    assert statuses(memory, [user("hello"), assistant("Welcome back.")], "third") == ["stored"] * 2
    assert "oboe" not in " ".join(turns(memory))


def test_a_history_is_aligned_around_what_was_forgotten(memory: LongTermMemory) -> None:
    history = list(OLD)
    memory.observe(**WHO, messages=history)
    memory.forget_matching("penicillin", user_id="ana", dry_run=False)
    for i in range(3):
        history += [user(f"q{i}"), assistant(f"r{i}")]
        memory.observe(**WHO, messages=history)
    assert len(turns(memory)) == 10
    ids = [m.id for m in memory.messages(user_id="ana")]
    memory.delete_messages([ids[2], ids[9]], **WHO)
    history += [user("last")]
    found = statuses(memory, history)
    assert [found[i] for i in (0, 2, 9, 10)] == ["erased", "erased", "erased", "stored"]
    assert len(turns(memory)) == 9 and found.count("duplicate") == 7


def test_replacing_the_window_brings_nothing_back(memory: LongTermMemory) -> None:
    memory.observe(**WHO, messages=OLD)
    memory.delete_messages([next(iter(memory.messages(user_id="ana"))).id], **WHO)
    memory.replace_messages([*OLD, user("more")], **WHO)
    assert turns(memory) == ["noted", "weather?", "sunny", "more"]


# told twice, matched, cleared -------------------------------------------------------------------------------
def test_a_fact_goes_with_the_last_of_its_sources(memory: LongTermMemory) -> None:
    for n in (1, 2):
        memory.observe(user_id="ana", session_id=f"room-{n}-kestrel", user="I am vegan.", message_id=f"m{n}")
    memory.forget_session("room-1-kestrel", user_id="ana")
    (fact,) = memory.facts(user_id="ana")
    assert fact.session_id == "room-2-kestrel" and not holds(memory, "room-1-kestrel")
    memory.forget_session("room-2-kestrel", user_id="ana")
    assert objects(memory) == set() and list(memory.sessions(user_id="ana")) == []


def test_the_same_id_in_two_sessions_supports_only_its_own_fact(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I play the oboe.", message_id="1")
    memory.observe(user_id="ana", session_id="s2", user="I live in Porto.", message_id="1")
    memory.forget_session("s1", user_id="ana")
    assert objects(memory) == {"Porto"}


def test_words_to_forget_are_whole_words_except_in_han(memory: LongTermMemory) -> None:
    memory.observe(**WHO, user="I live in Stuttgart. I like parties.")
    memory.observe(**WHO, user="我对芒果汁过敏。")
    assert memory.forget_matching("art", user_id="ana") == ForgetPreview(facts=(), messages=())
    with pytest.raises(NotFoundError):
        memory.correct(wrong="art", right="Porto", user_id="ana")
    preview = memory.forget_matching("芒果", user_id="ana")
    assert isinstance(preview, ForgetPreview) and len(preview.messages) == 1


@pytest.mark.parametrize("spelt", ["KESTREL", "ｋｅｓｔｒｅｌ", "kes\u200btrel", "Kes\u2060trel"])
def test_words_are_gone_from_every_place(memory: LongTermMemory, spelt: str) -> None:
    memory.set_slot("bird", {"name": f"a {spelt}"}, **WHO)
    memory.set_slot("place", "Porto", **WHO)
    memory.observe(**WHO, messages=[user(f"Look, a {spelt} there.", name="Kestrel")], metadata={"tag": spelt})
    memory.observe(**WHO, user="I live in Porto.", metadata={"seen": [f"the {spelt}"], spelt: 1})
    receipt = memory.forget_matching("kestrel", user_id="ana", dry_run=False)
    assert isinstance(receipt, Receipt) and receipt.bytes_clean and receipt.counts["slots"] == 1
    assert not any(holds(memory, s) for s in (spelt, "Kestrel", "kestrel"))
    assert memory.slots(**WHO) == {"place": "Porto"} and objects(memory) == {"Porto"}
    (fact,) = memory.facts(user_id="ana")
    assert set(fact.metadata) == {"seen"}


def test_what_the_same_user_still_holds_is_not_clean(memory: LongTermMemory) -> None:
    memory.observe(**WHO, user="I live in Porto, near the river.", message_id="m1")
    memory.observe(user_id="ana", session_id="t", user="I live in Porto, near the river.", message_id="m2")
    memory.observe(user_id="ben", session_id="t", user="I live in Porto, near the river.")
    assert not memory.forget("m1", user_id="ana").bytes_clean
    assert memory.forget("m2", user_id="ana").bytes_clean


# asked for in the chat --------------------------------------------------------------------------------------
def test_a_request_sees_what_its_own_batch_told(memory: LongTermMemory) -> None:
    told = "I am allergic to walnuts."
    memory.observe(**WHO, messages=[user(told), assistant("ok"), user(f"Please forget that {told}")])
    assert objects(memory) == set() and not holds(memory, "walnuts")


@pytest.mark.parametrize(
    ("told", "said", "gone"),
    [
        ("I like coffee.", "Forget coffee for now, what about the train?", False),
        ("I like coffee.", "Forget coffee, let's talk about trains.", False),
        ("I like coffee.", "Forget coffee. What about the train?", False),
        ("I like coffee.", "Can you forget coffee?", False),
        ("我喜欢咖啡。", "先不说咖啡", False),
        ("我喜欢咖啡。", "能不能忘掉咖啡？", False),
        ("I like coffee.", "Could you please forget that I like coffee?", True),
        ("I like coffee.", "Forget that I like coffee, ok?", True),
        ("I like coffee.", "Forget what I said about coffee. What is the weather?", True),
        ("我喜欢咖啡。", "请忘掉咖啡，谢谢", True),
    ],
)
def test_in_doubt_nothing_is_erased(memory: LongTermMemory, told: str, said: str, gone: bool) -> None:
    memory.observe(**WHO, user=told)
    memory.observe(**WHO, user=said)
    assert (turns(memory)[0] != told) is gone and ("coffee" in objects(memory) or "咖啡" in objects(memory)) != gone


def test_forgetting_works_beside_open_readers(tmp_path: Path, clock: Clock) -> None:
    options: dict[str, Any] = {"embedder": "none", "clock": clock, "timezone": "UTC", "erase_wait_seconds": 0.1}
    with LongTermMemory.open(tmp_path / "s", **options) as memory:
        memory.observe(**WHO, user="I like coffee. I like tea.")
        with memory._runtime.store.read("ana") as reader:
            reader.messages()
            memory.observe(**WHO, user="Please forget that I like coffee.")
            with pytest.raises(ErasurePendingError):
                memory.forget_matching("tea", user_id="ana", dry_run=False)
            assert objects(memory) == set()
        memory.maintain()
        assert not holds(memory, "coffee") and not holds(memory, "tea")


# paused ------------------------------------------------------------
def test_nothing_is_written_while_paused(memory: LongTermMemory) -> None:
    memory.observe(**WHO, messages=OLD)
    memory.pause("ana")
    memory.replace_messages([user("other")], **WHO)
    assert len(memory.messages(**WHO, window_only=True)) == 4
    for call in (
        lambda: memory.remember("x is y", user_id="ana"),
        lambda: memory.assert_fact("order 7", "status", "sent", user_id="ana", source="shop"),
        lambda: memory.set_slot("a", 1, **WHO),
    ):
        with pytest.raises(ConflictError):
            call()
    assert memory.observe(**WHO, user="hi").skipped and len(turns(memory)) == 4
    memory.resume("ana")
    memory.set_slot("a", 1, **WHO)
