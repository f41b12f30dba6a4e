"""One place where a scope is built. Ids are kept as they are given and refused when they cannot be kept."""

from __future__ import annotations

from typing import Any

from ltm_core.errors import InvalidScopeError
from ltm_core.types import Scope

LONGEST_ID = 4096
"""Characters: the most any store may allow. The store's own limit is checked when it is asked."""


def identifier(value: Any, what: str, *, limit: int) -> str:
    """``value`` as the id it names: text verbatim, a whole number in digits (7 is "7").

    Raises InvalidScopeError for None, blank, over-long, other types, NUL and lone surrogates.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise InvalidScopeError(f"{what} must be text, not {type(value).__name__}")
    if not value.strip():
        raise InvalidScopeError(f"{what} must not be blank")
    if len(value) > limit:
        raise InvalidScopeError(f"{what} has {len(value)} characters, at most {limit} are allowed")
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise InvalidScopeError(f"{what} contains a NUL or a lone surrogate")
    return value


def optional_identifier(value: Any, what: str, *, limit: int) -> str | None:
    """Like `identifier`, and None stays None."""
    return None if value is None else identifier(value, what, limit=limit)


def make_scope(
    user_id: Any,
    *,
    session_id: Any = None,
    agent_id: Any = None,
    task_id: Any = None,
    app_id: Any = None,
    limit: int,
) -> Scope:
    """The scope these ids name; InvalidScopeError before anything is read or written."""
    return Scope(
        user_id=identifier(user_id, "user_id", limit=limit),
        session_id=optional_identifier(session_id, "session_id", limit=limit),
        agent_id=optional_identifier(agent_id, "agent_id", limit=limit),
        task_id=optional_identifier(task_id, "task_id", limit=limit),
        app_id=optional_identifier(app_id, "app_id", limit=limit),
    )
