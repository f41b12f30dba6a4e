"""Facts and turns that were read before, so that reading them again does not decode them again.

A message that ends or corrects something is compared with everything that is known of its subject, and decoding a
few thousand facts takes longer than the rest of a write; a conversation finds the same turns again and again. What
was made of rows is kept with these rows and given out again only for equal ones: whatever another process wrote
counts at once, and nothing need be told of it. Nothing of a user stays when something of the user is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from ltm_core.store.sql.conditions import holds

if TYPE_CHECKING:
    from ltm_core.store.base import MessageRow
    from ltm_core.store.sql.base import View
    from ltm_core.types import Fact

MOST = 8192
"""Facts, and turns, held by one process: about 2 KB each."""
FEW = 64
"""Rows of a scan that are worth remembering."""
MOST_SCANS = 4096
LONGEST = 8192
"""Bytes of an envelope that is kept: the few longer ones would take the room of many."""
T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]
_BODY = {"fact": 17, "message": 14}
_REPLACED_UNTIL = 18
"""Places in `records.FACT_READ` and `records.MESSAGE_READ`."""


class _User(Generic[T]):
    """By row id what the row was made into, with the rows it was made of."""

    __slots__ = ("held", "no", "shrunk_at")

    def __init__(self, view: View) -> None:
        self.no = view.no
        self.shrunk_at = view.shrunk_at
        self.held: dict[int, tuple[Row, Sequence[Row], T]] = {}


class _Shelf(Generic[T]):
    """At most ``most`` values of all users. Thread-safe without a lock: entries are only ever replaced."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.users: dict[str, _User[T]] = {}
        self.count = 0

    def of(self, view: View) -> _User[T]:
        user = self.users.get(view.user_id)
        if user is None or user.no != view.no or user.shrunk_at != view.shrunk_at:
            self.drop(view.user_id)
            user = self.users[view.user_id] = _User(view)
        return user

    def put(self, user_id: str, user: _User[T], row: Row, told: Sequence[Row], value: T) -> None:
        if self.count >= self.most:
            # The others go first; of a user with more than fits, the first stay: they are read first again.
            self.users = {user_id: user}
            self.count = len(user.held)
        if self.count < self.most:
            self.count += row[0] not in user.held
            user.held[row[0]] = row, told, value

    def drop(self, user_id: str) -> None:
        user = self.users.pop(user_id, None)
        if user is not None:
            self.count -= len(user.held)

    def forget(self, user_id: str, row: int) -> None:
        user = self.users.get(user_id)
        if user is not None and user.held.pop(row, None) is not None:
            self.count -= 1


class Kept:
    """What one process has read of one store."""

    def __init__(self, most: int = MOST) -> None:
        self._facts: _Shelf[Fact] = _Shelf(most)
        self._messages: _Shelf[MessageRow] = _Shelf(most)
        self._scans: dict[tuple[str, str, int], tuple[int, int, int, tuple[int, ...] | None]] = {}

    def __len__(self) -> int:
        return sum(len(u.held) for s in self._shelves() for u in list(s.users.values()))

    def facts(
        self, view: View, rows: Sequence[Row], told: dict[int, list[Row]], moment: int, make: Callable[[Row], Fact]
    ) -> list[Fact]:
        """The facts of ``rows`` and of the evidence rows ``told`` by row id, current as of ``moment``; ``make``
        decodes one."""
        if not rows:
            return []
        user, out = self._facts.of(view), []
        for row in rows:
            own = told.get(row[0], ())
            kept = user.held.get(row[0])
            if kept is not None and kept[0] == row and kept[1] == own and _still(kept[2], row, moment):
                out.append(kept[2])
                continue
            fact = make(row)
            out.append(fact)
            if _may_be_kept(fact, row[_BODY["fact"]]):
                self._facts.put(view.user_id, user, row, own, fact)
        return out

    def messages(self, view: View, rows: Sequence[Row], make: Callable[[Row], MessageRow]) -> list[MessageRow]:
        """The turns of ``rows``; ``make`` decodes one."""
        if not rows:
            return []
        user, out = self._messages.of(view), []
        for row in rows:
            kept = user.held.get(row[0])
            if kept is not None and kept[0] == row and not kept[2].metadata:
                out.append(kept[2])
                continue
            message = make(row)
            out.append(message)
            if _may_be_kept(message, row[_BODY["message"]]):
                self._messages.put(view.user_id, user, row, (), message)
        return out

    def few(
        self, view: View, what: str, value: int, moment: int, scan: Callable[[], Sequence[Row]]
    ) -> tuple[int, ...] | None:
        """The row ids that ``scan`` finds, None when they are not few; it is asked once per revision, and again for
        an earlier moment."""
        if not view.live or view.has_changed:
            return None
        key = view.user_id, what, value
        known = self._scans.get(key)
        if known is None or known[:2] != (view.no, view.revision) or moment < known[2]:
            found = scan()
            ids = tuple(r[0] for r in found) if len(found) <= FEW else None
            if len(self._scans) >= MOST_SCANS:
                self._scans = {}
            known = self._scans[key] = view.no, view.revision, moment, ids
        return known[3]

    def drop(self, user_id: str) -> None:
        """Nothing of the user is kept here."""
        for shelf in self._shelves():
            shelf.drop(user_id)

    def forget(self, user_id: str, row: int) -> None:
        """The fact or turn of this row id is not kept here."""
        for shelf in self._shelves():
            shelf.forget(user_id, row)

    def clear(self) -> None:
        """Nothing is kept here."""
        self._facts, self._messages = _Shelf(self._facts.most), _Shelf(self._messages.most)

    def _shelves(self) -> tuple[_Shelf[Any], ...]:
        return self._facts, self._messages


def _may_be_kept(value: Fact | MessageRow, body: bytes) -> bool:
    """A dictionary with content is its reader's own."""
    return not value.metadata and len(body) <= LONGEST


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


__all__ = ["MOST", "Kept"]
