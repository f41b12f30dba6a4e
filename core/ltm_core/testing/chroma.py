"""Chroma under test: memories whose vectors are in it, and what must be true of them. Needs the extra `chroma`.

Every user is covered, and Chroma writes its files after a few vectors instead of a thousand, so that a short test
meets what a long life does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chromadb  # noqa: F401  whoever forks this process has it

from ltm_core.config import Config
from ltm_core.memory import LongTermMemory
from ltm_core.store import chroma
from ltm_core.store.external import host_of
from ltm_core.store.sql.external import ExternalVectors
from ltm_core.store.sqlite import SqliteStore, open_store
from ltm_core.testing.clock import Clock
from ltm_core.testing.crash_work import Opener
from ltm_core.testing.embedders import HashEmbedder

_OFTEN: dict[str, dict[str, object]] = {"hnsw": {"space": "cosine", "sync_threshold": 6, "batch_size": 2}}


def opened(
    place: Path, clock: Clock, new_id: Callable[[], str], /, vectors: str = "chroma", **options: Any
) -> LongTermMemory:
    """A memory of which every user is searched through Chroma."""
    chroma.SPACE.update(_OFTEN)
    given: dict[str, Any] = {"embedder": HashEmbedder(), "timezone": "UTC", "external_vectors_from": 1, **options}
    return LongTermMemory.open(place, clock=clock, new_id=new_id, vectors=vectors, **given)


def opening(vectors: str) -> Opener:
    """`opened` with the vectors there."""
    return functools.partial(opened, vectors=vectors)


def settled_store(path: Path, *, vectors: str = "chroma", at_least: int = 1) -> SqliteStore:
    """A store whose index has heard of every commit before the next call."""
    store = open_store(path, config=Config.make())
    host = host_of(vectors, store.directory, store.name)
    if host is None:
        raise ValueError(f"{vectors!r} is no external index")
    index = store.attach(host, at_least=at_least, candidates=512)

    def settle() -> None:
        while index.step():
            pass

    store.on_index_change = settle
    return store


def store_of(memory: LongTermMemory) -> SqliteStore:
    """The store under the memory."""
    store = memory._runtime.store
    assert isinstance(store, SqliteStore)
    return store


def settle(memory: LongTermMemory) -> None:
    """The index has heard of everything, and every user is covered."""
    index = store_of(memory).core.attached.index
    assert isinstance(index, ExternalVectors) and index.owned
    while index.step():
        pass


def agrees(memory: LongTermMemory) -> None:
    """Raises AssertionError unless the index holds exactly the vectors of the store, of every user, and is asked."""
    settle(memory)
    store = store_of(memory)
    index = store.core.attached.index
    assert isinstance(index, ExternalVectors)
    with store.connection() as conn:
        truth: dict[int, set[int]] = {}
        for (id,) in conn.execute("SELECT id FROM vectors"):
            truth.setdefault(id >> 32, set()).add(id & 0xFFFFFFFF)
        covered = {r[0] for r in conn.execute("SELECT user_no FROM users WHERE chunk_count > 0")}
        assert conn.execute("SELECT count(*) FROM outbox").fetchone() == (0,)
    held = {no: collection.items() for no, (_, collection) in index._open.items()}
    assert {no: items for no, items in held.items() if items} == truth
    assert set(held) == covered and not index._broken
    assert index.host.names() == {name for name, _ in index._open.values()}
    for user in store.operations().users():
        with store.read(user) as reader:
            assert reader.lean or not reader.counts().get("chunks", 0)


def graph_files(place: Path) -> object:
    """What tells whether Chroma has written the files of its graphs: `CrashRun` kills then."""
    found = []
    for path in place.glob(f"{chroma.FOLDER}/*/*/*"):
        try:
            found.append((path.name, path.stat().st_mtime_ns))
        except FileNotFoundError:
            continue
    return sorted(found)


__all__ = ["agrees", "graph_files", "opened", "opening", "settle", "settled_store", "store_of"]
