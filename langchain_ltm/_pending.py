"""User turns that were stored when they arrived and wait for their answer."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import OrderedDict
from typing import TypeAlias

from ltm_core.types import Scope

_MOST = 1024
"""Turns that may wait at once in one memory object; the oldest gives way (its answer then stands alone)."""

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

    Equal words of two runners are two turns: each finds its own. The same runner asking again, before an
    answer came, means the same turn. A runner that finds nothing of its own takes the oldest turn with the
    same words of the same session: some hosts save in another thread than they load.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: OrderedDict[tuple[Runner, _Place], str] = OrderedDict()

    def waiting(self, who: Runner, scope: Scope, words: str) -> str | None:
        """The id of this runner's own unanswered turn with these words."""
        with self._lock:
            return self._ids.get((who, _place(scope, words)))

    def add(self, who: Runner, scope: Scope, words: str, message_id: str) -> None:
        """The turn waits for its answer."""
        key = (who, _place(scope, words))
        with self._lock:
            self._ids[key] = message_id
            self._ids.move_to_end(key)
            while len(self._ids) > _MOST:
                self._ids.popitem(last=False)

    def take(self, who: Runner, scope: Scope, words: str) -> str | None:
        """The id of the turn that is answered now; it waits no more."""
        place = _place(scope, words)
        with self._lock:
            own = self._ids.pop((who, place), None)
            if own is not None:
                return own
            other = next((key for key in self._ids if key[1] == place), None)
            return None if other is None else self._ids.pop(other)

    def drop(self, scope: Scope) -> None:
        """No turn of this session waits any more."""
        with self._lock:
            for key in [k for k in self._ids if k[1][0] == scope]:
                del self._ids[key]


def _place(scope: Scope, words: str) -> _Place:
    # A digest: long pasted texts must not stay in memory because a model failed.
    return scope, hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest()
