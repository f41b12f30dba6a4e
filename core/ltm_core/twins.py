"""Async twins, made in one place: every public method ``x`` has an ``ax`` that runs it in a worker thread."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")


def twin(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], Awaitable[R]]:
    """The async form of ``method``: same arguments, same result, same errors; the loop is never blocked.

    It calls the method by name, so that a subclass's override is honoured. A cancelled call may still finish
    in its thread: repeat it with the same message id.
    """
    name = method.__name__

    @functools.wraps(method)
    async def call(self: S, *args: P.args, **kwargs: P.kwargs) -> Any:
        import asyncio  # here, because most programs never need it

        return await asyncio.to_thread(getattr(self, name), *args, **kwargs)

    call.__name__ = f"a{name}"
    call.__qualname__ = f"{method.__qualname__.rpartition('.')[0]}.a{name}"
    call.__doc__ = f"Async twin of `{name}`."
    return cast("Callable[Concatenate[S, P], Awaitable[R]]", call)
