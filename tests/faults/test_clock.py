"""A clock that is set back and forth while the store is in use: order may suffer, truth does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.testing.clock import Clock, JumpingClock
from ltm_core.testing.crash_work import SINGLE, T0, USERS, Ids, Work
from ltm_core.testing.embedders import HashEmbedder


def opened(place: Path, clock: Clock, new_id: Callable[[], str]) -> LongTermMemory:
    return LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC", clock=clock, new_id=new_id)


class Undated(Work):
    """Its steps leave the clock alone."""

    def set_clock(self, n: int, *, later: timedelta = timedelta(0)) -> None:
        return


def play(tmp_path: Path, most: timedelta, seed: int, steps: int) -> None:
    exported = tmp_path / "import.jsonl"
    with LongTermMemory.open(":memory:", embedder=HashEmbedder(), timezone="UTC", clock=Clock(T0)) as source:
        source.observe(user_id="x", session_id="old", user="I live in Oldtown.", message_id="old")
        exported.write_text("\n".join(source.export_user("x")), "utf-8")
    work = Undated(tmp_path / "data", opened, seed=seed, exported=exported)
    work.memory.close()
    clock = JumpingClock(T0, most=most, seed=seed)
    work._clock = clock
    work._ids.step = 1
    work.memory = work._open()
    for n in range(steps):
        work.perform(n)
    latest = clock.now + 400 * most
    # What holds is asked long after, when no jump can make it a thing of the future.
    clock.now, clock._most = latest, timedelta(0)
    work.memory.close()
    with opened(tmp_path / "data", clock, work._ids) as memory:
        memory.maintain()
        report = memory.doctor()
        assert report.healthy, report.problems
        for user in USERS:
            held = Counter((f.subject, f.relation) for f in memory.facts(user_id=user) if f.relation in SINGLE)
            assert not held or max(held.values()) == 1, held.most_common(2)
            for session in memory.sessions(user_id=user):
                told = [m.at for m in memory.messages(user_id=user, session_id=session.id)]
                assert told == sorted(told)
        assert memory.observe(user_id="new", session_id="s", user="I live in Porto.").changes


@pytest.mark.parametrize("most", [timedelta(seconds=5), timedelta(days=40)], ids=["seconds", "weeks"])
def test_the_clock_jumps_back_and_forth(tmp_path: Path, most: timedelta) -> None:
    play(tmp_path, most, 3, 60)


@pytest.mark.faults
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(12))
def test_the_clock_jumps_back_and_forth_at_length(tmp_path: Path, seed: int) -> None:
    play(tmp_path, timedelta(hours=3**seed / 50), seed, 150)


def test_a_clock_that_went_back_an_hour(tmp_path: Path) -> None:
    clock = Clock(T0)
    with opened(tmp_path / "data", clock, Ids()) as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Lisbon.")
        clock.now -= timedelta(hours=1)
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
        assert len([f for f in memory.facts(user_id="ana") if f.relation == "lives_in"]) == 1
        clock.now += timedelta(hours=2)
        memory.observe(user_id="ana", session_id="s", user="I live in Faro.")
        assert [f.object for f in memory.facts(user_id="ana")] == ["Faro"]
        assert memory.forget_user("ana").bytes_clean
        clock.now -= timedelta(hours=3)
        # By this clock it was told before the erasure, as a replay would be: refused, and the caller is told so.
        seen = memory.observe(user_id="ana", session_id="new", user="I live in Beja.")
        assert [m.status for m in seen.messages] == ["erased"]
        clock.now += timedelta(hours=4)
        memory.observe(user_id="ana", session_id="new", user="I live in Évora.")
        assert [f.object for f in memory.facts(user_id="ana")] == ["Évora"]
        assert memory.doctor().healthy
