"""What is told of one of two sides of a body says nothing of the other ("左眼涨到450度了" of "右眼350度"). Pure."""

from __future__ import annotations

from functools import lru_cache

from ltm_core.types import Fact
from ltm_core.write.words.expressions import Expression
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import normal


def is_of_other_side(fact: Fact, text: str, lexicon: Lexicon) -> bool:
    """Whether the words tell of a side of which the fact does not, and the fact only of the other."""
    said = sides(text, lexicon)
    held = sides(f"{fact.text} {fact.object}", lexicon) if said else frozenset()
    parts = {part for _, part in said}
    return bool(held) and not held & said and any(part in parts for _, part in held)


def sides(text: str, lexicon: Lexicon) -> frozenset[tuple[str, str]]:
    """The sides that a text names, each with what it is a side of."""
    return _sides(text, lexicon.shared["side_of"])


@lru_cache(maxsize=256)
def _sides(text: str, side_of: Expression) -> frozenset[tuple[str, str]]:
    """Remembered: one sentence is compared with every fact."""
    found = side_of.finditer(normal(text).lower())
    return frozenset((m["side"] or m["side2"], m["part"] or m["part2"]) for m in found)
