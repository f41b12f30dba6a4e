"""Chinese stories of daily life: what is known at the end and what was anchored. They were written before the write
path was changed for others of their kind, and not looked at while it was.

The floors are what was reached when they were last raised, less a little; a change may not fall below them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm_core.embed.resolve import resolve_embedder
from ltm_core.stories import Score, load, score

FLOORS = {"recall": 0.84, "anchor_recall": 0.80, "anchor_precision": 0.98}
STALE = 0.24
"""Most of what is over may still be shown."""
ENDED = 0
"""Most facts that may be ended although nothing said so."""


@pytest.mark.counts
def test_stories_of_daily_life_stay_above_their_floors() -> None:
    total = Score()
    for story in load(Path(__file__).parent / "stories_life_zh.jsonl"):
        total.add(score(story, embedder=resolve_embedder(None)))
    failures = "\n".join(total.failures)
    assert total.crashes == 0, failures
    assert total.ended <= ENDED, failures
    for name, floor in FLOORS.items():
        assert getattr(total, name) >= floor, failures
    assert total.stale_share <= STALE, failures
