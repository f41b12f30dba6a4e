"""Stories of several sessions, labelled by hand: how much of what must be true afterwards is true.

The floors are what was reached when they were last raised; a change may not fall below them. Nothing may crash.
"""

from __future__ import annotations

import importlib.util
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory

HERE = Path(__file__).parent
FLOORS = {"zh": 0.85, "en": 0.86}
"""Share of the checks that hold."""


def _runner() -> Any:
    spec = importlib.util.spec_from_file_location("buglog_runner", HERE / "buglog_runner.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.counts
@pytest.mark.parametrize("language", sorted(FLOORS))
def test_stories_hold(language: str, tmp_path: Path) -> None:
    runner = _runner()
    held = total = 0
    failed: list[str] = []
    for story in runner.load(HERE / f"stories_{language}.yaml"):
        clock = runner.Clock(datetime(2025, 6, 2, 10, tzinfo=UTC), timedelta(seconds=1))
        place = tmp_path / story["id"]

        def reopen(place: Path = place, clock: Any = clock) -> LongTermMemory:
            return LongTermMemory.open(place, clock=clock, timezone="UTC")

        play = runner.Play(reopen=reopen, clock=clock)
        play.run(story["in"])
        for kind, user, wanted in story["right"]:
            total += 1
            try:
                play.check(kind, user, wanted)
                held += 1
            except AssertionError as e:
                failed.append(f"{story['id']} {story['kind']}: {str(e)[:160]}")
        play.memory.close()
    print(f"{language}: {held} of {total} checks hold")
    assert held >= FLOORS[language] * total, "\n".join(failed)
