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


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("复查了，其实是对菠萝过敏，芒果没事", "菠萝", "芒果"),
        ("过敏原出来了，我是对腰果过敏，花生可以吃", "腰果", "花生"),
    ],
)
def test_what_is_cleared_was_never_so(text: str, right: str, wrong: str) -> None:
    found = [(c.object, c.wrong_object) for c in told(text) if c.relation == "allergic_to"]
    assert found == [(right, wrong)]


def test_what_is_fine_besides_corrects_no_second_time() -> None:
    assert [c.wrong_object for c in told("我对虾过敏，虾没事就怪了") if c.relation == "allergic_to"] == [None]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("don't let me forget the boiler service is on the 9th of May", True),
        ("Please don't let me forget: the spare key is with Noreen", True),
        ("don't let me forget to call mum", False),
        ("never let me forget how silly I was", False),
        ("don't you forget it!", False),
    ],
)
def test_what_is_not_to_be_forgotten_is_asked_for(text: str, kept: bool) -> None:
    utterance = Utterance(message_id="m", role="user", content=text, at=datetime(2025, 3, 3, 9, tzinfo=UTC))
    seen = analyse(utterance, lexicon=default_lexicon(), fact_threshold=0.6)
    assert any(a.kind == "explicit_request" for a in seen.anchors) is kept


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("I joined Siemens this October", (2024, 10)),
        ("My son Milo started at Ashdown Academy this September", (2024, 9)),
        ("I start at Siemens in September", (2025, 9)),
    ],
)
def test_a_month_of_this_year_that_is_to_come_is_the_last_one_when_it_is_told_as_done(
    text: str, since: tuple[int, int]
) -> None:
    assert [(c.valid_from.year, c.valid_from.month) for c in told(text) if c.rule != "open"] == [since]
