"""A row of an import that was found to be new, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.store.base import Writer

ERASED = "erased by the user (after_erasure='allow' brings it back)"
Vectors: TypeAlias = Mapping[str, "NDArray[np.float32]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """One row to write, and the texts whose vectors it wants."""

    kind: str
    key: tuple[Any, ...]
    write: Callable[[Writer, Vectors], object]
    texts: tuple[str, ...] = ()


__all__ = ["ERASED", "Ready", "Vectors"]
