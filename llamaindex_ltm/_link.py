"""What every object here that the host may copy, pickle or store as JSON has in common: the memory behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from llama_index.core.bridge.pydantic import BaseModel, ConfigDict, PrivateAttr

from ltm_core.adapting import checked_id
from ltm_core.errors import ConfigError
from ltm_core.handles import find, name_of

_LOCATION = "./ltm-data"
_NOT_COPIED = ("location", "callback_manager")


class Linked(BaseModel):
    """An object on an open ``memory``, or on the one at ``location``, which is opened when this process has not
    opened it.

    Copies, pickles and ``from_dict`` connect to the same memory again. What leaves the process is the location
    without a password, never the handle.
    """

    model_config = ConfigDict(extra="forbid")

    location: str = _LOCATION
    """Where the memory is; `from_dict` and unpickling connect to it again. Holds no password."""
    user_id: str | None = None
    """Whose memory; None serves the user of the active ``ltm_core.scope(...)``."""
    strict: bool = False
    """True raises what goes wrong with the store instead of logging it."""

    _memory: Any = PrivateAttr(default=None)

    def __init__(self, memory: Any = None, *, location: str | Path | None = None, **data: Any) -> None:
        for name in ("user_id", "session_id"):
            # Before pydantic, which would turn the error into its own.
            if name in data:
                data[name] = checked_id(data[name], name)
        linked = opened(memory, location)
        super().__init__(location=name_of(linked), **data)
        self._memory = linked

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields if name not in _NOT_COPIED}

    def __copy__(self) -> Self:
        return type(self)(self._memory, **self._options())

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), {**self._options(), "location": self.location})


def opened(memory: Any, location: str | Path | None) -> Any:
    """The open ``memory``, else the one at ``location``; ConfigError for what is none and for both at once."""
    if memory is None:
        return find(location or _LOCATION)
    if location is not None:
        raise ConfigError("give either an open memory or a location, not both")
    if not callable(getattr(memory, "observe", None)):
        raise ConfigError(f"memory must be a LongTermMemory, not {type(memory).__name__}")
    return memory


def _restored(cls: type[Linked], options: dict[str, Any]) -> Linked:
    return cls(**options)


__all__ = ["Linked", "opened"]
