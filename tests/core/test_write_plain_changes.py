"""Changes in the plain words in which most people tell them, and what only sounds like one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core.types import Fact

CurrentAfter = Callable[[Sequence[str]], list[Fact]]
InOneSession = Callable[[Sequence[str]], tuple[list[Fact], list[str]]]

OVER = [
    (["My kettle is a Dualit", "I have replaced my kettle with a Smeg"], "Smeg", "Dualit"),
    (["My monthly pension payment is 200 pounds", "I have raised my pension payment to 260 pounds"], "260", "200"),
    (
        ["I take 75 micrograms of levothyroxine", "My dose of levothyroxine has gone up to 100 micrograms"],
        "100",
        "75",
    ),
    (["We foster puppies for the shelter", "we no longer foster puppies"], "", "for the shelter"),
    (["I teach tap at the village hall", "packed in teaching tap, my knees had enough"], "", "village hall"),
    (["I post my quilts on Instagram every Sunday", "I have left social media entirely"], "", "Instagram"),
    (["my phone's a pixel 6", "the pixel went to the recyclers"], "", "pixel 6"),
    (["I love lamb bhuna", "I've gone vegetarian"], "", "bhuna"),
    (
        ["I keep wicket for the seconds", "I play slip for the seconds now", "I'm back to keeping wicket"],
        "wicket",
        "",
    ),
    (["got a saturday job at the garden centre", "i dont work at the garden centre anymore"], "", "saturday job"),
    (["I've been shortlisted for the park ranger job", "I got the park ranger job!"], "", "shortlisted"),
    (["We fly to Tenerife every winter", "we have stopped flying for good"], "", "Tenerife"),
    (["我打字用五笔", "改用双拼打字啦", "双拼用不惯，又换回五笔了"], "五笔", "双拼打字"),
    (["我每天早上六点去江边跑步", "我现在改成晚上跑了"], "", "六点"),
    (["我租的是城中村的单间", "搬进公司宿舍了"], "宿舍", "单间"),
    (["我申請的退款還沒有處理", "退款昨天已經入帳了"], "入帳", "還沒有處理"),
    (["我超愛吃生蠔", "我現在完全不吃海鮮了"], "", "愛吃生蠔"),
    (["我们服务器上还跑着 Jenkins 做自动构建", "Jenkins 已经下线了"], "", "跑着 Jenkins"),
    (["我老家安徽宿松", "老家是安徽宿州，不是宿松"], "宿州", "老家安徽宿松"),
]

STAYS = [
    (["平时都坐地铁上班", "这两天地铁检修，先打车了"], "地铁"),
    (["我的主治医生是骨科的邓医生", "最早给我看病的是吴医生，他前年退休了"], "邓"),
    (["我养了一只鹦鹉叫铁蛋", "铁蛋的旧笼子我扔了"], "鹦鹉"),
    (["我每天早上吃一片降压药", "医生又给我加了一种降脂药"], "降压药"),
    (["我在银行上班", "十年前我在饭店当服务员"], "银行"),
    (["I have a stall at Kirkgate Market", "I've opened a second stall too, at Otley"], "Kirkgate"),
]


@pytest.mark.parametrize(("turns", "now", "over"), OVER)
def test_what_is_over_is_not_current(current_after: CurrentAfter, turns: list[str], now: str, over: str) -> None:
    held = [f"{f.object} {f.text}" for f in current_after(turns) if f.is_positive]
    assert not now or any(now in f for f in held), held
    assert not over or not any(over in f for f in held), held


@pytest.mark.parametrize(("turns", "stays"), STAYS)
def test_what_goes_on_stays(current_after: CurrentAfter, turns: list[str], stays: str) -> None:
    held = [f"{f.object} {f.text}" for f in current_after(turns) if f.is_positive and f.modality != "past"]
    assert any(stays in f for f in held), held


def test_one_of_several_proposals_is_taken_by_its_name(in_one_session: InOneSession) -> None:
    facts, _ = in_one_session(
        [
            "need a name for my bakery, something cosy",
            "A:How about Warm Crumb, The Proving Drawer or Kneaded?",
            "Let's go with The Proving Drawer",
        ]
    )
    assert [f.object for f in facts if f.kind == "solution"] == ["The Proving Drawer"]


def test_clipped_words_are_read(current_after: CurrentAfter) -> None:
    assert not current_after(["my birthday is 9 november", "can u delete my birthday from ur memory"])
