"""The integers by which rows are found: one contiguous range per user.

A row id is ``user_no << 32 | n`` and a postings key ``user_no << 40 | term hash``; both fit a signed 64-bit
integer. ``user_no`` is never reused and never leaves the store; ``n`` is the public item number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from ltm_core.store.keyed import TERM_BITS

ITEM_BITS = 32
MAX_ITEM = 2**ITEM_BITS - 1
"""Items of one user: 4,294,967,295."""
MAX_USER = 2 ** (63 - TERM_BITS) - 1
"""Users ever created in one store: 8,388,607; the postings key is the narrower one."""

NO_LIMIT = 2**63 - 1
"""For ``LIMIT`` where there is none."""

T = TypeVar("T")
_BATCHES = (1, 8, 64, 512)


def row_range(user_no: int) -> tuple[int, int]:
    """All row ids of a user lie strictly between these two."""
    return user_no << ITEM_BITS, (user_no + 1) << ITEM_BITS


def key_range(user_no: int) -> tuple[int, int]:
    """All postings keys of a user are >= the first and < the second."""
    return user_no << TERM_BITS, (user_no + 1) << TERM_BITS


def among(column: str, count: int) -> str:
    """The condition that a column has one of so many values; never true for none, for which there is no list."""
    return f"{column} IN ({','.join('?' * count)})" if count else "1 = 0"


def batches(values: Sequence[T]) -> Iterator[tuple[str, tuple[T, ...]]]:
    """Placeholders and values for ``IN (…)``, in few sizes so that prepared statements are reused.

    A batch is filled up with its last value, which changes nothing inside ``IN``.
    """
    for begin in range(0, len(values), _BATCHES[-1]):
        part = tuple(values[begin : begin + _BATCHES[-1]])
        size = next(s for s in _BATCHES if s >= len(part))
        yield ",".join("?" * size), part + part[-1:] * (size - len(part))
