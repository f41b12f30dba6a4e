"""The threads behind the async twins: few, with the caller's context, and the child's own after a fork."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time

import pytest

from ltm_core.twins import WORKERS, in_worker, twin


class Slow:
    """Notes who calls it; each call takes a moment."""

    def __init__(self) -> None:
        self.threads: set[str] = set()
        self.numbers: list[int] = []

    def work(self, number: int) -> int:
        """The number again."""
        self.threads.add(threading.current_thread().name)
        self.numbers.append(number)
        time.sleep(0.01)
        return number

    awork = twin(work)


def test_many_calls_share_few_threads() -> None:
    slow = Slow()

    async def ask() -> list[int]:
        return await asyncio.gather(*(slow.awork(n) for n in range(50)))

    assert asyncio.run(ask()) == list(range(50))
    assert 1 < len(slow.threads) <= WORKERS["call"]
    assert threading.current_thread().name not in slow.threads


def test_the_loop_goes_on_while_calls_wait_in_line() -> None:
    slow = Slow()

    async def ask() -> int:
        calls = asyncio.gather(*(slow.awork(n) for n in range(50)))
        ticks = 0
        while not calls.done():
            await asyncio.sleep(0)
            ticks += 1
        await calls
        return ticks

    assert asyncio.run(ask()) > 50


def test_a_call_sees_the_context_of_its_caller() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="nobody")

    async def ask(who: str) -> str:
        variable.set(who)
        return await in_worker(variable.get)

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(ask(f"caller {n}") for n in range(20)))

    assert asyncio.run(all_of_them()) == [f"caller {n}" for n in range(20)]
    assert variable.get() == "nobody"


def test_a_call_that_is_cancelled_in_line_is_never_made() -> None:
    slow = Slow()

    async def ask() -> None:
        calls = [asyncio.ensure_future(slow.awork(n)) for n in range(WORKERS["call"] + 10)]
        await asyncio.sleep(0)
        calls[-1].cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert calls[-1].cancelled()

    asyncio.run(ask())
    assert sorted(slow.numbers) == list(range(WORKERS["call"] + 9))


def test_no_call_waits_behind_a_long_one() -> None:
    going_on, done = threading.Event(), threading.Event()

    def long() -> bool:
        going_on.set()
        return done.wait(20)

    async def ask() -> list[bool]:
        waiting = [asyncio.ensure_future(in_worker(long, "long")) for _ in range(WORKERS["long"] + 5)]
        await in_worker(going_on.wait)
        assert await in_worker(lambda: "answered") == "answered"
        assert not any(w.done() for w in waiting)
        done.set()
        return await asyncio.gather(*waiting)

    assert all(asyncio.run(ask()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_has_threads_of_its_own() -> None:
    slow = Slow()

    async def ask(number: int) -> int:
        return await asyncio.wait_for(slow.awork(number), 20)

    assert asyncio.run(ask(1)) == 1  # the parent's threads are there by now
    child = os.fork()
    if child == 0:
        done = 1
        try:
            done = 0 if asyncio.run(ask(2)) == 2 else 2
        finally:
            os._exit(done)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
