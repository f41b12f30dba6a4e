"""Where an operation and its stages begin and end, for whoever traces them. Nothing is loaded and next to nothing
done while nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol, TypeAlias

Tell: TypeAlias = Callable[[object], None]
"""Hears of an operation's result, to note how much there was of it."""


class Spans(Protocol):
    """Makes spans; `ltm_core.telemetry` has the one for OpenTelemetry."""

    def span(self, name: str, **numbers: int) -> AbstractContextManager[Tell]:
        """A span from here to the end of the block, inside of the one that is open."""
        ...


class _Silent:
    """Stands for: nothing of what is called from here is traced."""


_SILENT = _Silent()
_NONE: AbstractContextManager[None] = nullcontext()
_current: ContextVar[Spans | _Silent | None] = ContextVar("ltm_spans", default=None)


def stage(name: str, **numbers: int) -> AbstractContextManager[object]:
    """A part of the operation under way; nothing outside of a traced operation."""
    spans = _current.get()
    return _NONE if spans is None or isinstance(spans, _Silent) else spans.span(name, **numbers)


@contextmanager
def operation(spans: Spans | None, name: str) -> Iterator[Tell]:
    """A whole operation: what it calls may name its stages."""
    if spans is None or _current.get() is _SILENT:
        yield _untold
        return
    token = _current.set(spans)
    try:
        with spans.span(name) as tell:
            yield tell
    finally:
        _current.reset(token)


@contextmanager
def silent() -> Iterator[None]:
    """What is asked again and again, by nobody's request, is not traced."""
    token = _current.set(_SILENT)
    try:
        yield
    finally:
        _current.reset(token)


def _untold(_: object) -> None:
    """Nobody notes it."""


__all__ = ["Spans", "Tell", "operation", "silent", "stage"]
