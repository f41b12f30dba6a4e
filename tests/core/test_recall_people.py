"""Recall as people ask for it: all about me, who said what, and nothing that says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm_core import LongTermMemory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "s", embedder="none", timezone="UTC") as opened:
        yield opened


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about me?",
        "Tell me about myself.",
        "what have you remembered about me",
        "你都知道我什么？",
        "你还记得我吗",
    ],
)
def test_all_that_is_known_is_told(memory: LongTermMemory, question: str) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I live in Porto. I'm allergic to peanuts.")
    text = memory.context(question, user_id="ana", session_id="s2").text
    assert "Porto" in text and "peanuts" in text


def test_the_words_of_another_speaker_carry_the_name(memory: LongTermMemory) -> None:
    told = [
        {"role": "user", "name": "Nina", "content": "I just moved to San Jose."},
        {"role": "user", "name": "Omar", "content": "I moved to Berkeley last week."},
    ]
    memory.observe(user_id="nina", session_id="s1", messages=told, me="Nina")
    for line in memory.context("Where does Omar live?", user_id="nina", session_id="s2").text.splitlines():
        assert "Berkeley" not in line or "Omar:" in line


def test_answers_that_say_nothing_are_not_recalled(memory: LongTermMemory) -> None:
    for user, assistant in [("I work at a bakery in Leeds.", "Great!"), ("It has blue walls.", "Ok, noted.")]:
        memory.observe(user_id="ana", session_id="s1", user=user, assistant=assistant)
    text = memory.context("Where do I work?", user_id="ana", session_id="s2").text
    assert "bakery" in text and "Great!" not in text and "noted" not in text


def test_overwritten_words_are_not_shown(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="s1", user="I am learning Spanish.")
    memory.forget_matching("Spanish", user_id="ana", dry_run=False)
    assert "█" not in memory.context("What am I learning?", user_id="ana", session_id="s2").text
