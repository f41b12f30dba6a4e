from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.testing.embedders import HashEmbedder

# Without a host its adapter cannot be tested; `make test-bare` runs without any.
collect_ignore = [
    file
    for package, files in {
        "langchain_classic": ["test_langchain_conversation.py"],
        "langchain_core": ["test_langchain_extractor.py"],
        "llama_index": ["test_llamaindex_memory.py", "test_llamaindex_extractor.py"],
    }.items()
    if find_spec(package) is None
    for file in files
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder=HashEmbedder(), timezone="UTC") as opened:
        yield opened
