"""Public bug reports, played as they were reported."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory

HERE = Path(__file__).parent


def _runner() -> Any:
    spec = importlib.util.spec_from_file_location("buglog_runner", HERE / "buglog_runner.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


runner = _runner()
CASES = runner.load(HERE / "buglog.yaml")
SPOKEN = {"say", "bot", "sys", "tool", "now", "ask", "restart"}
PLAYED = [c for c in CASES if all(step[0] in SPOKEN for step in c["in"])]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Any]:
    clock = runner.Clock(datetime(2025, 6, 2, 10, tzinfo=UTC), timedelta(seconds=1))

    def reopen() -> LongTermMemory:
        return LongTermMemory.open(tmp_path / "store", clock=clock, timezone="UTC")

    started = runner.Play(reopen=reopen, clock=clock)
    yield started
    started.memory.close()


@pytest.mark.parametrize("case", PLAYED, ids=[c["id"] for c in PLAYED])
def test_case(case: dict[str, Any], play: Any) -> None:
    play.run(case["in"])
    for kind, user, wanted in case["right"]:
        play.check(kind, user, wanted)


def test_most_cases_are_played() -> None:
    assert len(PLAYED) >= 20
