"""What every method of the door needs: the scope, the user's zone, the limits."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ltm_core.keep import audit
from ltm_core.runtime import Runtime
from ltm_core.scoping import identifier
from ltm_core.types import Scope
from ltm_core.when import parse_instant, zone_of

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.store.base import UserState

When = datetime | str | None


class Door:
    """The open memory behind the methods; `ltm_core.LongTermMemory` is made of its parts."""

    _runtime: Runtime

    @property
    def location(self) -> str:
        """Where the store is."""
        return self._runtime.store.location

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self._runtime.config

    def _saw(self, action: str, user_id: str) -> None:
        audit.saw(self._runtime, action, user_id)

    @property
    def _limit(self) -> int:
        return self._runtime.config.max_id_characters

    def _session(self, user_id: object, session_id: object, *labels: object) -> Scope:
        """The scope of a call that needs a session: None is refused like any other id that is none."""
        return self._runtime.scope(user_id, identifier(session_id, "session_id", limit=self._limit), *labels)

    def _zone(self, user_id: str, timezone: str | None) -> Any:
        return zone_of(timezone) if timezone else self._zone_as(self._user(user_id))

    def _user(self, user_id: str) -> UserState | None:
        with self._runtime.store.read(user_id) as reader:
            return reader.user()

    def _zone_as(self, user: UserState | None) -> Any:
        return self._runtime.zone(None, user.timezone if user else None)

    def _instant(self, value: When, user_id: str, timezone: str | None) -> datetime | None:
        if value is None:
            return None
        return parse_instant(value, zone=self._zone(user_id, timezone))

    def _local_now(self, user: UserState | None, at: When, timezone: str | None) -> datetime:
        zone = zone_of(timezone) if timezone else self._zone_as(user)
        moment = self._runtime.now() if at is None else parse_instant(at, zone=zone)
        return moment.astimezone(zone)


def utc_now() -> datetime:
    """The system clock."""
    return datetime.now(UTC)


__all__ = ["Door", "When", "utc_now"]
