"""Facts that were read before, so that reading them again does not decode them again.

A message that ends or corrects something is compared with everything that is known of its subject; decoding a few
thousand facts takes longer than all the rest of a write. A fact is kept with the very rows it was made of and given
out again only for equal rows: whatever another process wrote counts at once, and nothing need be told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ltm_core.store.sqlite.conditions import holds

if TYPE_CHECKING:
    from ltm_core.store.sqlite.base import View
    from ltm_core.types import Fact

MOST = 8192
"""Facts held by one process: about 2 KB each."""
Row: TypeAlias = tuple[Any, ...]
Told: TypeAlias = Sequence[tuple[Any, ...]]
_REPLACED_UNTIL = 18
"""A place in `records.FACT_READ`."""


class _User:
    """The facts of one user by row id, each with its rows; good while nothing of the user is removed."""

    __slots__ = ("facts", "no", "shrunk_at")

    def __init__(self, view: View) -> None:
        self.no = view.no
        self.shrunk_at = view.shrunk_at
        self.facts: dict[int, tuple[Row, Told, Fact]] = {}


class KeptFacts:
    """Decoded facts of one process. Thread-safe without a lock: its values are only ever replaced."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._users: dict[str, _User] = {}
        self._count = 0

    def __len__(self) -> int:
        return sum(len(u.facts) for u in list(self._users.values()))

    def read(
        self, view: View, rows: Sequence[Row], told: dict[int, list[Row]], moment: int, make: Callable[[Row], Fact]
    ) -> list[Fact]:
        """The facts of ``rows`` and of the evidence rows ``told`` by row id, current as of ``moment``; ``make``
        decodes one."""
        user = self._users.get(view.user_id)
        if user is None or user.no != view.no or user.shrunk_at != view.shrunk_at:
            self.drop(view.user_id)
            user = self._users[view.user_id] = _User(view)
        out = []
        for row in rows:
            own = told.get(row[0], ())
            kept = user.facts.get(row[0])
            if kept is None or kept[0] != row or kept[1] != own or not _still(kept[2], row, moment):
                fact = make(row)
                self._keep(view.user_id, user, (row, own, fact))
            else:
                fact = kept[2]
            out.append(fact)
        return out

    def drop(self, user_id: str) -> None:
        """Nothing of the user is kept here."""
        user = self._users.pop(user_id, None)
        if user is not None:
            self._count -= len(user.facts)

    def clear(self) -> None:
        """Nothing is kept here."""
        self._users = {}
        self._count = 0

    def forget(self, user_id: str, row: int) -> None:
        """The fact of this row id is not kept here."""
        user = self._users.get(user_id)
        if user is not None and user.facts.pop(row, None) is not None:
            self._count -= 1

    def _keep(self, user_id: str, user: _User, entry: tuple[Row, Told, Fact]) -> None:
        if entry[2].metadata:
            return  # a dictionary with content is its reader's own
        if self._count >= self.most:
            # The others go first; of a user with more than fits, the first stay: they are read first again.
            self._users = {user_id: user}
            self._count = len(user.facts)
        if self._count < self.most:
            self._count += entry[0][0] not in user.facts
            user.facts[entry[0][0]] = entry


def _still(fact: Fact, row: Row, moment: int) -> bool:
    """Whether the fact is at ``moment`` what it was when it was made."""
    if row[_REPLACED_UNTIL] is not None or fact.metadata:
        return False
    times = {
        "valid_from": row[8],
        "valid_to": row[9],
        "retracted_at": row[11],
        "suppressed_at": row[12],
        "expires_at": row[13],
        "superseded_by": fact.superseded_by,
    }
    return holds(times, moment) == fact.is_current


__all__ = ["MOST", "KeptFacts"]
