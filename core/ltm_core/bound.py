"""The door with the scope filled in."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ltm_core.acting import acting
from ltm_core.errors import InvalidScopeError
from ltm_core.types import Scope

if TYPE_CHECKING:
    from ltm_core.memory import LongTermMemory

_OF_NO_USER = (
    "open",
    "close",
    "maintain",
    "stats",
    "calibrate",
    "document_owners",
    "backup",
    "restore_backup",
    "work",
    "dead_letters",
    "retry_dead_letters",
    "drop_dead_letters",
)
_NOT_BOUND = frozenset({"bind", *_OF_NO_USER, *(f"a{name}" for name in _OF_NO_USER)})


def _parameters(cls: type, name: str) -> tuple[str, ...]:
    """In order, without ``self``."""
    return tuple(inspect.signature(getattr(cls, name)).parameters)[1:]


class BoundMemory:
    """Every method of `LongTermMemory` that takes a user, for one user.

    The bound session and labels are used where a call names none; naming another user raises
    InvalidScopeError.
    """

    def __init__(
        self,
        memory: LongTermMemory,
        scope: Scope,
        *,
        actor: str | None = None,
        reason: str | None = None,
        timezone: str | None = None,
        me: str | None = None,
    ) -> None:
        self._memory = memory
        self._scope = scope
        self._fixed = {
            "user_id": scope.user_id,
            "session_id": scope.session_id,
            "agent_id": scope.agent_id,
            "task_id": scope.task_id,
            "app_id": scope.app_id,
            "actor": actor,
            "reason": reason,
            "timezone": timezone,
            "me": me,
        }

    @property
    def memory(self) -> LongTermMemory:
        """The memory behind it."""
        return self._memory

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._scope

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name in _NOT_BOUND or not callable(getattr(type(self._memory), name, None)):
            raise AttributeError(f"BoundMemory has no method {name!r}")
        method = getattr(self._memory, name)
        accepted = _parameters(type(self._memory), name)
        filled = {k: v for k, v in self._fixed.items() if v is not None and k in accepted}
        user_id = self._scope.user_id

        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            by_place = dict(zip(accepted, args, strict=False))
            if str({**by_place, **kwargs}.get("user_id", user_id)) != user_id:
                raise InvalidScopeError("this memory is bound to another user")
            given = {**{k: v for k, v in filled.items() if k not in by_place}, **kwargs}
            with acting(self._fixed["actor"], self._fixed["reason"]):
                return method(*args, **given)

        return call

    def __dir__(self) -> list[str]:
        names = (n for n in dir(type(self._memory)) if not n.startswith("_") and n not in _NOT_BOUND)
        return sorted({*super().__dir__(), *(n for n in names if callable(getattr(type(self._memory), n)))})

    def __repr__(self) -> str:
        return f"BoundMemory({self._memory!r})"
