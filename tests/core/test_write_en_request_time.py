"""English requests are read in bounded time, however often their opening words are said again."""

from __future__ import annotations

import time

import pytest

from ltm_core.lexicon import default_lexicon

FLAGS = ("forget", "suppress", "forget_it", "suppress_it", "antecedent", "remember", "standing")


OPENINGS = ["can you please ", "you should also just ", "i want you to ", "my my my ", "forget that "]


@pytest.mark.parametrize("words", OPENINGS)
def test_repeated_openings_cost_no_more_than_their_length(words: str) -> None:
    rules = default_lexicon().rules("en")
    text = words * 60
    began = time.process_time()
    for name in FLAGS:
        rules.flags[name].search(text)
    assert time.process_time() - began < 10
