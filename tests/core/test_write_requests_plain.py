"""Requests to forget as people type them: with a reason, a filler or a particle behind, in traditional characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core.types import Fact

CurrentAfter = Callable[[Sequence[str]], list[Fact]]


@pytest.mark.parametrize(
    ("turns", "gone", "stays"),
    [
        (["We bank with Monzo", "We have twins", "please delete which bank we use"], "Monzo", "twins"),
        (["My brother Kieran is in prison", "My brother Niall is a vet", "Can you erase the bit about Kieran?"],
         "prison", "vet"),
        (["I take Viagra sometimes", "I coach rowing", "please remove the bit about viagra lol"], "Viagra", "rowing"),
        (["The spare key is under the gnome", "I coach rowing", "Take the spare key place out of your memory"],
         "gnome", "rowing"),
        (["My inheritance is 40 thousand", "I coach rowing",
          "I'd like the inheritance wiped from your records, family matter"], "40 thousand", "rowing"),
        (["我有在看身心科", "我養了一隻天竺鼠", "請刪除我看身心科這件事"], "身心科", "天竺鼠"),
    ],
)  # fmt: skip
def test_what_it_names_is_gone(current_after: CurrentAfter, turns: list[str], gone: str, stays: str) -> None:
    assert any(gone in f.text for f in current_after(turns[:1]))
    facts = current_after(turns)
    assert not any(gone in f.text for f in facts), [f.text for f in facts]
    assert any(stays in f.text for f in facts), [f.text for f in facts]


@pytest.mark.parametrize(
    "turns",
    [
        ["I save 300 a month", "forget the 300, it's 400 a month now"],
        ["I keep bees", "can you remove the background from this photo of my bees, made it by mistake"],
        ["我在一家面馆做帮厨", "面馆这个话题再提行不通，换个思路写作文"],
    ],
)
def test_what_is_no_such_request_erases_nothing(current_after: CurrentAfter, turns: list[str]) -> None:
    before, after = current_after(turns[:1]), current_after(turns)
    assert before
    assert len(after) >= len(before), [f.text for f in after]
