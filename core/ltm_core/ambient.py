"""Whose conversation this is, for code that cannot be handed an id: one context variable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ltm_core.scoping import LONGEST_ID, make_scope
from ltm_core.types import Scope

_active: ContextVar[Scope | None] = ContextVar("ltm_scope", default=None)


@contextmanager
def scope(
    user_id: str | int,
    session_id: str | int | None = None,
    *,
    agent_id: str | int | None = None,
    task_id: str | int | None = None,
    app_id: str | int | None = None,
) -> Iterator[Scope]:
    """Adapters without a user of their own serve this one inside the block.

    It follows the context: tasks and threads started by asyncio, LangChain or LlamaIndex inside the block see
    it, others do not. Blocks may be nested; the inner one counts. Blank ids raise InvalidScopeError.
    """
    inner = make_scope(
        user_id, session_id=session_id, agent_id=agent_id, task_id=task_id, app_id=app_id, limit=LONGEST_ID
    )
    token = _active.set(inner)
    try:
        yield inner
    finally:
        _active.reset(token)


def current_scope() -> Scope | None:
    """The scope of the innermost `scope` block around this code, or None."""
    return _active.get()


__all__ = ["current_scope", "scope"]
