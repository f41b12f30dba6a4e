"""How each kind of transaction begins: what it locks, and who is seen in it. Pure.

Each is one message of several statements. Ids reach it as hexadecimal digits and numbers, never as text.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from psycopg.sql import SQL, Composed, Identifier, Literal

from ltm_core.store.postgres.schema import Roles

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"


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

    def read_user(self, name: bytes) -> Composed:
        """One moment, in which only the user of this stored name is seen."""
        return self._all(_READ, *self._as_user(name))

    def write_user(self, name: bytes) -> Composed:
        """The one write of the user, while others write for theirs and nobody changes the store as a whole."""
        return self._all(
            _WRITE,
            *self._as_user(
                name,
                self._patience(),
                self._shared("store"),
                SQL("SELECT pg_advisory_xact_lock({})").format(Literal(lock_number(self.schema, "user", name))),
            ),
        )

    def read_all(self) -> Composed:
        """One moment, in which all users are seen."""
        return self._all(_READ, self._across())

    def write_all(self, *, alone: bool) -> Composed:
        """A write across users, one at a time; ``alone``: no user's write is under way."""
        return self._all(
            _WRITE,
            self._across(),
            self._patience(),
            self._exclusive("across"),
            *([self._exclusive("store")] if alone else []),
        )

    def settled(self) -> Composed:
        """What was numbered in the feed before is committed or gone."""
        return self._all(_WRITE, self._across(), self._patience(), self._exclusive("feed"))

    @property
    def feed(self) -> int:
        """The lock that a write holds, shared, from its first number in the feed to its end."""
        return lock_number(self.schema, "feed")

    def _as_user(self, name: bytes, *between: SQL | Composed) -> list[SQL | Composed]:
        return [
            _as_role(self.roles.user),
            SQL("SELECT set_config('ltm.user_id', {}, true)").format(Literal(name.hex())),
            *between,
            # Row-level security shows the row by its name; by its number all others are then seen.
            SQL(
                "SELECT set_config('ltm.user_no', coalesce((SELECT user_no::text FROM users WHERE user_id = "
                "decode({}, 'hex')), ''), true)"
            ).format(Literal(name.hex())),
        ]

    def _across(self) -> Composed:
        return _as_role(self.roles.across)

    def _patience(self) -> Composed:
        return SQL("SET LOCAL lock_timeout = {}").format(Literal(f"{max(self.lock_ms, 1)}ms"))

    def _shared(self, what: str) -> Composed:
        return SQL("SELECT pg_advisory_xact_lock_shared({})").format(Literal(lock_number(self.schema, what)))

    def _exclusive(self, what: str) -> Composed:
        return SQL("SELECT pg_advisory_xact_lock({})").format(Literal(lock_number(self.schema, what)))

    def _all(self, *statements: str | SQL | Composed) -> Composed:
        return SQL("; ").join(SQL(s) if isinstance(s, str) else s for s in statements)


def _as_role(role: str) -> Composed:
    return SQL("SET LOCAL ROLE {}").format(Identifier(role))


__all__ = ["Beginnings", "lock_number"]
