"""What the pages say is true: their examples run, their links lead somewhere, their commands exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ltm_core.cli import app

ROOT = Path(__file__).parents[1]
READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")})
SITES = {"keepachangelog.com", "127.0.0.1:8080", "127.0.0.1:8710"}
"""What pages may link to: everything else is in the repository or found by its name."""
HOSTS = {"langchain_classic": "langchain", "llama_index": "llamaindex"}


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    return sorted(c.name or c.callback.__name__ for c in app.registered_commands if c.callback is not None)


def model_for(code: str) -> Any:
    """The scripted model that stands for the reader's own."""
    if "langchain_classic" in code:
        from ltm_core.testing.langchain_model import ScriptedChatModel

        return ScriptedChatModel(reply=lambda messages: "I see.")
    if "llama_index" in code:
        from ltm_core.testing.llamaindex_model import ScriptedLLM

        return ScriptedLLM(reply=lambda messages: "I see.")
    return None


EXAMPLES = [(p, i) for p in READMES for i in range(len(blocks(p, "python")))]


@pytest.mark.parametrize(("path", "index"), EXAMPLES, ids=[f"{p.name}-{i}" for p, i in EXAMPLES])
def test_examples_run(
    path: Path, index: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = blocks(path, "python")[index]
    for package in HOSTS:
        if package in code and find_spec(package) is None:
            pytest.skip(f"needs {package}")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        names["llm"] = model_for(code)
        for package in (p for p in HOSTS if p in code):
            import_module(package)
        # The host deprecates the classes that the example is about, and sets its own filter when it is imported.
        warnings.simplefilter("ignore")
        exec(compile(code, f"{path.name}#{index}", "exec"), names)
    names["memory"].close()
    shown = capsys.readouterr().out
    if index == 0:
        city, old = ("Porto", "Lisbon") if path.name == "README.md" else ("苏州", "杭州")
        assert shown.startswith("<memory ") and city in shown
        assert re.search(rf"^user lives_in {city}$", shown, re.MULTILINE)
        assert not re.search(rf"^user lives_in {old}$", shown, re.MULTILINE)
        assert shown.rstrip().endswith("True")
    else:
        assert "I see." in shown


def test_both_readmes_have_the_same_shape() -> None:
    english, chinese = (p.read_text(encoding="utf-8") for p in READMES)
    for pattern in (r"^#+ ", r"^\|", r"^- ", r"^```"):
        assert len(re.findall(pattern, english, re.M)) == len(re.findall(pattern, chinese, re.M)), pattern
    assert set(re.findall(r"\]\(([^)]+)\)", english)) - {"README.zh-CN.md"} == (
        set(re.findall(r"\]\(([^)]+)\)", chinese)) - {"README.md"}
    )


@pytest.mark.parametrize("path", PAGES, ids=[p.relative_to(ROOT).as_posix() for p in PAGES])
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


@pytest.mark.parametrize("path", READMES, ids=lambda p: p.name)
def test_every_command_is_in_the_readme(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [c for c in commands() if f"`ltm {c}" not in text] == []


@pytest.mark.parametrize("name", ["", *commands()])
def test_every_command_and_option_has_help(name: str) -> None:
    done = CliRunner().invoke(app, [*([name] if name else []), "--help"])
    assert done.exit_code == 0
    options = re.findall(r"^  (--?[a-z-]+)[^\n]*?(?:  +(\S.*))?$", done.output, re.MULTILINE)
    assert options


def test_every_verb_of_the_makefile_is_explained() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    verbs = next(line for line in text.splitlines() if line.startswith(".PHONY")).split()[1:]
    assert [v for v in verbs if v != "help" and not re.search(rf"^#   make {v}\s", text, re.MULTILINE)] == []


def test_every_option_of_the_configuration_is_described() -> None:
    from ltm_core.config import Config

    assert [n for n, f in Config.model_fields.items() if not f.description] == []


@pytest.mark.parametrize("path", PAGES, ids=[p.relative_to(ROOT).as_posix() for p in PAGES])
def test_pages_name_no_place_to_download_from(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    hosts = set(re.findall(r"https?://([^/\s#`\")]+)", text)) - SITES
    paths = re.findall(r"(?<![\w.:/-])/(?:home|root|tmp|work|Users)/\S*", text)
    assert (hosts, paths) == (set(), [])
    assert [w for w in ("index-url", "TODO", "BENCHTABLE") if w in text] == []


def test_the_benchmark_of_the_readme_starts() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.latency", "--help"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "core"), str(ROOT)])},
    )
    assert done.returncode == 0 and "--quick" in done.stdout
