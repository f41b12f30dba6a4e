"""A service's refusal as the error it names."""

from __future__ import annotations

from typing import Any

from ltm_core import errors
from ltm_core.errors import AccessDeniedError, LTMError, UnavailableError


def error_of(answer: Any) -> LTMError:
    """The error that the service answered with, of the class it names."""
    try:
        body = answer.json()
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    detail = str(body.get("detail") or body.get("title") or f"the service answered {answer.status_code}")
    kind = getattr(errors, str(body.get("error", "")), None)
    if answer.status_code == 401:
        return AccessDeniedError(detail)
    if kind is errors.ConflictError:
        return errors.ConflictError(detail, tuple(map(str, body.get("candidates", ()))))
    if kind is errors.EmbedderMismatchError:
        return errors.EmbedderMismatchError(str(body.get("stored")), str(body.get("given")))
    if kind is errors.MissingExtraError:
        return errors.MissingExtraError("the service", str(body.get("extra", "")))
    if kind is errors.ErasurePendingError:
        return errors.ErasurePendingError(detail, _receipt(body.get("receipt")))
    if isinstance(kind, type) and issubclass(kind, LTMError):
        return kind(detail)
    if answer.status_code in (400, 413, 422):
        return errors.InvalidInputError(detail)
    return AccessDeniedError(detail) if answer.status_code == 403 else UnavailableError(detail)


def _receipt(value: Any) -> Any:
    from pydantic import TypeAdapter

    from ltm_core.types import Receipt

    return None if value is None else TypeAdapter(Receipt).validate_python(value)


__all__ = ["error_of"]
