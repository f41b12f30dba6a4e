"""An English message that only puts a slip of the turn before right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core.types import Fact

InOneSession = Callable[[Sequence[str]], tuple[list[Fact], list[str]]]
Told = Callable[..., list[str]]


@pytest.fixture
def told(in_one_session: InOneSession) -> Told:
    """The texts of what is current after the turns."""
    return lambda *turns: [f"{f.object} {f.text}" for f in in_one_session(turns)[0]]


@pytest.mark.parametrize(
    ("first", "slip", "right", "wrong"),
    [
        ("I have nine hens", "no wait, eleven hens, I forgot the two bantams", "eleven hens", "nine"),
        ("I have nine hens", "I mean eleven hens", "eleven hens", "nine"),
        ("I supervise nine apprentices", "*eight apprentices, forgot Luke left", "eight apprentices", "nine"),
        ("I supervise nine apprentices", "eight, sorry", "eight", "nine"),
        ("I'm doing the Thames path walk in June", "July I mean!", "July", "June"),
        ("We have 40 hives on the moor", "oops, 50 hives", "50", "40"),
        ("I'm doing my diploma at Temasek Poly", "sorry, Nanyang Poly", "Nanyang Poly", "Temasek"),
        ("I play squash on Tuesdays", "sorry, Thursdays, not Tuesdays", "Thursdays", "Tuesdays"),
    ],
)
def test_the_right_value_takes_the_place(told: Told, first: str, slip: str, right: str, wrong: str) -> None:
    facts = told(first, slip)
    assert any(right in f for f in facts), facts
    assert not any(wrong in f for f in facts), facts


@pytest.mark.parametrize(
    ("first", "then", "stays"),
    [
        ("I have two cats", "sorry, can you repeat that", "two cats"),
        ("I live in Porto", "Sorry Joanna, missed that", "Porto"),
        ("I have nine hens", "no, two eggs a day is plenty for us", "nine hens"),
        ("I have nine hens", "sorry, eleven o'clock works, what was the question?", "nine hens"),
    ],
)
def test_what_only_begins_so_corrects_nothing(told: Told, first: str, then: str, stays: str) -> None:
    assert any(stays in f for f in told(first, then))


def test_an_answer_to_a_question_is_no_slip(told: Told) -> None:
    facts = told("I have yoga on Mondays", "A:Tuesday or Wednesday?", "Sorry, Tuesday.")
    assert any("Mondays" in f for f in facts)
