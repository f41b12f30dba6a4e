"""Which bytes of a SQLite file belong to no row. Pure.

What stands in a row can be asked of the row. What an erasure may have left unseen stands elsewhere: between the
directory of a page's cells and its first cell, in blocks that were freed, and in pages of no tree (free ones, and
those on which long rows go on). Format: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Numbers = NDArray[np.int64]

_INNER, _LEAF = (2, 5), (10, 13)
"""First byte of a page of a tree: of an index, of a table."""
_SIZE_AT, _RESERVED_AT, _FREE_AT = 16, 20, 32
_LONGEST_CHAIN = 1024
"""Freed blocks of one page; more is a circle, and the page is taken as a whole."""


_FEW = 128
"""Pages with freed blocks, up to which each is followed by itself: a step for all at once costs as much."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How long the pages of a file are, and how much of each is used."""

    page: int
    usable: int


@dataclass(slots=True)
class Loose:
    """Stretches that are not all zero: ``free`` belong to nothing, ``whole`` are pages of no tree, which may be in
    use."""

    free: list[bytes]
    whole: list[bytes]


def layout_of(head: bytes) -> Layout | None:
    """By the first bytes of a database; None when it is none."""
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        return None
    size = int.from_bytes(head[_SIZE_AT : _SIZE_AT + 2], "big")
    page = 65536 if size == 1 else size
    return Layout(page, page - head[_RESERVED_AT]) if page >= 512 and not page & (page - 1) else None


def free_pages(read: Callable[[int], bytes], layout: Layout) -> frozenset[int]:
    """Numbers, from 0, of the pages that the file keeps for later use; ``read`` gives a page by its number. Such a
    page may look like one of a tree."""
    trunk = int.from_bytes(read(0)[_FREE_AT : _FREE_AT + 4], "big")
    found: set[int] = set()
    while trunk and trunk - 1 not in found:
        page = read(trunk - 1)
        found.add(trunk - 1)
        count = min(int.from_bytes(page[4:8], "big"), layout.usable // 4 - 2)
        found.update(int.from_bytes(page[8 + 4 * i : 12 + 4 * i], "big") - 1 for i in range(count))
        trunk = int.from_bytes(page[:4], "big")
    return frozenset(found)


def loose(
    data: bytes | memoryview, layout: Layout, *, first: int | None, free: Collection[int] = frozenset()
) -> Loose:
    """Of consecutive whole pages, of which the first has the number ``first`` (None: they have none). Those of
    ``free`` are of no tree, whatever they look like."""
    import numpy as np

    pages = np.frombuffer(data, dtype=np.uint8).reshape(-1, layout.page)
    words = np.frombuffer(data, dtype="<u8").reshape(len(pages), -1)
    head = pages[:, :8].astype(np.int64)
    kind = head[:, 0]
    cells = head[:, 3] << 8 | head[:, 4]
    content = head[:, 5] << 8 | head[:, 6]
    content[content == 0] = 65536
    directory = np.where(np.isin(kind, _LEAF), 8, 12) + 2 * cells
    tree = np.isin(kind, (*_INNER, *_LEAF)) & (directory <= content) & (content <= layout.usable)
    if first is not None:
        numbers = np.arange(first, first + len(pages))
        tree &= (numbers > 0) & ~np.isin(numbers, np.fromiter(free, np.int64, len(free)))
    rows = np.flatnonzero(tree)
    found = Loose([], [])
    _take(found, pages, words, rows, directory[rows], content[rows])
    tree[_blocks(found, pages, words, rows, head[rows, 1] << 8 | head[rows, 2], layout)] = False
    others = np.flatnonzero(~tree)
    found.whole += [pages[i].tobytes() for i in others[words[others].any(axis=1)].tolist()]
    return found


def _blocks(
    found: Loose, pages: NDArray[np.uint8], words: Words, rows: Numbers, block: Numbers, layout: Layout
) -> Numbers:
    """The freed blocks of these pages, along their chains, are in ``found``; returns pages whose chain is none."""
    import numpy as np

    wrong: list[Numbers] = []
    for _ in range(_LONGEST_CHAIN):
        rows, block = rows[block > 0], block[block > 0]
        if len(rows) <= _FEW:
            odd = [row for row, at in zip(rows.tolist(), block.tolist(), strict=True)
                   if not _follow(found, pages[row].tobytes(), at, layout)]  # fmt: skip
            return np.concatenate([*wrong, np.array(odd, dtype=np.int64)])
        good = block <= layout.usable - 4
        wrong.append(rows[~good])
        rows, block = rows[good], block[good]
        head = [pages[rows, block + i].astype(np.int64) for i in range(4)]
        following, end = head[0] << 8 | head[1], block + (head[2] << 8 | head[3])
        # A chain goes up, and no block reaches beyond the page.
        good = (end <= layout.usable) & (end >= block + 4) & ((following == 0) | (following >= end))
        wrong.append(rows[~good])
        rows, block, following, end = rows[good], block[good], following[good], end[good]
        _take(found, pages, words, rows, block + 4, end)
        block = following
    return np.concatenate([*wrong, rows])


def _follow(found: Loose, page: bytes, block: int, layout: Layout) -> bool:
    """The same for one page; whether its chain is one."""
    for _ in range(_LONGEST_CHAIN):
        if not block:
            return True
        following = int.from_bytes(page[block : block + 2], "big")
        end = block + int.from_bytes(page[block + 2 : block + 4], "big")
        if block > layout.usable - 4 or not block + 4 <= end <= layout.usable or 0 < following < end:
            return False
        stretch = page[block + 4 : end]
        if stretch.strip(b"\0"):
            found.free.append(stretch)
        block = following
    return False


def _take(found: Loose, pages: NDArray[np.uint8], words: Words, rows: Numbers, begin: Numbers, end: Numbers) -> None:
    """One stretch of each of these pages is in ``found`` unless it is all zero."""
    keep = begin < end
    rows, begin, end = rows[keep], begin[keep], end[keep]
    for i in _marked(words, rows, begin, end).tolist():
        found.free.append(pages[rows[i], begin[i] : end[i]].tobytes())


def _marked(words: Words, rows: Numbers, begin: Numbers, end: Numbers) -> Any:
    """Which of the stretches hold anything but zeros; eight bytes are looked at in one step."""
    import numpy as np

    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    width = words.shape[1]
    first, last = begin >> 3, end >> 3
    # The word in which a stretch begins, without what is before it, and the one in which it ends.
    opening = words[rows, first] >> (begin & 7).astype(np.uint64) * np.uint64(8)
    mask = (np.uint64(1) << (end & 7).astype(np.uint64) * np.uint64(8)) - np.uint64(1)
    closing = words[rows, np.minimum(last, width - 1)] & mask
    short = (np.uint64(1) << np.minimum(end - begin, 7).astype(np.uint64) * np.uint64(8)) - np.uint64(1)
    inside = np.where(first == last, opening & short, opening | closing)
    long = np.flatnonzero(last > first + 1)
    if len(long):
        taken = words if 2 * len(rows) > len(words) else words[rows[long]]
        base = rows[long] if taken is words else np.arange(len(long))
        ends = np.empty(2 * len(long), dtype=np.int64)
        ends[0::2], ends[1::2] = base * width + first[long] + 1, base * width + last[long]
        flat = taken.ravel()
        # The end of the last stretch may be the end of all.
        whole = np.bitwise_or.reduceat(flat, ends[:-1] if ends[-1] == len(flat) else ends)
        inside[long] |= whole[0::2]
    return np.flatnonzero(inside)


__all__ = ["Layout", "Loose", "free_pages", "layout_of", "loose"]
