"""Embeddings from any server that speaks the OpenAI protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from ltm_core.embed._http import JsonClient, host_of, key_header
from ltm_core.errors import ConfigError, UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH = 64  # texts per request: every server takes as many, and one lost request loses little
_SPEC = "openai:<base url>#<model>[?dimensions=<n>]"


class OpenAICompatibleEmbedder:
    """POSTs to ``{base_url}/embeddings``.

    ``name`` is the model's name alone: the same model behind another address makes the same vectors.
    ``dimension`` is ``dimensions`` if given (the server is then asked for it), else found by embedding
    one word at the first need. The key is ``api_key`` or the environment's ``OPENAI_API_KEY``, read at
    each call; without one no Authorization header is sent. It never shows in a name, repr or error.

    Raises UnavailableError when the server cannot be reached, refuses, or answers something else than
    one vector of the right length for each text, after ``retries`` more tries where these may help.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        dimensions: int | None = None,
        api_key: str | None = None,
        max_tokens: int = 512,
        connect_timeout: float = 5.0,
        read_timeout: float = 30.0,
        retries: int = 2,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        host = host_of(base_url, _SPEC)
        if not model.strip():
            raise ConfigError(f"a model is needed: {_SPEC}")
        if dimensions is not None and dimensions < 1:
            raise ConfigError("dimensions must be at least 1")
        self.name = f"openai:{model.strip()}"
        self.max_tokens = max_tokens
        self._model = model.strip()
        self._asked = dimensions
        self._dimension = dimensions or 0
        self._api_key = api_key
        self._where = f"embedding server {host}"
        self._client = JsonClient(
            base_url,
            label=self._where,
            connect_timeout=connect_timeout,
            read_timeout=read_timeout,
            retries=retries,
            sleep=sleep,
        )

    @classmethod
    def from_spec(cls, spec: str) -> OpenAICompatibleEmbedder:
        """From ``<base url>#<model>[?dimensions=<n>]``."""
        base_url, _, rest = spec.rpartition("#")
        model, _, query = rest.partition("?")
        options = parse_qs(query, keep_blank_values=True)
        dimensions = options.pop("dimensions", None)
        if not base_url or options:
            raise ConfigError(f"not of the form {_SPEC}")
        if dimensions is None:
            return cls(base_url, model)
        if not (dimensions[0].isascii() and dimensions[0].isdigit()):
            raise ConfigError("dimensions must be a whole number")
        return cls(base_url, model, dimensions=int(dimensions[0]))

    def __repr__(self) -> str:
        return f"OpenAICompatibleEmbedder({self.name!r})"

    @property
    def dimension(self) -> int:
        if not self._dimension:
            self._request(["dimension"])
        return self._dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(len(texts), dimension)``, as the server answered, in the order of the texts."""
        import numpy as np

        rows: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            rows += self._request(list(texts[start : start + _BATCH]))
        with np.errstate(over="ignore"):  # too large for float32 becomes infinity, which `checked` reports
            return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """``(dimension,)``."""
        row: NDArray[np.float32] = self.embed_documents([text])[0]
        return row

    def _request(self, texts: list[str]) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._model, "input": texts}
        if self._asked is not None:
            body["dimensions"] = self._asked
        rows = _rows_in_order(self._client.post("embeddings", body, key_header(self._api_key)), len(texts))
        if rows is None:
            raise UnavailableError(f"{self._where} did not answer one vector for each of {len(texts)} texts")
        expected = self._dimension or len(rows[0])
        for row in rows:
            if len(row) != expected:
                raise UnavailableError(f"{self._where} answered {len(row)} dimensions, not {expected}")
        self._dimension = expected
        return rows


def _rows_in_order(answer: Any, count: int) -> list[list[float]] | None:
    """The vectors of an answer in the order of the texts, or None if it is not what was asked for."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or len(data) != count or not all(isinstance(item, dict) for item in data):
        return None
    # Some servers leave the index out; then the order is that of the texts.
    places = [item.get("index", place) for place, item in enumerate(data)]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        return None
    rows: list[list[float]] = [[]] * count
    for place, item in zip(places, data, strict=True):
        row = item.get("embedding")
        if not isinstance(row, list) or not row or not all(type(number) in (int, float) for number in row):
            return None
        rows[place] = row
    return rows
