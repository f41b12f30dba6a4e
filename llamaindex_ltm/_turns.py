"""The turns of a session as the store holds them, and those that wait in RAM until it can be written."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ltm_core.adapting import Call, Steps, labels, surviving
from ltm_core.errors import InvalidScopeError, StoreError
from ltm_core.types import Message, Observation, Scope, StoredMessage

_MOST_UNSAVED = 100
"""Messages of a session kept in RAM while the store cannot be written; the oldest go first."""
_PAGE = 1000


def place(scope: Scope) -> dict[str, Any]:
    """Which session of which user, as keyword arguments."""
    return {"user_id": scope.user_id, "session_id": scope.session_id}


def stored(scope: Scope, *, window_only: bool) -> Steps[list[StoredMessage]]:
    """All turns of the session, or those of its window, in order of time."""
    found: list[StoredMessage] = []
    cursor: str | None = None
    while True:
        where = {**place(scope), "window_only": window_only}
        page = yield Call("messages", {**where, "limit": _PAGE, "cursor": cursor})
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


class Turns:
    """Writes the turns of sessions. What a failing store did not take waits for the next write.

    Thread-safe. Without ``strict`` a failure of the store is logged, not raised.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unsaved: dict[Scope, list[Message]] = {}

    def waiting(self, scope: Scope) -> list[Message]:
        """What was said in the session and is not stored yet."""
        with self._lock:
            return list(self._unsaved.get(scope, ()))

    def window(self, scope: Scope, *, strict: bool) -> Steps[list[StoredMessage | Message]]:
        """The session's window, and what waits behind it."""
        found: list[StoredMessage | Message] = []
        with surviving("reading the conversation", strict=strict):
            found += yield from stored(scope, window_only=True)
        return [*found, *self.waiting(scope)]

    def add(self, scope: Scope, given: Sequence[Message], *, strict: bool) -> Steps[Observation]:
        """These turns are stored behind the others and learnt from, in one transaction.

        Messages with an id are stored once, however often they are given; a list without ids is compared with
        the stored session, of which it may repeat a part.
        """
        with self._lock:
            batch = [*self._unsaved.pop(scope, ()), *given]
        if not batch:
            return Observation()
        try:
            seen: Observation = yield Call("observe", {**labels(scope), "messages": batch})
        except InvalidScopeError:
            raise
        except Exception as e:
            self._keep(scope, batch if isinstance(e, StoreError) else given)
            with surviving("storing a message", strict=strict):
                raise
            return Observation()
        return seen

    def replace(self, scope: Scope, given: Sequence[Message], *, strict: bool) -> Steps[None]:
        """The window holds exactly these; those that are stored already are not learnt again."""
        self._forget_waiting(scope)
        with surviving("replacing the conversation", strict=strict):
            if given:
                yield Call("replace_messages", {**place(scope), "messages": list(given)})
            else:
                yield Call("clear_window", place(scope))

    def clear(self, scope: Scope, *, strict: bool) -> Steps[None]:
        """The window is empty; what was learnt stays."""
        yield from self.replace(scope, (), strict=strict)

    def _forget_waiting(self, scope: Scope) -> None:
        with self._lock:
            self._unsaved.pop(scope, None)

    def _keep(self, scope: Scope, messages: Sequence[Message]) -> None:
        with self._lock:
            self._unsaved[scope] = [*self._unsaved.get(scope, ()), *messages][-_MOST_UNSAVED:]


__all__ = ["Turns", "place", "stored"]
