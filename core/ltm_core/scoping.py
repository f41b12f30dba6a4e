"""One place where a scope is built. Ids are kept as they are given and refused when they cannot be kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ltm_core.errors import InvalidInputError, InvalidScopeError
from ltm_core.types import Scope


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


def text_of(value: Any, what: str) -> str:
    """``value`` as text that can be stored; InvalidInputError for other types, NUL and lone surrogates."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{what} must be text, not {type(value).__name__}")
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise InvalidInputError(f"{what} contains a NUL or a lone surrogate")
    return value


def words_of(value: Any, what: str) -> str | None:
    """``value`` as words to be cleaned and kept, or None; InvalidInputError for other types."""
    if value is not None and not isinstance(value, str):
        raise InvalidInputError(f"{what} must be text, not {type(value).__name__}")
    return value


def optional_text(value: Any, what: str) -> str | None:
    """Like `text_of`, and None stays None."""
    return None if value is None else text_of(value, what)


def texts_of(values: Any, what: str) -> tuple[str, ...]:
    """Several texts; a bare text is refused, for its characters would be taken one by one."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInputError(f"{what} must be a list of texts, not {type(values).__name__}")
    return tuple(text_of(v, f"{what}[{i}]") for i, v in enumerate(values))


def limit_of(value: Any, *, default: int = 100, most: int = 1000) -> int:
    """A page size: ``default`` for None; InvalidInputError outside 1..``most``."""
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInputError(f"limit must be a whole number from 1 to {most}, not {value!r}")
    return value
