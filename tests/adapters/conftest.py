from __future__ import annotations

import asyncio
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
        "langgraph": ["test_langgraph_store.py"],
        "langserve": ["test_langserve.py"],
        "uvicorn": ["test_langserve.py"],
        "sse_starlette": ["test_langserve.py"],
    }.items()
    if find_spec(package) is None
    for file in files
]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Coroutine tests of the suites that a host ships run, each in a loop of its own; no plugin is needed."""
    if not iscoroutinefunction(pyfuncitem.function):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder=HashEmbedder(), timezone="UTC") as opened:
        yield opened
