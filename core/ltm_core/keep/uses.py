"""What recall returned, counted: what is used fades slower.

A recall only notes it in memory. It is written down with a later write of the same user, by `maintain` or at
`close`; what waits when the process dies is lost, which makes a memory fade as if it had not been asked for.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.errors import StoreError

if TYPE_CHECKING:
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Writer
    from ltm_core.types import ContextItem

log = logging.getLogger("ltm")
MOST_WAITING = 20_000
"""Memories whose uses wait, of all users together, about 4 MB; beyond, those of the user who asked longest ago are
not counted."""
_AT_LEAST = 64
"""Memories of one user from which a write takes them along: fewer would make each turn touch the pages of as many
old rows."""

Key = tuple[str, str, str]
"""(tier, session id or "", id)."""


class Uses:
    """Uses that wait to be written. Thread-safe; a forked child begins with none."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, dict[Key, tuple[int, datetime]]] = OrderedDict()
        self._size = 0

    def add(self, user_id: str, keys: Iterable[Key], at: datetime) -> None:
        """Each of these was used once more."""
        self._own()
        with self._lock:
            mine = self._waiting.setdefault(user_id, {})
            self._waiting.move_to_end(user_id)
            before = len(mine)
            for key in keys:
                mine[key] = (mine.get(key, (0, at))[0] + 1, at)
            self._size += len(mine) - before
            while self._size > MOST_WAITING and len(self._waiting) > 1:
                _, dropped = self._waiting.popitem(last=False)
                self._size -= len(dropped)

    def take(self, user_id: str, *, at_least: int = 0) -> dict[Key, tuple[int, datetime]]:
        """What waits for the user, which no longer does; nothing while it is fewer than ``at_least``."""
        self._own()
        with self._lock:
            if len(self._waiting.get(user_id, ())) < max(at_least, 1):
                return {}
            mine = self._waiting.pop(user_id)
            self._size -= len(mine)
            return mine

    @property
    def users(self) -> list[str]:
        """Whose uses wait."""
        self._own()
        with self._lock:
            return list(self._waiting)

    def _own(self) -> None:
        """What a parent had waiting is the parent's, and its lock may be held by a thread that is not here."""
        if self._pid != os.getpid():
            self._begin()


def used(runtime: Runtime, user_id: str, items: Iterable[ContextItem]) -> None:
    """These memories were shown: to be counted, if uses are."""
    if not runtime.config.count_uses or runtime.store.read_only:
        return
    keys = {(i.tier, i.session_id or "", i.source_id) for i in items if i.tier != "working" and i.source_id}
    if keys:
        runtime.uses.add(user_id, keys, runtime.now())


def flush_of(runtime: Runtime, writer: Writer, *, at_least: int = _AT_LEAST) -> int:
    """The uses of the writer's user are counted in this transaction, if they are many enough; of a user who is gone
    or paused they are dropped. Returns how many memories."""
    waiting = runtime.uses.take(writer.user_id, at_least=at_least)
    state = writer.user() if waiting else None
    if state is None or state.paused_at is not None:
        return 0
    # Equal counts and instants are one statement: most waits hold a few recalls of many items.
    alike: dict[tuple[int, datetime, bool], list[Key]] = {}
    for key, (count, at) in waiting.items():
        alike.setdefault((count, at, key[0] == "semantic"), []).append(key)
    for (count, at, is_fact), keys in alike.items():
        if is_fact:
            writer.touch_facts([i for _, _, i in keys], now=at, count=count)
        else:
            writer.touch_messages([(session, i) for _, session, i in keys], now=at, count=count)
    return len(waiting)


def flush(runtime: Runtime) -> int:
    """All uses that wait are counted; returns of how many memories."""
    written = 0
    for user_id in runtime.uses.users:
        with runtime.store.write(user_id) as writer:
            written += flush_of(runtime, writer, at_least=1)
    return written


def close(runtime: Runtime) -> None:
    """What waited is counted, or a warning says for how many users it was lost."""
    try:
        flush(runtime)
    except StoreError as e:
        log.warning("uses of the memories of %d users were not counted: %s", len(runtime.uses.users), e)


__all__ = ["MOST_WAITING", "Uses", "close", "flush", "flush_of", "used"]
