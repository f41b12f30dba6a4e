"""Short English lives in many voices: what is known at the end, what is anchored, nothing ended without cause.

The floors are what was reached when they were last raised, less one story; a change may not fall below them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm_core.embed.resolve import resolve_embedder
from ltm_core.stories import load, macro, score_all

STORIES = Path(__file__).parent / "stories_told_en.jsonl"


@pytest.mark.counts
def test_told_stories_stay_above_their_floors() -> None:
    scores = score_all(load(STORIES), embedder=resolve_embedder(None))
    failures = "\n".join(line for s in scores.values() for line in s.failures)
    reached = macro(scores, "en")
    assert reached["crashes"] == reached["collateral"] == 0, failures
    assert reached["recall"] >= 0.94, failures
    assert reached["stale"] <= 0.1, failures
    assert reached["anchor_recall"] >= 0.88, failures
    assert reached["anchor_precision"] >= 0.98, failures
