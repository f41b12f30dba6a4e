"""The demo tells its story, keeps every promise in it, and says so with its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ltm_core.commands import demo
from ltm_core.commands.demo_scan import places
from ltm_core.commands.demo_story import KEPT, SECRETS, STORY


def test_the_demo_keeps_its_promises(tmp_path: Path) -> None:
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "ltm_core.cli", "demo"],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path), "LC_ALL": "C"},
    )
    text = done.stdout.decode("utf-8")
    assert done.returncode == 0, text[-3000:] + done.stderr.decode("utf-8")
    assert "✗" not in text and "Everything was as promised" in text
    assert all(tier in text for tier in ("semantic", "episodic", "working", "tokens:"))
    assert "replaced" in text and "retracted" in text
    assert not list(tmp_path.iterdir()), "the temporary store is gone"
    assert time.monotonic() - started < 60
    assert done.stderr == b""


def test_an_unmet_expectation_fails_the_demo() -> None:
    checks = demo.Checks()
    checks.that("water is wet", True)
    checks.that("the moon is cheese", False)
    assert (checks.met, checks.close()) == (1, 1)


def test_the_demo_counts_words_in_every_way_they_may_stand(tmp_path: Path) -> None:
    assert places(tmp_path, KEPT) == 0
    ways = [KEPT.encode(), KEPT.encode("utf-16-le"), KEPT.encode("utf-16-be"), b"\\u82cf\\u5dde"]
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(b" ".join(ways))
    assert places(tmp_path, KEPT) == 4
    (tmp_path / "other").write_bytes(b"lisbon LISBON Lisbon")
    assert places(tmp_path, "Lisbon") == 3


@pytest.mark.parametrize("word", SECRETS)
def test_every_secret_is_said_by_ana_alone(word: str) -> None:
    assert any(word in said.text for said in STORY if said.user == "ana")
    assert not any(word in said.text for said in STORY if said.user != "ana")
