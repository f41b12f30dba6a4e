"""What was begun or changed this week lasts; what is only so this week does not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Candidate, Utterance


def told(text: str) -> tuple[Candidate, ...]:
    utterance = Utterance(message_id="m", role="user", content=text, at=datetime(2025, 3, 3, 9, tzinfo=UTC))
    return analyse(utterance, lexicon=default_lexicon(), fact_threshold=0.6).candidates


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I started at Initech this week", "Initech"),
        ("started at Riverside vets this week", "Riverside vets"),
        ("I moved to Leeds this week", "Leeds"),
        ("I switched to oat milk this month", "oat milk"),
        ("I started at the Royal on Monday", "the Royal"),
        ("这周搬到杭州了", "杭州"),
        ("这礼拜刚领养了一只猫", "一只猫"),
    ],
)
def test_a_beginning_lasts(text: str, value: str) -> None:
    assert [(c.object, c.modality) for c in told(text)] == [(value, "asserted")]


@pytest.mark.parametrize(
    "text",
    [
        "I'm working in Berlin this week",
        "I moved to my mum's this week",
        "I'm vegan this month",
        "这周在北京出差",
        "这周换夜班",
    ],
)
def test_what_is_so_for_a_week_does_not(text: str) -> None:
    assert all(c.modality == "temporary" for c in told(text))


@pytest.mark.parametrize("text", ["My teacher left. It's Ms Lee now", "I changed dentist, it's Dr Lee now"])
def test_who_came_instead_is_not_the_speaker(text: str) -> None:
    assert not any(c.relation == "name" for c in told(text))
