"""Chinese slips put right by a message that says nothing else, and bare answers to what the assistant asked.

Told with the default encoder, all turns in one session. Beside them stand minimal pairs that put nothing right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core.lexicon import default_lexicon
from ltm_core.types import Fact
from ltm_core.write.corrections.slips import slip_of

InOneSession = Callable[[Sequence[str]], tuple[list[Fact], list[str]]]


@pytest.fixture
def told(in_one_session: InOneSession) -> InOneSession:
    """What is current and positive after the turns, and what the last one stated."""

    def tell(turns: Sequence[str]) -> tuple[list[Fact], list[str]]:
        facts, stated = in_one_session(turns)
        return [f for f in facts if f.is_positive], stated

    return tell


SLIPS: list[tuple[str, str, str, str]] = [
    ("我是质简员", "*质检员", "质检", "质简"),
    ("我住在海淀五道囗", "五道口*", "五道口", "五道囗"),
    ("我家猫叫糖圆", "*汤圆", "汤圆", "糖圆"),
    ("我家鹦鹉叫豆包", "输入法害我，叫豆苞，花苞的苞", "豆苞", "豆包"),
    # the turn, the one that puts it right, what is known then, what is not
    ("我是2012年毕业的，能评职称吗", "2011。按错键了。", "2011", "2012"),
    ("我家在山东潍坊，特产送啥好", "威海，输入法给我打成潍坊了", "威海", "潍坊"),
    ("我室友叫志豪，我们一起打球", "哎打错，志豐啦", "志豐", "志豪"),
    ("我女儿叫雨桐", "打错字了，雨彤", "雨彤", "雨桐"),
    ("我住人民路18号", "解放路，不是人民路，说顺嘴了", "解放路", "人民路"),
    ("我的车是2017年买的朗逸", "看了眼登记证 2015年的，不是2017", "2015", "2017"),
    ("我体检胆固醇6.2", "刚看了报告 5.2，不是6.2", "5.2", "6.2"),
    ("我是2019年入职的", "查了下合同，2018年入的职", "2018", "2019"),
    ("我买房贷款80万", "88万，少打了个8", "88万", "80万"),
    ("我儿子今年上五年级", "哎不对，六年级了都，我记混了", "六年级", "五年级"),
    ("我妈血压160", "看错了，150", "150", "160"),
    ("我对花生过敏", "不是花生，是腰果，我老搞混", "腰果", "花生"),
    ("我身高172", "178，按错了", "178", "172"),
    ("我在读大三", "大四，写错", "大四", "大三"),
    ("我每天吃两片降压药", "一片，不是两片，瞎写的", "一片", "两片"),
    ("我喺旺角住", "打錯，係太子", "太子", "旺角"),
    ("我家在五楼", "六楼！打快了", "六楼", "五楼"),
    ("我用的是华为P40", "P50，少看一眼", "P50", "P40"),
    ("我爸六十二", "六十三，刚过完生日忘了加", "六十三", "六十二"),
    ("快递寄到建设路那个仓库就行，我在那看库", "建国路，不是建设路，打快了", "建国路", "建设路"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "slip", "right", "wrong"), SLIPS)
def test_a_slip_is_put_right_in_the_words_it_was_told_in(
    told: InOneSession, said: str, slip: str, right: str, wrong: str
) -> None:
    facts, stated = told([said, "A:好的。", slip])
    texts = [f"{f.object}\n{f.text}" for f in facts] or stated  # what was told as past is no current fact
    assert any(right in t for t in texts), texts
    assert not any(wrong in t for t in texts), texts
    assert any(right in s for s in stated), stated


@pytest.mark.parametrize(
    ("said", "assistant", "again", "right", "wrong"),
    [
        ("我在日照开民宿", "您在威海的民宿可以主打海景。", "不是威海，是日照", "日照", "威海"),
        ("我闺女在济南上大学", "南京的夏天很热。", "是济南，不是南京", "济南", "南京"),
        ("我是做物流的", "做物业很辛苦吧。", "物流，你看错了", "物流", "物业"),
        ("我养了两只猫", "三只猫可得多备猫砂盆。", "两只，不是三只", "两只", "三只"),
    ],
)
def test_what_the_assistant_got_wrong_is_said_again(
    told: InOneSession, said: str, assistant: str, again: str, right: str, wrong: str
) -> None:
    facts, stated = told([said, f"A:{assistant}", again])
    texts = [f"{f.object}\n{f.text}" for f in facts]
    assert any(right in t for t in texts), texts
    assert not any(wrong in t for t in texts), texts
    assert stated == [right], stated


@pytest.mark.parametrize(
    ("said", "assistant", "then", "kept"),
    [
        ("我是2012年毕业的", "工作几年了？", "13年了", "2012"),
        ("我家在山东潍坊", "您想去哪里玩？", "威海，近", "潍坊"),
        ("我身高172", "体重呢？", "78，有点胖", "172"),
        ("我住人民路18号", "您公司在哪条路？", "解放路", "人民路"),
        ("我买房贷款80万", "首付多少？", "40万", "80万"),
        ("我养了两只猫", "好的", "邻居养了三只", "两只"),
        ("我在读大三", "好的", "室友大四", "大三"),
        ("我在日照开民宿", "威海也有不少民宿。", "威海的民宿贵", "日照"),
    ],
)
def test_another_value_without_words_of_a_slip_puts_nothing_right(
    told: InOneSession, said: str, assistant: str, then: str, kept: str
) -> None:
    facts, _ = told([said, f"A:{assistant}", then])
    assert any(kept in f"{f.object}\n{f.text}" for f in facts)


@pytest.mark.parametrize(
    "words",
    [
        "写错了，是清晨的晨",
        "好的谢谢", "不是吧，这么贵", "不是，我今天在家", "不对，帮我重新算一下", "打错了，怎么撤回",
        "今天手滑把碗摔了", "不是我不想去", "你看错了吧？", "查了下天气，明天有雨", "错了就错了",
    ],
)  # fmt: skip
def test_what_is_no_bare_value_is_no_slip(words: str) -> None:
    assert slip_of(words, default_lexicon()) is None


ANSWERS = [
    ("请问您的职业是？", "出纳，在物业公司", "出纳"),
    ("好的，您是做什么的？", "厨师，在酒店后厨", "厨师"),
    ("抱歉，您是哪里人？", "河北廊坊的", "廊坊"),
    ("您今年多大？", "53", "53"),
    ("您对什么食物过敏吗？", "芒果", "芒果"),
    ("您女儿几岁了？", "七岁", "七岁"),
    ("您儿子上几年级？", "三年级", "三年级"),
    ("您贵姓？", "姓欧阳", "欧阳"),
    ("您在哪家公司上班？", "海尔", "海尔"),
    ("您母亲多大年纪了？", "六十八", "六十八"),
]


@pytest.mark.parametrize(("question", "answer", "value"), ANSWERS)
def test_a_bare_answer_is_read_as_the_sentence_it_stands_for(
    told: InOneSession, question: str, answer: str, value: str
) -> None:
    facts, stated = told(["帮我填个表", f"A:{question}", answer])
    assert any(value in f.object for f in facts), facts
    assert any(value in s for s in stated), stated


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("您是做什么的？", "不告诉你"), ("您喜欢什么类型？", "随便"), ("您是做什么的？", "先说说有啥推荐"),
        ("您住在哪里？", "你猜"), ("这道题选什么？", "选厨师"), ("您今年多大？", "保密"),
    ],
)  # fmt: skip
def test_what_is_no_answer_about_oneself_states_nothing(told: InOneSession, question: str, answer: str) -> None:
    facts, stated = told(["帮我填个表", f"A:{question}", answer])
    assert not facts
    assert not stated
