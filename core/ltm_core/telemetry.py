"""Spans for OpenTelemetry, through the tracer provider that the application has set. Extra ``telemetry``.

No span holds words of a memory, a question, or the id of a user: names of operations, numbers, classes of errors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ltm_core.errors import MissingExtraError
from ltm_core.spans import Tell, operation
from ltm_core.types import Context, MaintenanceReport, Observation, Page, Receipt, WorkReport

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

M = TypeVar("M")
SCOPE = "ltm_core"
"""Name of the instrumentation, by which spans of ours are found."""
PREFIX = "ltm."
_NOT_TRACED = frozenset({"close"})


class Telemetry:
    """`ltm_core.spans.Spans` by OpenTelemetry. The provider is asked when a span begins, so that one that the
    application sets later is used too; without one the spans go nowhere. MissingExtraError without the package."""

    def __init__(self) -> None:
        try:
            from opentelemetry import trace
        except ImportError:
            raise MissingExtraError("telemetry", "telemetry") from None
        from ltm_core import __version__

        self.tracer: Tracer = trace.get_tracer(SCOPE, __version__)

    @contextmanager
    def span(self, name: str, **numbers: int) -> Iterator[Tell]:
        attributes = {PREFIX + k: n for k, n in numbers.items()}
        # Exceptions are not recorded: their messages and traces may hold words.
        with self.tracer.start_as_current_span(
            PREFIX + name, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield functools.partial(_note, span)
            except BaseException as e:
                failed(span, type(e).__name__)
                raise


def failed(span: Span, error: str) -> None:
    """The span says that it failed, and by which class of error."""
    from opentelemetry.trace import StatusCode

    span.set_attribute("error.type", error)
    span.set_status(StatusCode.ERROR)


def outgoing() -> dict[str, str]:
    """Headers by which another service knows of the span that is open here. MissingExtraError without the package."""
    try:
        from opentelemetry import propagate
    except ImportError:
        raise MissingExtraError("telemetry", "telemetry") from None
    headers: dict[str, str] = {}
    propagate.inject(headers)
    return headers


def traced(kind: type[M]) -> type[M]:
    """The same class, each of whose calls is an operation of ``runtime.spans``. A class and no wrapper, so that
    nothing is between the caller and an object that is not traced."""
    made: type[M] = _traced(cast("Any", kind))
    return made


@functools.cache
def _traced(kind: Any) -> Any:
    # A twin calls its method by name, so that it needs no span of its own.
    names = [n for n in dir(kind) if not n.startswith("_") and n not in _NOT_TRACED and hasattr(kind, f"a{n}")]
    calls = {n: _spanned(n, getattr(kind, n)) for n in names}
    return type(kind.__name__, (kind,), {**calls, "__module__": kind.__module__, "__doc__": kind.__doc__})


def _spanned(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        with operation(self._runtime.spans, name) as tell:
            result = method(self, *args, **kwargs)
            tell(result)
            return result

    return call


def _note(span: Span, result: object) -> None:
    for name, number in counts(result).items():
        span.set_attribute(PREFIX + name, number)


def counts(result: object) -> Mapping[str, int]:
    """How much there is of a result; never what it says."""
    match result:
        case Observation():
            changed = sum(c.op != "skip" for c in result.changes)
            return {"messages": len(result.messages), "anchors": len(result.anchors), "changes": changed}
        case Context():
            found = {"semantic": len(result.semantic), "episodic": len(result.episodic)}
            return {"tokens": result.token_count, "dropped": len(result.dropped), **found}
        case Receipt():
            return {"erased": sum(result.counts.values()), "bytes_clean": int(result.bytes_clean)}
        case MaintenanceReport():
            return {"expired": result.items_expired, "sessions_closed": result.sessions_closed}
        case WorkReport():
            return {"jobs_done": result.jobs_done, "jobs_dead": result.jobs_dead}
        case Page():
            return {"items": len(result.items)}
        case list() | tuple():
            return {"items": len(result)}
    return {}


__all__ = ["SCOPE", "Telemetry", "counts", "failed", "outgoing", "traced"]
