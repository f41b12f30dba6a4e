"""No vectors at all: recall by keywords only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class NoEmbedder:
    """Dimension 0: callers that see it neither store nor compare vectors."""

    name = "none"
    dimension = 0
    max_tokens = 1

    def __repr__(self) -> str:
        return "NoEmbedder()"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(len(texts), 0)``."""
        import numpy as np

        return np.zeros((len(texts), 0), dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """``(0,)``."""
        import numpy as np

        return np.zeros(0, dtype=np.float32)
