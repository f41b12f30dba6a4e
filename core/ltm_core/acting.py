"""Who acts, and why: one context variable, read where the audit log is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ltm_core.errors import InvalidInputError

LONGEST = 200
"""Characters of an actor or a reason: names and ticket numbers, not letters."""
_acting: ContextVar[tuple[str | None, str | None]] = ContextVar("ltm_acting", default=(None, None))


def checked(value: str | None, what: str) -> str | None:
    """``value`` as it may stand in the log, or None; InvalidInputError for blank, long or other types."""
    if value is None:
        return None
    from ltm_core.arguments import text_of  # brings the readers of dates, which importing the package must not

    text = text_of(value, what)
    if not text.strip() or len(text) > LONGEST:
        raise InvalidInputError(f"{what} must be non-blank text of at most {LONGEST} characters")
    return text


@contextmanager
def acting(actor: str | None = None, reason: str | None = None) -> Iterator[None]:
    """What is written inside the block is logged with this actor and reason; None keeps those of an outer block.

    It follows the context like `ltm_core.scope`.
    """
    outer = _acting.get()
    token = _acting.set((checked(actor, "actor") or outer[0], checked(reason, "reason") or outer[1]))
    try:
        yield
    finally:
        _acting.reset(token)


def current_actor() -> tuple[str | None, str | None]:
    """(actor, reason) of the innermost block."""
    return _acting.get()


__all__ = ["acting", "checked", "current_actor"]
