"""How each kind of transaction begins: what it locks, and who is seen in it. Pure.

Each is a few statements that are sent at once. Ids and numbers are values in them, never text of theirs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ltm_core.store.postgres.schema import Roles
from ltm_core.store.postgres.session import Statement
from ltm_core.store.sql.base import USER_ROW

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
# Row-level security shows the row by its name; by its number all others are then seen.
_NUMBERED = (
    "SELECT set_config('ltm.user_no', coalesce((SELECT user_no::text FROM users WHERE user_id = ?), ''), true)"
)


@dataclass(frozen=True, slots=True)
class Beginning:
    """Of one transaction."""

    mode: str
    statements: tuple[Statement, ...]
    ahead: Statement | None = None
    """What is asked first in the transaction, so that it goes along."""


def lock_number(*parts: str | bytes) -> int:
    """The number by which a lock of this name is taken: 63 bits, the same in every process."""
    h = hashlib.blake2b(digest_size=8)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        h.update(len(data).to_bytes(4, "big") + data)
    return int.from_bytes(h.digest(), "big") >> 1


@dataclass(frozen=True, slots=True)
class Beginnings:
    """For one store."""

    schema: str
    roles: Roles
    lock_ms: int = 0

    def read_user(self, name: bytes) -> Beginning:
        """One moment, in which only the user of this stored name is seen."""
        who = "SELECT set_config('role', ?, true), set_config('ltm.user_id', ?, true)", (self.roles.user, name.hex())
        return Beginning(_READ, (who, (_NUMBERED, (name,))), (USER_ROW, (name,)))

    def write_user(self, name: bytes) -> Beginning:
        """The one write of the user, while others write for theirs and nobody changes the store as a whole."""
        who = (
            "SELECT set_config('role', ?, true), set_config('ltm.user_id', ?, true), "
            "set_config('lock_timeout', ?, true)",
            (self.roles.user, name.hex(), self._patience),
        )
        locks = (
            "SELECT pg_advisory_xact_lock_shared(?), pg_advisory_xact_lock(?)",
            (self._lock("store"), lock_number(self.schema, "user", name)),
        )
        # What is read after the locks is what their last holder committed.
        return Beginning(_WRITE, (who, locks, (_NUMBERED, (name,))), (USER_ROW, (name,)))

    def read_all(self) -> Beginning:
        """One moment, in which all users are seen."""
        return Beginning(_READ, (("SELECT set_config('role', ?, true)", (self.roles.across,)),))

    def write_all(self, *, alone: bool) -> Beginning:
        """A write across users, one at a time; ``alone``: no user's write is under way."""
        return self._across("across", *(["store"] if alone else []))

    def settled(self) -> Beginning:
        """What was numbered in the feed before is committed or gone."""
        return self._across("feed")

    @property
    def feed(self) -> int:
        """The lock that a write holds, shared, from its first number in the feed to its end."""
        return self._lock("feed")

    def _across(self, *locks: str) -> Beginning:
        who = (
            "SELECT set_config('role', ?, true), set_config('lock_timeout', ?, true)",
            (self.roles.across, self._patience),
        )
        taken = [("SELECT pg_advisory_xact_lock(?)", (self._lock(what),)) for what in locks]
        return Beginning(_WRITE, (who, *taken))

    @property
    def _patience(self) -> str:
        return f"{max(self.lock_ms, 1)}ms"

    def _lock(self, what: str) -> int:
        return lock_number(self.schema, what)


__all__ = ["Beginning", "Beginnings", "lock_number"]
