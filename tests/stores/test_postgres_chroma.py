"""A Chroma server beside the store in PostgreSQL: one process keeps the index, all others search exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory
from ltm_core.errors import ConfigError
from ltm_core.testing.embedders import HashEmbedder

pytestmark = pytest.mark.servers
TURNS = [f"The {place} is where I keep the {thing}." for place in ("attic", "cellar", "shed") for thing in
         ("lamp", "rope", "paint", "ladder", "drill")]  # fmt: skip


@pytest.fixture
def url(postgres_url: str, tmp_path: Path) -> str:
    return f"{postgres_url}?partitions=2&key_file={tmp_path / 'store.key'}"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def opened(stack: ExitStack, url: str, **options: Any) -> LongTermMemory:
    options = {"external_vectors_from": 5, "embedder": HashEmbedder(), "timezone": "UTC", **options}
    return stack.enter_context(LongTermMemory.open(url, **options))


def test_the_index_answers_as_exact_search_does(url: str, chroma_url: str, stack: ExitStack) -> None:
    exact = opened(stack, url)
    for i, text in enumerate(TURNS):
        exact.observe(user_id="ana", session_id="s", user=text, message_id=f"m{i}")
    wanted = [f.text for f in exact.search("Where is the ladder?", user_id="ana", top_k=5)]
    indexed = opened(stack, url, vectors=chroma_url)
    while indexed._runtime.store.operations().work_external():
        pass
    store: Any = indexed._runtime.store
    index = store.core.attached.index
    assert index.owned and len(index._open) == 1
    assert [f.text for f in indexed.search("Where is the ladder?", user_id="ana", top_k=5)] == wanted
    assert store.operations().external_drift(repair=False) == {}

    second = opened(stack, url, vectors=chroma_url)
    other: Any = second._runtime.store
    assert other.core.attached.index is None or not other.core.attached.index.owned
    second.observe(user_id="ana", session_id="s", user="The garage is where I keep the kayak.")
    while indexed._runtime.store.operations().work_external():
        pass
    assert "kayak" in next(iter(indexed.search("Where is the kayak?", user_id="ana", top_k=1))).text
    indexed.forget_user("ana")
    while indexed._runtime.store.operations().work_external():
        pass
    assert index._open == {} and list(indexed.search("ladder", user_id="ana", top_k=5)) == []


def test_an_index_in_files_needs_a_store_in_a_directory(url: str) -> None:
    pytest.importorskip("chromadb")
    with pytest.raises(ConfigError, match="name a server"):
        LongTermMemory.open(url, embedder=HashEmbedder(), vectors="chroma")
