from __future__ import annotations

import asyncio
import gc
import warnings
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
        "langchain_classic": ["test_langchain_conversation.py", "test_langchain_hostile.py"],
        "langchain": ["test_langchain_history.py", "test_langchain_middleware.py"],
        "langchain_community": ["test_langchain_import.py"],
        "langchain_tests": ["test_langchain_retriever.py"],
        "langchain_openai": ["test_langchain_examples.py"],
        "langgraph": ["test_langgraph_store.py"],
        "langserve": ["test_langserve.py"],
        "uvicorn": ["test_langserve.py"],
        "sse_starlette": ["test_langserve.py"],
        "llama_index": [
            "test_llamaindex_agents.py",
            "test_llamaindex_block.py",
            "test_llamaindex_chat_stores.py",
            "test_llamaindex_embedding.py",
            "test_llamaindex_examples.py",
            "test_llamaindex_extractor.py",
            "test_llamaindex_hostile.py",
            "test_llamaindex_importing.py",
            "test_llamaindex_memory.py",
            "test_llamaindex_query.py",
            "test_llamaindex_reports.py",
            "test_llamaindex_summarizer.py",
        ],
        "langchain_core": ["test_langchain_extractor.py", "test_langchain_summarizer.py"],
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


@pytest.fixture(scope="module", autouse=True)
def leftovers() -> Iterator[None]:
    """What a host left unclosed goes here, not in some later test."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


_ABOUT_ITSELF = (
    # Event loops and database connections that the host leaves unclosed.
    "ignore:unclosed:ResourceWarning",
    "ignore:.*was deleted before being closed:ResourceWarning",
    "ignore:Exception in thread .*_connection_worker_thread:pytest.PytestUnhandledThreadExceptionWarning",
    # The host imports LangChain's packages when they are there, and one of them announces its end.
    "ignore:`langchain-community` is being sunset:DeprecationWarning",
    # Its workflows read deprecated attributes of pydantic models.
    "ignore:The `__fields__` attribute is deprecated",
    "ignore:The `__fields_set__` attribute is deprecated",
    "ignore:Accessing the 'model_",
    "ignore:is_running called from within a step:DeprecationWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """LlamaIndex warns of itself in whatever test runs it first."""
    for item in items:
        if item.path.name.startswith("test_llamaindex"):
            for warning in _ABOUT_ITSELF:
                item.add_marker(pytest.mark.filterwarnings(warning))
