"""User turns that were stored when they arrived and wait for their answer."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias

from ltm_core.types import Scope

_MOST = 1024
"""Turns that may wait at once in one memory object; the oldest gives way (its answer then stands alone)."""
_SAME_TURN_SECONDS = 600.0
"""How long the same words count as another try: a person who says "ok" the next day says it anew."""

Runner: TypeAlias = tuple[str, int]
_Place: TypeAlias = tuple[Scope, bytes]


def runner() -> Runner:
    """What runs this code: the asyncio task, else the thread. A chain loads and saves in the same one."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return ("task", id(task)) if task is not None else ("thread", threading.get_ident())


class Pending:
    """Message ids by (who runs, whose session, which words). Thread-safe and bounded.

    Equal words of two runners are two turns: each finds its own. A runner that comes with the same words
    again, before an answer and before any other words, means the same turn. One that finds nothing of its own
    takes the oldest turn with the same words of the same session: some hosts save in another thread than they
    load.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._turns: OrderedDict[tuple[Runner, _Place], tuple[str, float]] = OrderedDict()
        self._latest: OrderedDict[tuple[Runner, Scope], _Place] = OrderedDict()

    def now(self) -> float:
        """The moment, on the clock of the turns."""
        return self._clock()

    def again(self, who: Runner, scope: Scope, words: str, *, before: float | None = None) -> str | None:
        """The id of the turn that this runner came with last, when these are its words and no answer came; with
        ``before``, when it came no later than that moment."""
        place = _place(scope, words)
        with self._lock:
            if self._latest.get((who, scope)) != place:
                return None
            message_id, since = self._turns.get((who, place), ("", 0.0))
            if not message_id or (before is not None and since > before):
                return None
            return message_id if self._clock() - since <= _SAME_TURN_SECONDS else None

    def add(self, who: Runner, scope: Scope, words: str, message_id: str) -> None:
        """The turn waits for its answer."""
        place = _place(scope, words)
        with self._lock:
            self._turns[who, place] = (message_id, self._clock())
            self._turns.move_to_end((who, place))
            self._latest[who, scope] = place
            self._latest.move_to_end((who, scope))
            while len(self._turns) > _MOST:
                self._turns.popitem(last=False)
            while len(self._latest) > _MOST:
                self._latest.popitem(last=False)

    def take(self, who: Runner, scope: Scope, words: str) -> str | None:
        """The id of the turn that is answered now; it waits no more."""
        place = _place(scope, words)
        with self._lock:
            key = (who, place)
            if key not in self._turns:
                key = next((k for k in self._turns if k[1] == place), key)
            return self._turns.pop(key, ("", 0.0))[0] or None

    def drop(self, scope: Scope) -> None:
        """No turn of this session waits any more."""
        with self._lock:
            for key in [k for k in self._turns if k[1][0] == scope]:
                del self._turns[key]


def _place(scope: Scope, words: str) -> _Place:
    # A digest: long pasted texts must not stay in memory because a model failed.
    return scope, hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest()
