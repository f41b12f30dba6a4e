"""Rows of which nothing can be made are damage, named without what they hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ltm_core.errors import CorruptError, LTMError

P = ParamSpec("P")
T = TypeVar("T")


def readable(make: Callable[P, T]) -> Callable[P, T]:
    """What makes something of rows: rows of which nothing can be made are damage, named without what they hold."""

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return make(*args, **kwargs)
        except LTMError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as e:
            # The cause would show the text itself; where it was raised is kept.
            error = CorruptError(f"a stored row cannot be read ({make.__name__}: {type(e).__name__})")
            raise error.with_traceback(e.__traceback__) from None

    return made


__all__ = ["readable"]
