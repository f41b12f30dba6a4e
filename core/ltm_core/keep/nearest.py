"""The one fact that is nearest to a topic by meaning, where no words of it name one: "欠款" of "信用卡还欠着三万四".

It must be near, and clearly nearer than everything else that is known: the words of a topic that nobody ever told
are a little like many facts. Only for silence, which can be undone: the trip to Beijing is nearer to a home in
Beijing than a debt to what is owed (cosine .67 and .52), and of twenty topics nobody had told eleven would have
erased something else. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ltm_core.types import Fact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VectorsOf = Callable[[str, Sequence[Fact]], "tuple[NDArray[np.float32], NDArray[np.float32]] | None"]
"""The vectors of a few words and of the facts, each of length one; None where there are none."""


@dataclass(frozen=True, slots=True)
class Least:
    """How near the nearest fact must be, as a cosine, and by how much nearer than the next."""

    near: float
    apart: float


QUIET = Least(0.32, 0.12)
"""Found with ``use-multilingual-v3`` on topics nobody told and topics told in other words."""
OF_RELATIVE = Least(0.2, 0.08)
"""Among the few facts of the relative who is named."""


def nearest(facts: Sequence[Fact], words: str, vectors: VectorsOf | None, least: Least) -> list[Fact]:
    """The facts of the one text that the words mean most likely; none when it is not near enough."""
    found = vectors(words, facts) if vectors is not None and words and facts else None
    if found is None:
        return []
    asked, told = found
    near: dict[str, float] = {}
    slots: dict[str, set[tuple[str, str]]] = {}
    for fact, cosine in zip(facts, told @ asked, strict=True):
        near[fact.text] = max(near.get(fact.text, -1.0), float(cosine))
        slots.setdefault(fact.text, set()).add((fact.subject, fact.relation))
    best = max(near, key=lambda t: near[t])
    # Earlier values of one slot are as near as the present one.
    others = [near[t] for t in near if t != best and (slots[t].isdisjoint(slots[best]) or _is_open(slots[best]))]
    if near[best] < least.near or near[best] - max(others, default=0.0) < least.apart:
        return []
    return [f for f in facts if f.text == best]


def _is_open(slots: set[tuple[str, str]]) -> bool:
    return all(relation == "about" for _, relation in slots)
