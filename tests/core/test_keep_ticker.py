"""Upkeep by a thread: it runs, takes turns, survives errors and a fork, and ends."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.keep.ticker import LAST_RUN, Ticker, is_due
from ltm_core.testing.clock import Clock

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SOON = 20.0
"""Seconds within which a busy machine gets a thread to run."""


def until(event: threading.Event) -> bool:
    return event.wait(SOON)


@pytest.mark.parametrize(
    ("last", "due"),
    [
        (None, True),
        (NOW, False),
        (NOW - timedelta(seconds=9), False),
        (NOW - timedelta(seconds=10), True),
        (NOW + timedelta(days=1), True),
    ],
)
def test_one_of_several_processes_is_due(last: datetime | None, due: bool) -> None:
    assert is_due(None if last is None else last.isoformat(), now=NOW, seconds=10) is due


def test_a_ticker_calls_until_it_is_stopped() -> None:
    called, calls = threading.Event(), []

    def step() -> bool:
        calls.append(1)
        called.set()
        return True

    ticker = Ticker(step, seconds=0.001)
    assert until(called) and ticker.stop(SOON)
    count = len(calls)
    called.clear()
    assert not called.wait(0.05) and len(calls) == count
    ticker.restart()
    assert not called.wait(0.05)


def test_a_ticker_ends_with_its_owner() -> None:
    ticker = Ticker(lambda: False, seconds=0.001)
    thread = ticker._thread
    assert thread is not None
    thread.join(SOON)
    assert not thread.is_alive()
    ticker = Ticker(lambda: True, seconds=0.001)
    thread = ticker._thread
    del ticker
    gc.collect()
    assert thread is not None
    thread.join(SOON)
    assert not thread.is_alive()


def waited(check: Callable[[], bool]) -> bool:
    pause = threading.Event()
    return any(check() or pause.wait(0.02) for _ in range(int(SOON / 0.02)))


def test_an_open_memory_maintains_itself(tmp_path: Path) -> None:
    clock = Clock(NOW)
    options = {"embedder": "none", "timezone": "UTC", "clock": clock, "maintain_every_seconds": 0.01}
    with LongTermMemory.open(tmp_path / "s", **options) as memory:  # type: ignore[arg-type]
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
        clock.now += timedelta(hours=1)
        assert waited(lambda: memory.sessions(user_id="ana").items[0].ended_at is not None)
        assert memory._runtime.store.operations().setting(LAST_RUN) is not None
    assert not any(t.name == "ltm-maintain" and t.is_alive() for t in threading.enumerate())


def test_an_error_is_logged_and_the_next_interval_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from ltm_core.errors import BusyError
    from ltm_core.keep import maintain as module

    tries = threading.Semaphore(0)

    def fails(*_: object, **__: object) -> None:
        tries.release()
        raise BusyError("secret words")

    monkeypatch.setattr(module, "maintain", fails)
    clock = Clock(NOW, step=timedelta(seconds=1))
    options = {"embedder": "none", "timezone": "UTC", "clock": clock, "maintain_every_seconds": 0.01}
    with LongTermMemory.open(tmp_path / "s", **options):  # type: ignore[arg-type]
        assert tries.acquire(timeout=SOON) and tries.acquire(timeout=SOON)
    assert "upkeep goes on in 0 s: BusyError" in caplog.text and "secret" not in caplog.text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_has_a_thread_of_its_own() -> None:
    ticked = threading.Event()
    ticker = Ticker(lambda: ticked.set() or True, seconds=0.01)  # type: ignore[func-returns-value]
    assert until(ticked)
    pid = os.fork()
    if pid == 0:
        ticked = threading.Event()
        thread = ticker._thread
        os._exit(0 if thread is not None and thread.is_alive() else 1)
    assert os.waitpid(pid, 0)[1] == 0
    ticker.stop(SOON)
