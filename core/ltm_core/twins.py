"""Async twins, made in one place: every public method ``x`` has an ``ax`` that runs it in a thread of ours."""

from __future__ import annotations

import contextvars
import functools
import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

Lane = Literal["call", "long", "remote"]

WORKERS: Mapping[Lane, int] = {"call": 4, "long": 8, "remote": 32}
"""Threads of one process for async calls; further calls wait in line. A thread at work may hold the interpreter for
5 ms before the event loop goes on (`sys.getswitchinterval`), so their number bounds how late the loop gets. What may
take seconds (erasures with their proof, upkeep, backups) has its own, so that no answer waits behind it: more,
as erasures that wait together share one reading of the files. Calls over HTTP wait without the interpreter."""

_pools: dict[Lane, ThreadPoolExecutor] = {}


async def in_worker(call: Callable[[], T], lane: Lane = "call") -> T:
    """The result of ``call`` in one of the lane's threads, with the caller's context variables.

    A call that is cancelled while it waits in line is never made; one at work is finished in its thread.
    """
    import asyncio  # here, because most programs never need it

    pool = _pools.get(lane)
    if pool is None:  # two loops that come here at once: the later one's stays, the other ends when it is idle
        pool = _pools[lane] = ThreadPoolExecutor(WORKERS[lane], thread_name_prefix=f"ltm-async-{lane}")
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(pool, functools.partial(context.run, call))


def twin(method: Callable[Concatenate[S, P], R], lane: Lane = "call") -> Callable[Concatenate[S, P], Awaitable[R]]:
    """The async form of ``method``: same arguments, same result, same errors; the loop is never blocked.

    It calls the method by name, so that a subclass's override is honoured. A cancelled call may still finish
    in its thread: repeat it with the same message id.
    """
    name = method.__name__

    @functools.wraps(method)
    async def call(self: S, *args: P.args, **kwargs: P.kwargs) -> Any:
        return await in_worker(functools.partial(getattr(self, name), *args, **kwargs), lane)

    call.__name__ = f"a{name}"
    call.__qualname__ = f"{method.__qualname__.rpartition('.')[0]}.a{name}"
    call.__doc__ = f"Async twin of `{name}`."
    return cast("Callable[Concatenate[S, P], Awaitable[R]]", call)


def _forget_pools() -> None:
    # The parent's threads do not exist in a forked child.
    _pools.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_forget_pools)
