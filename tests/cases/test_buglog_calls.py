"""The collected bug reports that need more than talking: hostile ids, budgets, processes, restarts."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.text.tokens import estimate_tokens

START = datetime(2025, 6, 2, 10, tzinfo=UTC)


def opened(path: Path) -> LongTermMemory:
    return LongTermMemory.open(path, embedder=HashEmbedder(), timezone="UTC")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with opened(tmp_path / "store") as one:
        yield one


def test_b18_equal_sentences_of_two_users_are_two(memory: LongTermMemory) -> None:
    for user in ("ana", "ben"):
        memory.observe(user_id=user, session_id="s1", user="I am vegan.")
    memory.forget_user("ana")
    assert len(memory.facts(user_id="ana")) == 0 and len(memory.facts(user_id="ben")) == 1
    assert "vegan" in memory.context("What do I eat?", user_id="ben").text


HOSTILE = [
    "a/b", "a b", "a@b", "a:b", "a", "A", "a ", "..", "../x", "session-key:z", "用户一", "😀",
    "o'neil; drop table x", "%", "_", '"', "x" * 300, "\u202eabc", "null", "0", "-1", "user", "*",
]  # fmt: skip


def test_b24_hostile_ids_are_their_own_users(memory: LongTermMemory, tmp_path: Path) -> None:
    before = {p for p in tmp_path.rglob("*") if "store" not in p.parts}
    for number, user in enumerate(HOSTILE):
        memory.observe(user_id=user, session_id="c", user=f"My locker code is {7000 + number}.")
        memory.observe(user_id="b", session_id=user, user=f"My gate code is {8000 + number}.")
    for number, user in enumerate(HOSTILE):
        text = memory.context("What is the locker code?", user_id=user).text
        assert str(7000 + number) in text
        assert not any(str(7000 + n) in text for n in range(len(HOSTILE)) if n != number)
        (turn,) = memory.messages(user_id="b", session_id=user)
        assert str(8000 + number) in turn.content
        assert memory.bind(user).facts().items == memory.facts(user_id=user).items
    assert {p for p in tmp_path.rglob("*") if "store" not in p.parts} == before
    memory.forget_user("a")
    assert len(memory.messages(user_id="a ")) == 1 and len(memory.messages(user_id="A")) == 1


def test_b40_b50_the_budget_is_hard_and_the_short_are_not_starved(memory: LongTermMemory) -> None:
    for number in range(30):
        memory.observe(user_id="lin", session_id=f"s{number}", user=f"我喜欢第{number}号茶馆的桂花乌龙茶。")
    memory.observe(user_id="lin", session_id="long", user="关于茶馆和乌龙茶我写了一篇长文。" + "茶香四溢，" * 900)
    for budget in (0, 1, 5, 20, 60, 200, 500, 4000):
        context = memory.context("我喜欢哪家茶馆的乌龙茶？", user_id="lin", max_tokens=budget)
        assert context.token_count <= budget and estimate_tokens(context.text) <= budget
        assert (context.text == "") == (not context.items)
    assert memory.context("茶馆", user_id="lin", max_tokens=0).text == ""
    assert len(memory.context("我喜欢哪家茶馆的乌龙茶？", user_id="lin", max_tokens=500).items) >= 5


@pytest.mark.parametrize("counter", [len, lambda t: len(t.split()), lambda t: 3 * len(t) + 7, lambda _: 0])
def test_any_counter_is_obeyed(memory: LongTermMemory, counter: object) -> None:
    for number in range(12):
        memory.observe(user_id="ana", session_id=f"s{number}", user=f"I like tea number {number} from the shop.")
    for budget in (0, 3, 40, 300):
        context = memory.context("Which tea?", user_id="ana", max_tokens=budget, token_counter=counter)  # type: ignore[arg-type]
        assert context.token_count <= budget
        assert not context.text or counter(context.text) <= budget  # type: ignore[operator]


def _write(path: Path, number: int) -> None:
    with opened(path) as memory:

        def some(thread: int) -> None:
            for i in range(10):
                memory.observe(
                    user_id="team",
                    session_id=f"p{number}-t{thread}",
                    user=f"entry {number}-{thread}-{i}",
                    assistant="ok",
                )

        threads = [threading.Thread(target=some, args=(t,)) for t in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


def test_b58_processes_and_threads_lose_and_swap_nothing(tmp_path: Path) -> None:
    opened(tmp_path / "store").close()
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write, args=(tmp_path / "store", n)) for n in range(3)]
    for w in writers:
        w.start()
    with opened(tmp_path / "store") as reader:
        while any(w.is_alive() for w in writers):
            reader.context("entry", user_id="team")
            time.sleep(0.05)
        for w in writers:
            w.join()
            assert w.exitcode == 0
        for number in range(3):
            for thread in range(4):
                turns = reader.messages(user_id="team", session_id=f"p{number}-t{thread}")
                words = [m.content for m in turns if m.role == "user"]
                assert words == [f"entry {number}-{thread}-{i}" for i in range(10)]
                assert [m.role for m in turns] == ["user", "assistant"] * 10


def _observe_and_die(path: Path) -> None:
    memory = opened(path)
    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
    memory.observe(user_id="ana", session_id="s", user="I moved to Lisbon.")
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_b59_a_killed_process_leaves_what_it_acknowledged(tmp_path: Path) -> None:
    child = multiprocessing.get_context("spawn").Process(target=_observe_and_die, args=(tmp_path / "store",))
    child.start()
    child.join()
    with opened(tmp_path / "store") as memory:
        assert [f.object for f in memory.facts(user_id="ana")] == ["Lisbon"]
        assert len(memory.facts(user_id="ana", include_superseded=True)) == 2


def test_b59_a_failure_inside_a_supersession_leaves_the_old_fact(
    memory: LongTermMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ltm_core.store.sql.write_facts import FactWriter

    memory.observe(user_id="ana", session_id="s", user="I live in Porto.")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the disk went away")

    with monkeypatch.context() as patched:
        patched.setattr(FactWriter, "update_fact", broken)
        with pytest.raises(RuntimeError):
            memory.observe(user_id="ana", session_id="s", user="I moved to Lisbon.")
    assert [f.object for f in memory.facts(user_id="ana")] == ["Porto"]
    assert len(memory.messages(user_id="ana")) == 1
    memory.observe(user_id="ana", session_id="s", user="I moved to Lisbon.")
    assert [f.object for f in memory.facts(user_id="ana")] == ["Lisbon"]


def test_b60_what_matters_outlives_small_talk_and_nightly_maintenance(tmp_path: Path) -> None:
    now = START

    def clock() -> datetime:
        nonlocal now
        now += timedelta(seconds=1)
        return now

    with LongTermMemory.open(tmp_path / "s", embedder=HashEmbedder(), clock=clock, timezone="UTC") as memory:
        memory.observe(user_id="ana", session_id="s1", user="I am allergic to penicillin.")
        for day in range(60):
            for turn in range(3):
                memory.observe(
                    user_id="ana", session_id=f"d{day}", user=f"haha nice weather {turn}", assistant="Indeed!"
                )
            now += timedelta(days=1)
            memory.maintain()
        assert "penicillin" in memory.context("any allergies?", user_id="ana", session_id="new").text


def test_b23_fifty_users_at_once_keep_their_names(memory: LongTermMemory) -> None:
    names = ["Orla", "Bram", "Chen", "Dina", "Emeka", "Freya", "Goran", "Hana", "Igor", "Jun"]
    users = [f"{name}{n}" for n in range(5) for name in names]
    seen: dict[str, str] = {}

    def talk(user: str) -> None:
        memory.observe(user_id=user, session_id="chat", user=f"My name is {user}.")
        seen[user] = memory.context("What is my name?", user_id=user, session_id="later").text

    threads = [threading.Thread(target=talk, args=(u,)) for u in users]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for user in users:
        assert user in seen[user]
        assert not any(other in seen[user].replace(user, "") for other in users if other != user)
