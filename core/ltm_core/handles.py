"""Open memories of this process by their location, so that an adapter that was copied, pickled or stored as
JSON finds its memory again. Only a name without secrets leaves the process, never the handle."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit
from weakref import WeakValueDictionary

from ltm_core.errors import UnavailableError
from ltm_core.ids import new_uuid7

if TYPE_CHECKING:
    from ltm_core.memory import LongTermMemory

_lock = threading.RLock()
_open: WeakValueDictionary[str, Any] = WeakValueDictionary()
_kept: dict[str, Any] = {}
"""Those opened here: nobody else may hold them between two chats."""
_PRIVATE = ":memory:"


def name_of(memory: Any) -> str:
    """The name under which `find` gives back this very memory while it is open in this process."""
    location = str(getattr(memory, "location", ""))
    with _lock:
        known = next((name for name, other in _open.items() if other is memory), None)
        if known is not None:
            return known
        # Stores in RAM share one location, and a remote one may tell none: these get a name of their own.
        private = not location or location.startswith(_PRIVATE)
        name = f"{_PRIVATE}{new_uuid7()}" if private else _normal(location)
        _open[name] = memory
        return name


def find(name: str | Path) -> LongTermMemory:
    """The open memory of that name, else one opened there with the default options, shared from now on.

    ``":memory:"`` is a new one each time. One that was held in RAM and is gone raises UnavailableError; other
    errors are those of `LongTermMemory.open`.
    """
    from ltm_core.memory import LongTermMemory

    given = str(name)
    if given == _PRIVATE:
        memory = LongTermMemory.open(given)
        name_of(memory)
        return memory
    key = given if given.startswith(_PRIVATE) else _normal(given)
    with _lock:
        known: LongTermMemory | None = _open.get(key)
        if known is not None and not getattr(known, "closed", False):
            return known
        if key.startswith(_PRIVATE):
            raise UnavailableError("this memory was held in RAM, by a process or an object that is gone")
        memory = LongTermMemory.open(given)
        _open[key] = _kept[key] = memory
        return memory


def _normal(location: str) -> str:
    return without_password(location) if "://" in location else str(Path(location).expanduser().absolute())


def without_password(location: str) -> str:
    """The location with the password of a URL left out."""
    if "://" not in location:
        return location
    parts = urlsplit(location)
    if parts.password is None:
        return location
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username}@{host}"))


__all__ = ["find", "name_of", "without_password"]
