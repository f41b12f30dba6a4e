"""Models of the sentence-transformers package, by name or from a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_core.errors import ConfigError, MissingExtraError, UnavailableError
from ltm_core.forklock import ForkSafeLock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_TOKENS = 2048  # long-context models read more, but time and memory grow with it, and chunks are short
_FALLBACK_TOKENS = 512  # when the model does not say
_SAMPLES, _SAMPLE_BYTES = 16, 65_536


class SentenceTransformerEmbedder:
    """A SentenceTransformer, loaded at the first use of ``dimension``, ``max_tokens`` or a vector.

    ``model`` is a name (``owner/model`` or ``owner/model@revision``) or a folder. Code inside the model
    is never run. A model's own prompts for queries and documents are used. ``local_files_only=True``
    forbids downloads; the package's own environment variables count too. Calls from several threads
    take turns. Load it after forking, not before: torch's threads do not survive a fork.

    ``name`` holds the revision if one was given; for a folder its last part and a fingerprint of the
    files, so that it is the same on another machine and another after the model was trained further.
    """

    def __init__(
        self,
        model: str,
        *,
        device: str | None = None,
        local_files_only: bool = False,
        max_tokens: int = _MAX_TOKENS,
    ) -> None:
        if not model.strip():
            raise ConfigError("sentence-transformers: needs the name of a model or a folder")
        if find_spec("sentence_transformers") is None:
            raise MissingExtraError("a sentence-transformers model", "sentence-transformers")
        self._source = model.strip()
        self._device = device
        self._local_files_only = local_files_only
        self._limit = max_tokens
        self._lock = ForkSafeLock()
        self._name = ""
        self._model: Any = None

    def __repr__(self) -> str:
        return f"SentenceTransformerEmbedder({Path(self._source).name!r})"

    @property
    def name(self) -> str:
        if not self._name:
            folder = Path(self._source).expanduser()
            self._name = "sentence-transformers:" + (
                f"{folder.resolve().name}@{_fingerprint(folder)}" if folder.is_dir() else self._source
            )
        return self._name

    @property
    def dimension(self) -> int:
        model = self._loaded()
        # Renamed in version 5; the old name warns there.
        ask = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        value = ask()
        if not value:
            raise UnavailableError(f"{self.name} does not tell its dimension")
        return int(value)

    @property
    def max_tokens(self) -> int:
        return min(int(self._loaded().max_seq_length or _FALLBACK_TOKENS), self._limit)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(len(texts), dimension)``, rows of length 1."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return self._encode("document", ("document", "passage", "corpus"), list(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """``(dimension,)``, of length 1."""
        row: NDArray[np.float32] = self._encode("query", ("query",), [text])[0]
        return row

    def _encode(self, role: str, prompts: tuple[str, ...], texts: list[str]) -> NDArray[np.float32]:
        import numpy as np

        model = self._loaded()
        options: dict[str, Any] = {
            "normalize_embeddings": True,
            "convert_to_numpy": True,
            "show_progress_bar": False,
        }
        encode = getattr(model, f"encode_{role}", None)  # since version 5
        if encode is None:
            encode = model.encode
            known = getattr(model, "prompts", None) or {}
            options["prompt_name"] = next((prompt for prompt in prompts if prompt in known), None)
        with self._lock:  # the tokenizer is not safe to share between threads
            return np.asarray(encode(texts, **options), dtype=np.float32)

    def _loaded(self) -> Any:
        if self._model is None:
            with self._lock:
                if self._model is None:
                    self._model = self._load()
        return self._model

    def _load(self) -> Any:
        from sentence_transformers import SentenceTransformer

        source, revision = str(Path(self._source).expanduser()), None
        if not Path(source).is_dir():
            source, _, revision = self._source.partition("@")
        try:
            return SentenceTransformer(
                source,
                revision=revision or None,
                device=self._device,
                local_files_only=self._local_files_only,
                trust_remote_code=False,
            )
        except (OSError, ValueError, RuntimeError, ImportError) as error:
            raise UnavailableError(f"{self.name} could not be loaded: {type(error).__name__}") from error


def _fingerprint(folder: Path) -> str:
    """Twelve hex digits that depend on the names, sizes and samples of the files that make the vectors.

    Samples, because reading gigabytes to name a model would take longer than loading it; training
    changes all of a weight file.
    """
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".safetensors", ".bin", ".onnx", ".json", ".model", ".txt") or not path.is_file():
            continue
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        with path.open("rb") as file:
            for index in range(_SAMPLES):
                start = index * size // _SAMPLES
                file.seek(start)
                digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()
