"""Which changes of a file the user's feed does not have yet. Equal ones of one instant count one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ltm_core.store.base import RowReader
    from ltm_core.types import FactChange


class Feed:
    """Counts the changes of the store and those of the file, batch by batch; a batch may be looked at twice."""

    def __init__(self) -> None:
        self._stored: tuple[int, Counter[int]] | None = None
        """The revision at which the user's feed was counted, and how often it has each change."""
        self._seen: Counter[int] = Counter()
        """How often the file has had each change, and with the batch that was looked at last."""
        self._pending = self._seen

    def begin(self) -> None:
        """A batch is looked at, for the first time or again."""
        self._pending = Counter(self._seen)

    def is_new(self, reader: RowReader, change: FactChange) -> bool:
        """Whether the file has had this change more often than the store has it."""
        key = mark(change)
        self._pending[key] += 1
        return self._counted(reader)[key] < self._pending[key]

    def commit(self, written: Iterable[int], *, revision: int) -> None:
        """The batch that was looked at last is written, with these changes, and the user's data has this revision."""
        self._seen = self._pending
        if self._stored is not None:
            counted = self._stored[1]
            counted.update(written)
            self._stored = (revision, counted)

    def _counted(self, reader: RowReader) -> Counter[int]:
        """How often the user's feed has each change now; counted again when somebody else wrote."""
        state = reader.user()
        revision = state.revision if state else 0
        if self._stored is None or self._stored[0] != revision:
            counted: Counter[int] = Counter()
            place = 0
            while page := reader.changes(after=place, limit=1000):
                counted.update(mark(c) for c in page)
                place = int(page[-1].cursor)
            self._stored = (revision, counted)
        return self._stored[1]


def mark(change: FactChange) -> int:
    """Stands for a change among those of one user: two differ in 2^64 cases but one."""
    previous = None if change.previous is None else change.previous.id
    return hash((change.op, change.fact.id, previous, change.at, change.reason))
