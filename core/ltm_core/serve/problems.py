"""Errors as problem details (RFC 9457): a type, a status, a sentence with ids and numbers, never memory text."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ltm_core import errors
from ltm_core.errors import LTMError

log = logging.getLogger("ltm.serve")

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:ltm-core:problem:"
_STATUS: tuple[tuple[type[LTMError], int], ...] = (
    (errors.InvalidInputError, 400),
    (errors.AccessDeniedError, 403),
    (errors.NotFoundError, 404),
    (errors.ConflictError, 409),
    (errors.EmbedderMismatchError, 409),
    (errors.ConfigError, 400),
    (errors.MissingExtraError, 501),
    (errors.ExtractionError, 502),
    (errors.ErasurePendingError, 202),
    (errors.BusyError, 503),
    (errors.UnavailableError, 503),
    (errors.StoreError, 500),
)
"""The first class that fits. 202: what was to be erased is hidden for good, and the rest is owed."""
_RETRY_SECONDS = 1
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="ltm-core"'}
"""What a 401 carries: how a key is to be given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One answer that is an error."""

    status: int
    title: str
    detail: str = ""
    error: str = ""
    """Name of the class in `ltm_core.errors`; a client raises the same."""
    more: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        """The members of the JSON document."""
        kind = self.error or self.title
        return {
            "type": TYPE_PREFIX + "-".join(kind.lower().split()),
            "title": self.title,
            "status": self.status,
            **({"detail": self.detail} if self.detail else {}),
            **({"error": self.error} if self.error else {}),
            **self.more,
        }


class Refused(Exception):
    """A request that goes no further."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.title)
        self.problem = problem


def of_error(error: BaseException) -> Problem:
    """The problem that an error of the product is; any other is 500 and only its class is in the log."""
    if not isinstance(error, LTMError):
        log.error("a request failed: %s", type(error).__name__)
        return Problem(
            status=500, title="Internal error", detail="the server failed; the log names the error's class"
        )
    status = next((s for kind, s in _STATUS if isinstance(error, kind)), 500)
    more: dict[str, Any] = {}
    if isinstance(error, errors.ConflictError) and error.candidates:
        more["candidates"] = list(error.candidates)
    if isinstance(error, errors.EmbedderMismatchError):
        more |= {"stored": error.stored, "given": error.given}
    if isinstance(error, errors.MissingExtraError):
        more["extra"] = error.extra
    if isinstance(error, errors.ErasurePendingError) and error.receipt is not None:
        from pydantic import TypeAdapter

        from ltm_core.types import Receipt

        more["receipt"] = TypeAdapter(Receipt).dump_python(error.receipt, mode="json")
    return Problem(
        status=status,
        title=_title(type(error).__name__),
        detail=str(error),
        error=type(error).__name__,
        more=more,
        headers={"Retry-After": str(_RETRY_SECONDS)} if status == 503 else {},
    )


def of_validation(found: Sequence[Mapping[str, Any]]) -> Problem:
    """A request of the wrong shape: which fields and why, without what they held."""
    lines = [{"field": ".".join(str(p) for p in e["loc"]), "reason": str(e["msg"])} for e in found[:20]]
    detail = "; ".join(f"{line['field']}: {line['reason']}" for line in lines)
    return Problem(
        status=422, title="Invalid input", detail=detail, error="InvalidInputError", more={"fields": lines}
    )


def _title(name: str) -> str:
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in name.removesuffix("Error")).strip()
    return words[:1].upper() + words[1:]


__all__ = ["CHALLENGE", "MEDIA_TYPE", "Problem", "Refused", "of_error", "of_validation"]
