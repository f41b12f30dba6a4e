"""Two facts told in one Chinese sentence, of which one changes: the other goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core.types import Fact

Told = Callable[[Sequence[str]], list[Fact]]


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        (["我左眼三百度，右眼两百度", "刚验的光，左眼涨到三百五十度了"], "右眼两百度"),
        (["我左眼三百度，右眼两百度", "刚验的光，左眼涨到三百五十度了"], "左眼涨到三百五十度"),
        (["我右眼550度，左眼500度", "右眼涨到600度了，左眼没变"], "左眼500度"),
        (["我开一辆轩逸，老婆开一辆飞度", "飞度上周过户给表姐了，家里就剩我那轩逸"], "轩逸"),
        (["老公开一辆雅阁，我开一辆宏光", "雅阁卖给同事了，以后就靠我那宏光接孩子"], "宏光"),
    ],
)
def test_the_other_goes_on(current_after: Told, turns: Sequence[str], kept: str) -> None:
    facts = current_after(turns)
    assert any(kept in f"{f.object} {f.text}" for f in facts if "靠" not in f.text and "剩" not in f.text), facts


@pytest.mark.parametrize(
    ("turns", "over"),
    [
        (["我左眼三百度，右眼两百度", "刚验的光，左眼涨到三百五十度了"], "三百度"),
        (["我开一辆轩逸", "轩逸上周卖了，换了辆逸动"], "轩逸"),
    ],
)
def test_what_is_named_is_over(current_after: Told, turns: Sequence[str], over: str) -> None:
    facts = current_after(turns)
    assert not any(over in f.object for f in facts), facts
