"""Names and manners of speaking in words that no expression knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core.types import Fact
from ltm_core.write.anchors.acts import NAMINGS, load_naming

CurrentAfter = Callable[[Sequence[str]], list[Fact]]


@pytest.mark.parametrize(
    ("words", "relation", "value"),
    [
        ("Not Mr Whitlock please, that's my father. Just Sid.", "calls_user", "Sid"),
        ("回答我的时候字数少一点，我眼神不好", "reply_style", "字数少一点"),
        ("From now on you're Jeeves to me.", "name", "Jeeves"),
    ],
)
def test_it_is_a_fact_about_the_assistant(current_after: CurrentAfter, words: str, relation: str, value: str) -> None:
    facts = [f for f in current_after([words]) if f.subject == "assistant"]
    assert any(f.relation == relation and value in f.text for f in facts), [(f.relation, f.text) for f in facts]


@pytest.mark.parametrize(
    "words",
    [
        "My colleague is called Annika",
        "I'll do whatever you say from now on",
        "the kids call me sir at school",
        "我师傅叫老耿",
        "往后你说什么我都照做",
        "她的名字我打错了，应该是罗曼婷",
        "You too!",
    ],
)
def test_what_only_sounds_so_is_none(current_after: CurrentAfter, words: str) -> None:
    facts = current_after([words])
    assert not any(f.rule == "learned_naming" for f in facts), [(f.relation, f.text) for f in facts]


def test_the_weights_are_those_of_every_kind() -> None:
    model = load_naming()
    assert set(model.heads) == set(NAMINGS)
    assert model.version
    assert set(NAMINGS) | {f"{n}_plain" for n in NAMINGS} | {"unlikely"} == set(model.thresholds)
