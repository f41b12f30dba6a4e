"""What the speaker comes back to in a later conversation, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core.types import Fact

CurrentAfter = Callable[[Sequence[str]], list[Fact]]


@pytest.mark.parametrize(
    ("turns", "thing"),
    [
        (["I'm planning a barn dance", "the barn dance we talked about, how long should it be?"], "barn dance"),
        (["I'm planning a canoe trip", "back to the canoe trip I told you about: what do I pack?"], "canoe trip"),
        (["我打算冬天去漠河看极光", "上次聊的漠河看极光，要带什么衣服？"], "漠河"),
        (["下周我们要去爬五台山", "之前说的爬五台山，要带登山杖吗？"], "五台山"),
    ],
)  # fmt: skip
def test_what_one_comes_back_to_is_kept(current_after: CurrentAfter, turns: list[str], thing: str) -> None:
    facts = current_after(turns)
    assert any(thing in f.text and f.rule == "came_back" for f in facts), [f.text for f in facts]


@pytest.mark.parametrize(
    ("turns", "outcome"),
    [
        (["I'm in the county show", "remember the county show I told you about? I came third"], "came third"),
        (["下周我要参加厂里的技能比武", "还记得我说过的技能比武吗？我拿了第三名。"], "第三名"),
    ],
)  # fmt: skip
def test_what_came_of_it_is_kept(current_after: CurrentAfter, turns: list[str], outcome: str) -> None:
    facts = current_after(turns)
    assert any(outcome in f.text for f in facts), [f.text for f in facts]


def test_what_is_known_is_not_kept_twice(current_after: CurrentAfter) -> None:
    facts = current_after(
        ["I'm knitting a cardigan for my grandson", "that cardigan I told you about, which buttons?"]
    )
    assert not any(f.rule == "came_back" for f in facts), [f.text for f in facts]


def test_a_question_or_an_order_tells_no_outcome(current_after: CurrentAfter) -> None:
    facts = current_after(
        ["I'm entering my leeks in the county show", "about the county show we discussed: list what I need"]
    )
    assert not any(f.rule == "came_of_it" for f in facts), [f.text for f in facts]
