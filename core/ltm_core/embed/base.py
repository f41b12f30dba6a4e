"""What an embedder is, how it is identified, and the guard that every embedder is called through."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ltm_core.embed.prepare import clean, shorten
from ltm_core.errors import ConfigError, InvalidInputError, LTMError, UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MEMBERS = ("name", "dimension", "max_tokens", "embed_documents", "embed_query")
MAX_NAME_LENGTH = 200


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors whose dot product tells how near their meanings are.

    Implementations are called from several threads at once. They may raise any exception; the product
    calls them through ``checked`` and sees UnavailableError. They need not clean, shorten or normalise.
    """

    @property
    def name(self) -> str:
        """The model with the version of its weights: the same in every process and on every machine."""
        ...

    @property
    def dimension(self) -> int:
        """Length of each vector; 0 means that there are no vectors. May load the model."""
        ...

    @property
    def max_tokens(self) -> int:
        """How much of a text the model reads; longer texts are shortened before the call. May load the model."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts that are to be found, shape ``(len(texts), dimension)``."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a text to find them with, shape ``(dimension,)``."""
        ...


def is_embedder(candidate: object) -> bool:
    """Whether it has the members of ``Embedder``, found without running any property.

    ``isinstance`` reads the properties on Python 3.11 and may so load a model.
    """
    absent = object()
    return all(inspect.getattr_static(candidate, member, absent) is not absent for member in _MEMBERS)


def identity(embedder: Embedder, *, template_version: int | str, chunker_version: int | str) -> str:
    """What a store's vectors were made by: the model, its dimension, the text template, the chunker.

    Two stores with the same identity hold comparable vectors. Reads ``dimension``, so it may load the
    model or call a server.
    """
    return f"{embedder.name}|{embedder.dimension}|t{template_version}|c{chunker_version}"


def checked(embedder: Embedder) -> Embedder:
    """The embedder behind a guard; a guarded one is returned as it is.

    Afterwards, for every input:
    - texts are cleaned (control characters, lone surrogates) and shortened to ``max_tokens``:
      documents keep their beginning, queries their beginning and end;
    - results are float32, finite, of shape ``(n, dimension)`` or ``(dimension,)``, the caller's own;
    - each vector has length 1, or is all zeros when the text is blank or the model found nothing in
      it. A zero vector is at cosine 0 from everything; a blank text never reaches the model;
    - ``[]`` gives ``(0, dimension)`` without calling the model.
    Raises InvalidInputError for what is not text, UnavailableError when the embedder fails or returns
    something else than it promised, ConfigError for an unusable ``name``, ``dimension`` or ``max_tokens``.
    """
    return embedder if isinstance(embedder, CheckedEmbedder) else CheckedEmbedder(embedder)


class CheckedEmbedder:
    """See ``checked``; ``inner`` is what it guards."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner

    def __repr__(self) -> str:
        return f"checked({self.inner!r})"

    @property
    def name(self) -> str:
        name = self.inner.name
        if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME_LENGTH or not name.isprintable():
            raise ConfigError(f"{type(self.inner).__name__}.name must be 1 to {MAX_NAME_LENGTH} printable characters")
        return name

    @property
    def dimension(self) -> int:
        value = self._call(lambda inner: inner.dimension, self.inner)
        return self._whole_number("dimension", value, least=0)

    @property
    def max_tokens(self) -> int:
        value = self._call(lambda inner: inner.max_tokens, self.inner)
        return self._whole_number("max_tokens", value, least=1)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if isinstance(texts, str):
            raise InvalidInputError("embed_documents takes a sequence of texts, not one text")
        limit = self.max_tokens
        ready = [shorten(clean(text), limit) for text in texts]
        filled = [index for index, text in enumerate(ready) if text]
        result = np.zeros((len(ready), self.dimension), dtype=np.float32)
        if filled and self.dimension:
            given = self._call(self.inner.embed_documents, [ready[index] for index in filled])
            result[filled] = self._unit_rows(given, len(filled))
        return result

    def embed_query(self, text: str) -> NDArray[np.float32]:
        import numpy as np

        ready = shorten(clean(text), self.max_tokens, keep_end=True)
        if not ready or not self.dimension:
            return np.zeros(self.dimension, dtype=np.float32)
        given = self._call(self.inner.embed_query, ready)
        row: NDArray[np.float32] = self._unit_rows([given], 1)[0]
        return row

    def _whole_number(self, what: str, value: object, *, least: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(f"{type(self.inner).__name__}.{what} must be a whole number of at least {least}")
        return value

    def _call(self, method: Any, argument: Any) -> Any:
        try:
            return method(argument)
        except LTMError:
            raise
        except Exception as error:
            # Its message is not repeated: it may hold the text or a key.
            raise UnavailableError(f"embedder {self.name!r} failed: {type(error).__name__}") from error

    def _unit_rows(self, given: Any, count: int) -> NDArray[np.float32]:
        import numpy as np

        expected = (count, self.dimension)
        try:
            rows = np.array(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise UnavailableError(f"embedder {self.name!r} did not return vectors of numbers") from error
        if rows.shape != expected:
            raise UnavailableError(f"embedder {self.name!r} returned shape {rows.shape}, not {expected}")
        if not np.isfinite(rows).all():
            raise UnavailableError(f"embedder {self.name!r} returned NaN or infinity")
        largest = np.abs(rows).max(axis=1, keepdims=True)
        largest[largest == 0] = 1
        rows /= largest  # first, so that the squares neither overflow nor vanish
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        length[length == 0] = 1
        rows /= length
        return rows.astype(np.float32)
