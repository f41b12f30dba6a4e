"""English: what a device does at the moment and where a trip takes one is nothing to keep."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Analysis, Utterance


def heard(words: str) -> Analysis:
    said = Utterance(message_id="m", role="user", content=words, at=datetime(2026, 6, 17, 10, tzinfo=UTC))
    return analyse(said, lexicon=default_lexicon(), fact_threshold=0.6)


@pytest.mark.parametrize(
    "words",
    [
        "My phone is charging right now, so text me later.",
        "The laptop's still updating.",
        "My headphones are flat.",
        "Our printer is out of ink again.",
        "My work phone is on 5% at the moment.",
        "The washing machine is running.",
        "I'm in Lisbon through Sunday for a wedding.",
        "We're away through the weekend.",
    ],
)
def test_what_is_over_with_the_moment(words: str) -> None:
    assert (heard(words).anchors, heard(words).candidates) == ((), ())


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("My phone is a Pixel 8.", "Pixel"),
        ("My car is running on vegetable oil.", "vegetable oil"),
        ("I work Monday through Friday.", "Monday through Friday"),
        ("My laptop is a ThinkPad.", "ThinkPad"),
        ("I'm on call Monday through Thursday.", "Monday through Thursday"),
    ],
)
def test_what_lasts(words: str, kept: str) -> None:
    assert any(kept in c.text for c in heard(words).candidates)
