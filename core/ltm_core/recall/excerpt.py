"""A long text cut to what matters: the words around the match, within a number of tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ltm_core.types import TokenCounter

_BREAK = re.compile(r"[\s。！？；，、.!?;,…]")
_REACH = 24
"""Characters within which a cut moves to a gap between words."""


def excerpt(text: str, focus: tuple[int, int], *, limit: int, count: TokenCounter, mark: str = "…") -> str:
    """At most ``limit`` tokens of ``text`` by ``count``, around ``focus``; marked where it was cut.

    Empty when not even one character with its marks fits. The whole text when it fits.
    """
    if count(text) <= limit:
        return text
    start = max(0, min(focus[0], len(text)))
    end = max(start, min(focus[1], len(text)))
    low, high, best = 0, len(text), ""
    # The width is found by halving; counters are not quite additive, so every try is counted as it would stand.
    for _ in range(32):
        if low > high:
            break
        width = (low + high) // 2
        piece = _around(text, start, end, width, mark)
        if piece and count(piece) <= limit:
            best, low = piece, width + 1
        else:
            high = width - 1
    return best


def _around(text: str, start: int, end: int, width: int, mark: str) -> str:
    """``width`` characters: the focus from its start, then equally what is before and after it."""
    if width <= 0:
        return ""
    inner = min(width, end - start)
    spare = width - inner
    left = max(0, start - spare // 2)
    right = min(len(text), start + inner + (spare - (start - left)))
    left = max(0, right - width)
    left, right = _to_gap(text, left, right)
    piece = text[left:right].strip()
    if not piece:
        return ""
    return f"{mark if left else ''}{piece}{mark if right < len(text) else ''}"


def _to_gap(text: str, left: int, right: int) -> tuple[int, int]:
    if left:
        gap = _BREAK.search(text, left, min(left + _REACH, right))
        left = gap.end() if gap else left
    if right < len(text):
        gaps = list(_BREAK.finditer(text, max(right - _REACH, left), right))
        right = gaps[-1].end() if gaps and gaps[-1].end() > left else right
    return left, right


__all__ = ["excerpt"]
