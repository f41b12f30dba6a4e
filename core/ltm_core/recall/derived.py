"""What recall works out of a stored turn alone, kept as long as the store keeps the turn.

A conversation finds the same turns again and again. Their terms and the dates of their relative words depend on
nothing but the turn, so they live and die with the row that the store holds.
"""

from __future__ import annotations

import weakref
from datetime import datetime
from typing import TypeAlias

from ltm_core.recall.dates import Shown, shown_dates
from ltm_core.recall.values import Value, tells_of_change, values_of
from ltm_core.store.base import MessageRow
from ltm_core.text.terms import terms

_Day: TypeAlias = tuple[datetime, str, str]


class Derived:
    """What one turn yields; each part worked out when first asked for."""

    __slots__ = ("_dates", "_terms", "_turns", "_values", "content")

    def __init__(self, content: str) -> None:
        self.content = content
        self._terms: frozenset[str] | None = None
        self._turns: bool | None = None
        self._dates: tuple[_Day, tuple[Shown, ...]] | None = None
        self._values: tuple[_Day, tuple[Value, ...]] | None = None

    @property
    def terms(self) -> frozenset[str]:
        """The terms of its words."""
        if self._terms is None:
            self._terms = frozenset(terms(self.content))
        return self._terms

    @property
    def tells_of_change(self) -> bool:
        """Whether a word of change stands in it."""
        if self._turns is None:
            self._turns = tells_of_change(self.content)
        return self._turns

    def dates(self, said: datetime, language: str) -> tuple[Shown, ...]:
        """`shown_dates` of its words."""
        day = said, str(said.tzinfo), language
        if self._dates is None or self._dates[0] != day:
            self._dates = day, shown_dates(self.content, said, language)
        return self._dates[1]

    def values(self, said: datetime) -> tuple[Value, ...]:
        """`values_of` its words."""
        day = said, str(said.tzinfo), ""
        if self._values is None or self._values[0] != day:
            self._values = day, tuple(values_of(self.content, said=said))
        return self._values[1]


_known: dict[int, tuple[weakref.ref[MessageRow], Derived]] = {}


def derived(row: MessageRow) -> Derived:
    """What the turn yields; the same object as long as the row is in use."""
    key = id(row)
    found = _known.get(key)
    if found is None or found[0]() is not row:
        found = _known[key] = weakref.ref(row, lambda _: _known.pop(key, None)), Derived(row.content)
    return found[1]


__all__ = ["Derived", "derived"]
