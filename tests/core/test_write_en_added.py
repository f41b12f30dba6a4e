"""What comes on top of what was so before, told without "I": somebody taken on, a second activity, another animal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core.types import Fact

Told = Callable[[Sequence[str]], list[Fact]]


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ("I work in a joinery workshop", "Took on another fitter, Marta, for the big orders", "Marta"),
        ("I have one cleaner, Ola", "we've hired a second cleaner", "second cleaner"),
        ("I manage the garden myself", "Hired a gardener, Des", "Des"),
        ("I teach yoga on Tuesdays", "Started pilates on Thursdays as well", "pilates"),
        ("I work the bar on Fridays", "picked up dog walking on Mondays too, on top of the bar", "dog walking"),
        ("I sing in a gospel choir", "now also teaching guitar lessons at the library on the side", "guitar"),
        ("We have a collie, Fern", "Came home from the rescue centre with a greyhound, Bolt", "Bolt"),
        ("I've got one budgie", "went to look and came away with another cockatiel", "cockatiel"),
    ],
)
def test_what_was_added_stands_beside_what_was_so(current_after: Told, before: str, now: str, words: str) -> None:
    facts = current_after([before, now])
    assert any(words in f"{f.object} {f.text}" for f in facts), facts
    assert len(facts) >= 2, facts


@pytest.mark.parametrize(
    "words",
    [
        "Hired a van for the day",
        "should we take on another apprentice?",
        "Thinking of hiring a nanny",
        "my boss took on another apprentice",
        "took on too much again",
        "Came home with a toy rabbit",
        "Got back from a walk with a friend's dog",
        "on top of the bar",
        "picked up the kids as well",
        "collected the dry cleaning too",
    ],
)
def test_what_is_no_addition_is_not_kept(current_after: Told, words: str) -> None:
    assert not current_after([words])
