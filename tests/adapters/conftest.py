from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from inspect import iscoroutinefunction
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.testing.embedders import HashEmbedder

# Without a host its adapter cannot be tested; `make test-bare` runs without any.
collect_ignore = [
    file
    for package, files in {
        "langchain_classic": ["test_langchain_conversation.py"],
        "langchain": ["test_langchain_history.py", "test_langchain_middleware.py"],
        "langchain_community": ["test_langchain_import.py"],
        "langchain_tests": ["test_langchain_retriever.py"],
        "langchain_openai": ["test_langchain_examples.py"],
        "llama_index": ["test_llamaindex_memory.py"],
    }.items()
    if find_spec(package) is None
    for file in files
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Coroutine tests of the host's own suites run; ours start their loops themselves."""
    for item in items:
        if isinstance(item, pytest.Function) and iscoroutinefunction(item.function):
            item.add_marker("asyncio")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder=HashEmbedder(), timezone="UTC") as opened:
        yield opened
