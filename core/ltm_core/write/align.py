"""Where a host's full history stops repeating what is stored."""

from __future__ import annotations

from collections.abc import Sequence

Said = tuple[str, str]
"""Role and content of one message."""


def align(stored_tail: Sequence[Said], given: Sequence[Said]) -> int:
    """Index of the first message of ``given`` that is not stored yet.

    The longest beginning of ``given`` that is an end of ``stored_tail`` is taken as known, so a window that
    starts in the middle of the history aligns too, and a real repetition behind it is new. Linear in time.
    """
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


def place(stored: Sequence[Said], given: Sequence[Said]) -> tuple[int, int]:
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


def _prefixes(given: Sequence[Said]) -> list[int]:
    table = [0] * len(given)
    k = 0
    for i in range(1, len(given)):
        while k and given[i] != given[k]:
            k = table[k - 1]
        if given[i] == given[k]:
            k += 1
        table[i] = k
    return table
