"""A page of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Page(Generic[T]):
    """A page of results that iterates over all of them.

    ``items`` is this page and ``next_cursor`` is None on the last one. Iterating fetches the following pages
    when they are reached. ``len`` counts this page only.
    """

    __slots__ = ("_fetch", "items", "next_cursor")

    def __init__(
        self,
        items: tuple[T, ...],
        next_cursor: str | None = None,
        fetch: Callable[[str], Page[T]] | None = None,
    ) -> None:
        self.items = items
        self.next_cursor = next_cursor
        self._fetch = fetch

    def __iter__(self) -> Iterator[T]:
        page: Page[T] = self
        while True:
            yield from page.items
            if page.next_cursor is None or page._fetch is None:
                return
            page = page._fetch(page.next_cursor)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return bool(self.items)

    def __getitem__(self, index: int) -> T:
        return self.items[index]

    def __repr__(self) -> str:
        return f"Page({len(self.items)} items, next_cursor={self.next_cursor!r})"


__all__ = [
    "Page",
]
