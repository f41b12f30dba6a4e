"""What the gate is told of a clause besides its words: its vector and the clauses beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ltm_core.write.learned.gate import Side
from ltm_core.write.read.scopes import Read

Vectors: TypeAlias = Callable[[Sequence[str]], "NDArray[np.float32] | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """A clause's vector, if there is one, and the clauses beside it."""

    vector: NDArray[Any] | None = None
    before: Side | None = None
    after: Side | None = None


class Neighbours:
    """The vectors of clauses that may be facts, and of what stands beside them."""

    def __init__(self, reads: Sequence[Read], open_: Sequence[int], vectors: Vectors | None) -> None:
        heard = [i for i, r in enumerate(reads) if r.veto not in ("opener", "smalltalk") or len(reads) == 1]
        self._reads = reads
        self._after = dict(pairwise(heard))
        self._before = {after: before for before, after in self._after.items()}
        made = vectors([reads[i].clause.text for i in open_]) if vectors is not None and open_ else None
        self._vectors = {i: made[n] for n, i in enumerate(open_)} if made is not None else {}

    def of(self, i: int) -> Neighbourhood:
        """What the gate is told of a clause besides its words."""
        return Neighbourhood(
            vector=self._vectors.get(i), before=self._side(self._before.get(i)), after=self._side(self._after.get(i))
        )

    def _side(self, i: int | None) -> Side | None:
        if i is None:
            return None
        veto = bool(self._reads[i].veto)
        return Side(self._reads[i].flags, veto, None if veto else self._vectors.get(i))
