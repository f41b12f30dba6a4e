"""The vectors of one call: each text is embedded once, in as few batches as can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ltm_core.write.learned.layers import Cut, Pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.runtime import Runtime

GATE_MODEL = "use-multilingual-v3/"
"""The embedder whose vectors the learned gate knows; with any other one its n-gram half decides alone."""


@lru_cache(maxsize=64)
def pieces_of(text: str) -> Pieces:
    """The pieces of a text as that embedder reads them, 0.1 ms; the last texts are remembered, as facts are looked at
    again and again."""
    from ltm_core.embed.use import pieces

    return Pieces(*pieces(text))


def cut_of(runtime: Runtime) -> Cut | None:
    """What cuts a text into the pieces that the nets read; None when the embedder is one that the learned models do
    not know."""
    return pieces_of if runtime.embedder.name.startswith(GATE_MODEL) else None


class Vectors:
    """Vectors by text, made when they are first asked for."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._known: dict[str, NDArray[np.float32]] = {}
        self._waiting: dict[str, None] = {}
        self._down = False

    def expect(self, texts: Sequence[str]) -> None:
        """These texts are embedded together with the next ones asked for."""
        self._waiting.update(dict.fromkeys(texts))

    def know(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Vectors that the store holds already."""
        self._known.update(vectors)

    def of(self, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Vectors of these texts and all known ones; some are missing while the embedder is down."""
        self._waiting.update(dict.fromkeys(texts))
        wanted = [t for t in self._waiting if t not in self._known]
        self._waiting.clear()
        if wanted and not self._down:
            matrix = self._runtime.embed(wanted)
            # One failed call is enough: the others would only make the user wait.
            self._down = matrix is None
            if matrix is not None:
                self._known.update(zip(wanted, matrix, strict=True))
        return self._known

    @property
    def for_gate(self) -> Callable[[Sequence[str]], NDArray[np.float32] | None] | None:
        """What the gate calls for the vectors of clauses; None when it does not know this embedder's."""
        return self._matrix if cut_of(self._runtime) is not None else None

    def _matrix(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        import numpy as np

        known = self.of(texts)
        return np.stack([known[t] for t in texts]) if all(t in known for t in texts) else None
