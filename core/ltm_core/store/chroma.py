"""Chroma as a vector index: in this process with a folder per collection, or on a `chroma run` server.

A folder per collection, because Chroma keeps deleted vectors in its files: removing the folder is the only erasure.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_core.errors import MissingExtraError, UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = "chroma"
_COLLECTION = "vectors"
_BATCH = 2000
"""Vectors per call; Chroma takes 5,461 at most and is slower with more."""
SPACE: dict[str, dict[str, object]] = {"hnsw": {"space": "cosine"}}
"""How a collection compares and keeps its vectors."""


def require_chroma() -> Any:
    """The package; MissingExtraError without it."""
    try:
        import chromadb
    except ImportError:
        raise MissingExtraError("vectors in Chroma", "chroma") from None
    return chromadb


class ChromaCollection:
    """One collection; `ltm_core.store.external.Collection`. Calls of threads follow one another."""

    def __init__(self, collection: Any, client: Any = None, *, new_in: Path | None = None) -> None:
        """``new_in`` is the folder of a collection in this process that holds nothing yet."""
        self._collection = collection
        self._client = client
        self._new_in = new_in
        self._lock = threading.Lock()

    def upsert(self, items: Sequence[int], vectors: NDArray[np.float32]) -> None:
        begin = 0
        while begin < len(items):
            # The first goes alone: far from enough to be written as a graph, so that nobody else writes these files.
            part = slice(begin, begin + (_BATCH if self._new_in is None else 1))
            with self._lock:
                self._collection.upsert(ids=[str(i) for i in items[part]], embeddings=vectors[part])
                if self._new_in is not None:
                    _blank(self._new_in)
                    self._new_in = None
            begin = part.stop

    def delete(self, items: Sequence[int]) -> None:
        for begin in range(0, len(items), _BATCH):
            with self._lock:
                self._collection.delete(ids=[str(i) for i in items[begin : begin + _BATCH]])

    def query(self, vector: NDArray[np.float32], most: int) -> list[int]:
        with self._lock:
            found = self._collection.query(query_embeddings=[vector], n_results=most, include=[])
        return [int(i) for i in found["ids"][0]]

    def items(self) -> set[int]:
        with self._lock:
            return {int(i) for i in self._collection.get(include=[])["ids"]}

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None


class LocalChroma:
    """Collections in folders beside the database; `ltm_core.store.external.VectorHost`."""

    name = "chroma"
    local = True

    def __init__(self, directory: Path) -> None:
        self._root = directory / FOLDER

    def create(self, name: str) -> ChromaCollection:
        try:
            self._root.mkdir(mode=0o700, exist_ok=True)
            (self._root / name).mkdir(mode=0o700)
        except OSError as e:
            raise UnavailableError(f"{self._root} cannot be written: {e.strerror}") from e
        client = self._client(name)
        made = client.create_collection(_COLLECTION, embedding_function=None, configuration=SPACE)
        return ChromaCollection(made, client, new_in=self._root / name)

    def open(self, name: str) -> ChromaCollection:
        client = self._client(name)
        return ChromaCollection(client.get_collection(_COLLECTION, embedding_function=None), client)

    def remove(self, name: str) -> None:
        shutil.rmtree(self._root / name, ignore_errors=True)
        if (self._root / name).exists():
            raise UnavailableError(f"{self._root / name} cannot be removed")

    def names(self) -> set[str]:
        return {p.name for p in self._root.iterdir()} if self._root.is_dir() else set()

    def close(self) -> None:
        """Each collection has its own files and is closed by itself."""

    def _client(self, name: str) -> Any:
        chromadb = require_chroma()
        # The default looks for settings in the working directory, and would tell its makers of the use.
        settings = chromadb.config.Settings(anonymized_telemetry=False, is_persistent=True, _env_file=None)
        return chromadb.PersistentClient(path=os.fspath(self._root / name), settings=settings)


def _blank(folder: Path) -> None:
    """The files of graphs without a node hold zeros.

    With its first vector a collection writes the memory kept for a graph of a hundred nodes, as it was allocated:
    whatever this process has freed before stands in it, an erased vector too (seen with Chroma 1.5.9). What is
    written later ends with the last node.
    """
    for links in folder.glob("*/link_lists.bin"):
        if links.stat().st_size == 0:  # each node has an entry here
            for name in ("data_level0.bin", "length.bin"):
                path = links.with_name(name)
                path.write_bytes(bytes(path.stat().st_size))


class ChromaServer:
    """Collections on a `chroma run` server; `ltm_core.store.external.VectorHost`."""

    local = False

    def __init__(self, host: str, port: int, *, prefix: str) -> None:
        self.name = f"chroma://{host}:{port}"
        self._prefix = prefix
        chromadb = require_chroma()
        try:
            settings = chromadb.config.Settings(anonymized_telemetry=False, _env_file=None)
            self._client = chromadb.HttpClient(host=host, port=port, settings=settings)
        except Exception as e:
            raise UnavailableError(f"no Chroma server answers at {host}:{port}: {type(e).__name__}") from e

    def create(self, name: str) -> ChromaCollection:
        return ChromaCollection(
            self._client.create_collection(self._prefix + name, embedding_function=None, configuration=SPACE)
        )

    def open(self, name: str) -> ChromaCollection:
        return ChromaCollection(self._client.get_collection(self._prefix + name, embedding_function=None))

    def remove(self, name: str) -> None:
        if name in self.names():
            self._client.delete_collection(self._prefix + name)

    def names(self) -> set[str]:
        found = (c.name for c in self._client.list_collections())
        return {n.removeprefix(self._prefix) for n in found if n.startswith(self._prefix)}

    def close(self) -> None:
        """The connection is closed."""
        # Chroma's own close leaves the sockets to the collector.
        for part in (self._client, getattr(self._client, "_admin_client", None)):
            session = getattr(getattr(part, "_server", None), "_session", None)
            if session is not None:
                session.close()
        self._client.close()


__all__ = ["FOLDER", "ChromaServer", "LocalChroma", "require_chroma"]
