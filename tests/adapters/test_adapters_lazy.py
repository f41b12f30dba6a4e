"""What importing an adapter costs, and what it says when its host is missing. Runs without any host."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    return done.stdout.strip()


def test_importing_the_adapters_loads_no_host() -> None:
    hosts = ("langchain", "langchain_core", "langchain_classic", "langgraph", "langserve", "llama_index", "torch")
    code = f"import sys, langchain_ltm, llamaindex_ltm; print([m for m in {hosts} if m in sys.modules])"
    assert run(code) == "[]"


@pytest.mark.parametrize(
    ("package", "name", "host", "extra"),
    [
        ("langchain_ltm", "ChatModelExtractor", "langchain_core", "langchain"),
        ("langchain_ltm", "LTMConversationMemory", "langchain_core", "langchain"),
        ("langchain_ltm", "LTMStore", "langgraph", "langchain"),
        ("langchain_ltm", "LTMMiddleware", "langchain", "langchain"),
        ("langchain_ltm", "LTMMiddleware", "langgraph", "langchain"),
        ("langchain_ltm", "LTMRetriever", "langchain_core", "langchain"),
        ("llamaindex_ltm", "LLMExtractor", "llama_index", "llamaindex"),
        ("llamaindex_ltm", "LTMMemory", "llama_index", "llamaindex"),
    ],
)
def test_a_missing_host_is_named(package: str, name: str, host: str, extra: str) -> None:
    code = f"""
import sys
sys.modules[{host!r}] = None
from ltm_core.errors import MissingExtraError
try:
    from {package} import {name}
except MissingExtraError as e:
    print(e.extra, e)
try:
    from {package} import Nothing
except ImportError as e:
    print(type(e).__name__)
"""
    first, second = run(code).splitlines()
    assert first.startswith(f"{extra} {package}.{name}")
    assert f'pip install "ltm-core[{extra}]"' in first
    assert second == "ImportError"


def test_a_name_brings_only_what_it_needs() -> None:
    pytest.importorskip("langchain_core")
    names = "LTMRetriever, ltm_tools, ltm_history_factory, ltm_recall, import_history"
    code = f"import sys; from langchain_ltm import {names}; print([m for m in {{}} if m in sys.modules])"
    agents = ("langchain", "langchain_classic", "langgraph")
    assert run(code.replace("{}", repr(agents))) == "[]"


def test_every_name_is_found() -> None:
    for host in ("langchain", "langchain_classic", "langgraph"):
        pytest.importorskip(host)
    code = "import langchain_ltm as l; print([n for n in l.__all__ if not hasattr(l, n)], {*l.__all__} == {*l._HOME})"
    assert run(code) == "[] True"


@pytest.mark.parametrize(
    ("package", "host"), [("langchain_ltm", "langchain_core"), ("llamaindex_ltm", "llama_index")]
)
def test_every_name_is_there(package: str, host: str) -> None:
    pytest.importorskip(host)
    code = f"import {package} as p; print([n for n in p.__all__ if n not in dir(p) or getattr(p, n).__name__ != n])"
    assert run(code) == "[]"
