"""What every adapter of a host does alike: whom it serves, how it calls, and what it does with a failure.

An adapter writes its work once, as a generator of `Call`s; `drive` runs it on the methods of a memory and
`adrive` on their async twins, so that both paths are the same code.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from ltm_core.ambient import current_scope
from ltm_core.errors import InvalidScopeError, LTMError
from ltm_core.scoping import LONGEST_ID, optional_identifier
from ltm_core.types import Scope

log = logging.getLogger("ltm")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a memory's method."""

    method: str
    options: dict[str, Any] = field(default_factory=dict)


Steps: TypeAlias = Generator[Call, Any, T]
"""Yields calls, is sent their results (or thrown their errors), and returns what the host gets."""


def drive(memory: Any, steps: Steps[T]) -> T:
    """The result of ``steps``, run on the methods of ``memory``."""
    try:
        call = next(steps)
        while True:
            try:
                result = getattr(memory, call.method)(**call.options)
            except Exception as e:  # noqa: BLE001  the steps decide what to do with it
                call = steps.throw(e)
            else:
                call = steps.send(result)
    except StopIteration as done:
        value: T = done.value
        return value


async def adrive(memory: Any, steps: Steps[T]) -> T:
    """The result of ``steps``, run on the async twins; the event loop is never blocked."""
    try:
        call = next(steps)
        while True:
            try:
                result = await getattr(memory, f"a{call.method}")(**call.options)
            except Exception as e:  # noqa: BLE001  the steps decide what to do with it
                call = steps.throw(e)
            else:
                call = steps.send(result)
    except StopIteration as done:
        value: T = done.value
        return value


def checked_id(value: Any, what: str) -> str | None:
    """The id as text; None stays None, blank raises InvalidScopeError."""
    return optional_identifier(value, what, limit=LONGEST_ID)


def served(user_id: str | None, session_id: str | None, *, default_session: str = "default") -> Scope:
    """The scope to serve now: the adapter's own ids, else those of the active ``ltm_core.scope(...)``.

    InvalidScopeError when there is no user at all, and when both name different users: one conversation's
    adapter used inside another user's block would show one user's memories to the other.
    """
    active = current_scope()
    if active is None:
        if user_id is None:
            raise InvalidScopeError("no user: give user_id=, or call inside `with ltm_core.scope(user_id):`")
        return Scope(user_id=user_id, session_id=session_id or default_session)
    if user_id is not None and user_id != active.user_id:
        raise InvalidScopeError("this memory belongs to another user than the active ltm_core.scope(...)")
    return Scope(
        user_id=active.user_id,
        session_id=session_id or active.session_id or default_session,
        agent_id=active.agent_id,
        task_id=active.task_id,
        app_id=active.app_id,
    )


def labels(scope: Scope) -> dict[str, str]:
    """The scope as keyword arguments; what is None is left out."""
    names = ("user_id", "session_id", "agent_id", "task_id", "app_id")
    return {n: v for n in names if (v := getattr(scope, n)) is not None}


@contextmanager
def surviving(what: str, *, strict: bool) -> Iterator[None]:
    """The chat goes on when the block fails: the failure is in the log, without any memory text.

    Raised as it is when ``strict``, and when it says that the user or session is not a possible one.
    """
    try:
        yield
    except InvalidScopeError:
        raise
    except Exception as e:
        if strict:
            raise
        reason = str(e) if isinstance(e, LTMError) else "an unexpected error"
        log.warning("%s failed, the chat goes on without it: %s: %s", what, type(e).__name__, reason)


__all__ = ["Call", "Steps", "adrive", "checked_id", "drive", "labels", "log", "served", "surviving"]
