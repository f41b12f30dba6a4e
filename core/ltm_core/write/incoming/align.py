"""Where a host's list of messages repeats what is stored."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def repeated(stored: Sequence[T], given: Sequence[T]) -> list[int]:
    """Indices into ``stored`` of the messages that the beginning of ``given`` repeats; what follows is new.

    - A history that grew, or a window of its last turns: the longest beginning of ``given`` that is an end of
      ``stored`` is known, so a real repetition behind it is new.
    - A history without its end, or with another end, or without some turns (the host dropped or regenerated
      them), and any inner part of it: recognised by two messages in a row, or by beginning as the session
      began. All that still comes in the stored order is known, the first message that does not begins the new
      end. Given again, everything is known.
    - A single message is known only as the last stored one: anywhere else it was said again.

    Lists that repeat themselves can be read in several ways; then one more message is stored rather than lost.
    Linear in time.
    """
    end = align(stored, given)
    tail = list(range(len(stored) - end, len(stored)))
    if len(given) < 2 or end >= len(given) - 1 > 0:
        return tail
    starts = [i for i in range(len(stored)) if stored[i] == given[0]]
    sure = [i for i in starts if i == 0 or (i + 1 < len(stored) and stored[i + 1] == given[1])]
    if not sure:
        return tail
    known = _in_order(stored, given, sure[0])
    if place(stored, given)[1] > end or known == len(given):
        return _latest(stored, given[:known])
    return tail


def _in_order(stored: Sequence[T], given: Sequence[T], start: int) -> int:
    """How many messages from the beginning of ``given`` come in this order from ``start`` on."""
    count = 0
    for i in range(start, len(stored)):
        if count == len(given):
            break
        count += stored[i] == given[count]
    return count


def _latest(stored: Sequence[T], given: Sequence[T]) -> list[int]:
    """The last places at which the messages come in this order."""
    places: list[int] = []
    i = len(stored) - 1
    for said in reversed(given):
        while stored[i] != said:
            i -= 1
        places.append(i)
        i -= 1
    return places[::-1]


def align(stored_tail: Sequence[T], given: Sequence[T]) -> int:
    """Length of the longest beginning of ``given`` that is an end of ``stored_tail``. Linear in time."""
    if not stored_tail or not given:
        return 0
    given = list(given)
    # Knuth-Morris-Pratt: prefix lengths of `given`, then run over the stored end.
    table = _prefixes(given)
    k = 0
    tail = stored_tail[-len(given) :]
    for i, said in enumerate(tail):
        while k and (k == len(given) or said != given[k]):
            k = table[k - 1]
        if said == given[k]:
            k += 1
        if k == len(given) and i + 1 < len(tail):
            k = table[k - 1]
    return k


def place(stored: Sequence[T], given: Sequence[T]) -> tuple[int, int]:
    """(start, length) of the longest beginning of ``given`` that stands anywhere in ``stored``; the latest one
    of equal length. Linear in time."""
    if not stored or not given:
        return 0, 0
    table = _prefixes(given)
    best, end, k = 0, 0, 0
    for i, said in enumerate(stored):
        while k and (k == len(given) or said != given[k]):
            k = table[k - 1]
        if said == given[k]:
            k += 1
        if k and k >= best:
            best, end = k, i + 1
    return end - best, best


def _prefixes(given: Sequence[T]) -> list[int]:
    table = [0] * len(given)
    k = 0
    for i in range(1, len(given)):
        while k and given[i] != given[k]:
            k = table[k - 1]
        if given[i] == given[k]:
            k += 1
        table[i] = k
    return table
