"""Shells complete commands and options: the script that `ltm --show-completion` prints is run by the shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BASH = """
source {script}
COMP_WORDS=({words}) COMP_CWORD={place}
_ltm_completion ltm
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ defined="$*" }}
compadd() {{ }}
_arguments() {{ printf '%s\\n' "$*" }}
source {script}
words=({words}) CURRENT={place}
_ltm_completion
"""


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment with `ltm` on its path."""
    program = tmp_path / "bin" / "ltm"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ltm_core.cli "$@"\n', "utf-8")
    program.chmod(0o700)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}


def run(code: str, name: str, environment: dict[str, str]) -> list[str]:
    flags = ["-f"] if name == "zsh" else ["--norc"]
    done = subprocess.run(
        [name, *flags, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def script(name: str, folder: Path, environment: dict[str, str]) -> Path:
    done = subprocess.run(
        ["ltm"], env={**environment, "_LTM_COMPLETE": f"source_{name}"}, capture_output=True, text=True, check=True
    )
    path = folder / name
    path.write_text(done.stdout, "utf-8")
    return path


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes(tmp_path: Path, shell: dict[str, str]) -> None:
    made = script("bash", tmp_path, shell)
    commands = run(BASH.format(script=made, words="ltm re", place=1), "bash", shell)
    assert {"replay", "recall", "restore", "reembed"} <= set(commands) and all(c.startswith("re") for c in commands)
    assert run(BASH.format(script=made, words="ltm facts --sess", place=2), "bash", shell) == ["--session"]
    assert run(BASH.format(script=made, words="ltm keys re", place=2), "bash", shell) == ["revoke"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_completes(tmp_path: Path, shell: dict[str, str]) -> None:
    made = script("zsh", tmp_path, shell)
    (line,) = run(ZSH.format(script=made, words="ltm fac", place=2), "zsh", shell)
    assert '"facts"' in line and "What is known of the user" in line
