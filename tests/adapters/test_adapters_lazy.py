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
    hosts = ("langchain_core", "langchain_classic", "llama_index", "torch")
    code = f"import sys, langchain_ltm, llamaindex_ltm; print([m for m in {hosts} if m in sys.modules])"
    assert run(code) == "[]"


@pytest.mark.parametrize(
    ("package", "name", "host", "extra"),
    [
        ("langchain_ltm", "ChatModelExtractor", "langchain_core", "langchain"),
        ("langchain_ltm", "LTMConversationMemory", "langchain_core", "langchain"),
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
