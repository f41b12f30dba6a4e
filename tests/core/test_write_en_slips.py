"""An English message that only puts a slip of the turn before right."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Literal

import pytest

from ltm_core.embed.base import Embedder
from ltm_core.memory import LongTermMemory
from ltm_core.types import Message

NOW = dt.datetime(2025, 3, 3, 11, tzinfo=dt.UTC)


def told(place: Path, encoder: Embedder, *turns: str) -> list[str]:
    """The texts of what is known at the end; turns that begin with "A:" are the assistant's."""
    with LongTermMemory.open(place, clock=lambda: NOW, embedder=encoder, timezone="UTC") as memory:
        for t in turns:
            role: Literal["user", "assistant"] = "assistant" if t.startswith("A:") else "user"
            said = Message(role=role, content=t.removeprefix("A:"), at=NOW)
            memory.observe(user_id="u", session_id="s", messages=[said])
        return [f"{f.object} {f.text}" for f in memory.facts(user_id="u")]


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
def test_the_right_value_takes_the_place(
    tmp_path: Path, encoder: Embedder, first: str, slip: str, right: str, wrong: str
) -> None:
    facts = told(tmp_path, encoder, first, slip)
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
def test_what_only_begins_so_corrects_nothing(
    tmp_path: Path, encoder: Embedder, first: str, then: str, stays: str
) -> None:
    assert any(stays in f for f in told(tmp_path, encoder, first, then))


def test_an_answer_to_a_question_is_no_slip(tmp_path: Path, encoder: Embedder) -> None:
    facts = told(tmp_path, encoder, "I have yoga on Mondays", "A:Tuesday or Wednesday?", "Sorry, Tuesday.")
    assert any("Mondays" in f for f in facts)
