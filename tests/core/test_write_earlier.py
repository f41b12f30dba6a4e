"""What was so before the present state and is told after it: it is past, and ends nothing that holds now.

Each turn is a session of its own, ten days after the one before; minimal pairs stand beside what must be understood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core.types import Fact


def holds(facts: Sequence[Fact], words: str) -> bool:
    return any(words in f"{f.object} {f.text}" for f in facts)


@pytest.mark.parametrize(
    ("now", "story", "kept", "past"),
    [
        ("我在社区当网格员", "干网格员之前我开过五年出租", "网格员", "出租"),
        ("我开了家花店", "开店之前我在银行坐了八年柜台", "花店", "银行"),
        ("孩子在实验小学读三年级", "转学之前他一直在村小念，班里就十二个人", "实验小学", "村小"),
        ("我家养了条柯基", "搬来这之前家里养的是只橘猫，养了九年", "柯基", "橘猫"),
        ("我在建行办的房贷", "没贷款那几年，我们租在城中村", "建行", "城中村"),
        ("我晚上十点睡", "没孩子那会儿，我俩都是夜猫子，两三点才躺下", "十点", "两三点"),
        ("我家宽带是电信的", "头几年装的是长城宽带，卡得要命", "电信", "长城"),
        ("我家院子里种的是月季", "早些年院子里种的可不是这些，那会儿全是大葱", "月季", "大葱"),
        ("我们家现在开的是小鹏", "以前那台富康真皮实，开了十四年", "小鹏", "富康"),
        ("我降压药吃的是氨氯地平", "刚查出来那年吃的是卡托普利，老咳嗽", "氨氯地平", "卡托普利"),
        ("我的网店卖手工蜡烛", "网店刚开那两年卖的是手机壳，不赚钱", "手工蜡烛", "手机壳"),
        ("我现在是车间主任", "前年我还只是个班组长，天天盯流水线", "车间主任", "班组长"),
        ("I'm a dental nurse.", "Started out as a lifeguard at the lido, funnily.", "dental nurse", "lifeguard"),
        ("I take the tram to work.", "For years I cycled along the river, rain or shine.", "tram", "cycled"),
        ("I'm a paramedic.", "Funny, I began my working life as a grave digger.", "paramedic", "grave digger"),
        ("I teach chemistry at the college.", "For a good while I drove a milk float, before I ever stood in a lab.",
         "college", "milk float"),
        ("We heat with a pellet boiler.", "Before the boiler went in we ran on oil, a tanker came every autumn.",
         "pellet boiler", "tanker"),
        ("I play bass in a covers band.", "I started off on the recorder like all of us, then cello for six years.",
         "bass", "cello"),
    ],
)  # fmt: skip
def test_what_was_before_takes_the_place_of_nothing(
    current_after: Callable[[Sequence[str]], list[Fact]], now: str, story: str, kept: str, past: str
) -> None:
    facts = current_after([now, story])
    assert holds(facts, kept), facts
    assert not holds(facts, past), facts


@pytest.mark.parametrize(
    ("turns", "kept", "over"),
    [
        # the present, a change or an end beside the time before
        (["我不吃辣", "以前不吃辣，现在天天吃辣子鸡"], "辣子鸡", ""),
        (["我抽烟", "以前抽烟，上周戒了"], "", "抽烟"),
        # what has lasted since, and what one does before something every day
        (["我在厂里上班", "前几年我查出了甲减"], "甲减", ""),
        (["我住在厦门", "睡觉之前我一直喝牛奶的，雷打不动"], "喝牛奶", ""),
        (["I drive a Golf.", "For years I've had the same mechanic, Stan in Hove."], "same mechanic", ""),
        (["I have a job in town.", "I've lived in Ely since before the war."], "since before the war", ""),
        (["I work at the bakery.", "Started as an assistant manager at Tesco last week."], "Tesco", "bakery"),
        (["I bank with Lloyds.", "Before I moved to Starling I was with Lloyds."], "Starling", ""),
        (["I have a van.", "Before breakfast I run five miles every day."], "five miles", ""),
    ],
)
def test_what_holds_now_is_no_story(
    current_after: Callable[[Sequence[str]], list[Fact]], turns: Sequence[str], kept: str, over: str
) -> None:
    facts = current_after(turns)
    assert not kept or holds(facts, kept), facts
    assert not over or not holds(facts, over), facts
