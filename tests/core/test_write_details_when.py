"""When and how often something is done is over with it, if it was told without words of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed import Embedder

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("turns", "gone", "stays"),
    [
        (["I sing in the cathedral choir, every Thursday", "I've left the cathedral choir"], ["Thursday"], []),
        (["I play squash, twice a week", "I've stopped playing squash"], ["twice"], []),
        (["我在老年大学学国画，每周三下午上课", "国画不学了"], ["周三"], []),
        (["我每年都献血，早上一杯豆浆", "豆浆不喝了"], [], ["献血"]),
        # another thing at another time
        (["我周一跑步，周三游泳", "跑步不跑了"], [], ["游泳"]),
        (["I run on Mondays, every Friday I swim", "I've stopped running"], [], ["swim"]),
        # a new value leaves the time as it was
        (["My yoga is at the Hive, every Tuesday", "My yoga is at the Barn now"], [], ["Tuesday"]),
    ],
)
def test_when_it_was_done_is_over_with_it(
    tmp_path: Path, encoder: Embedder, turns: Sequence[str], gone: Sequence[str], stays: Sequence[str]
) -> None:
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        for n, words in enumerate(turns):
            memory.observe(user_id="u", session_id=f"s{n}", user=words, at=BEGIN + timedelta(days=7 * n))
        told = " | ".join(f.text for f in memory.facts(user_id="u") if f.is_positive)
    assert not [w for w in gone if w in told], told
    assert all(w in told for w in stays), told
