"""Whose life a Chinese clause tells: people one lives with, one's chief, those at the next desk, and oneself beside
them; and what comes on top of what was so before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import Fact, LongTermMemory, Message
from ltm_core.embed import Embedder

NOW = datetime(2025, 3, 4, tzinfo=UTC)


def known(path: Path, encoder: Embedder | None, *turns: str) -> tuple[Fact, ...]:
    """What is known after the user's turns, each in a session of its own."""
    with LongTermMemory.open(path / "m", embedder=encoder) as memory:
        for n, text in enumerate(turns):
            said = Message(role="user", content=text, at=NOW + timedelta(days=9 * n))
            memory.observe(user_id="u", session_id=f"s{n}", messages=[said])
        return tuple(memory.facts(user_id="u"))


def of(facts: tuple[Fact, ...], words: str) -> set[str]:
    return {f.subject for f in facts if words in f.text or words in f.object}


@pytest.mark.parametrize(
    ("words", "thing", "whose"),
    [
        ("我室友对芝麻过敏，上次差点送急诊", "芝麻", "roommate"),
        ("舍友是回族，吃清真，聚餐选哪家", "回族", "roommate"),
        ("我室友學日語的，天天早起背單詞", "日語", "roommate"),
        ("明天要陪我们老板吃饭，老板对海鲜过敏，订哪家", "海鲜", "boss"),
        ("领导不吃香菜，点菜注意啥", "香菜", "boss"),
        ("婆婆高血压好多年了，做菜怎么少盐", "高血压", "mother_in_law"),
    ],
)
def test_those_one_lives_and_works_with(
    tmp_path: Path, encoder: Embedder | None, words: str, thing: str, whose: str
) -> None:
    assert of(known(tmp_path, encoder, words), thing) == {whose}


@pytest.mark.parametrize(
    ("words", "thing"),
    [
        ("上铺那位在备考法语DELF，天天早上六点背单词", "DELF"),
        ("对面工位的在学二胡，天天放视频", "二胡"),
        ("我同桌是左撇子", "左撇子"),
        ("我同事对花生过敏", "花生"),
        ("我还在地铁上", "地铁"),
        ("我还在医院排队", "医院"),
    ],
)
def test_nothing_of_ones_own(tmp_path: Path, encoder: Embedder | None, words: str, thing: str) -> None:
    assert of(known(tmp_path, encoder, words), thing) == set()


@pytest.mark.parametrize(
    ("turns", "thing"),
    [
        (("我闺蜜嫁到三亚去了", "我还在沈阳，零下二十度"), "沈阳"),
        (("我弟去深圳了", "我一直待在长春，暖气还没停"), "长春"),
        (("我姐去新加坡了", "我还一直在成都待着"), "成都"),
        (("国庆去我姐家蹭饭，我这单身狗倒是享福",), "单身"),
        (("隔壁人家養了隻柯基，我神經衰弱睡不好",), "神經衰弱"),
    ],
)
def test_oneself_beside_others(tmp_path: Path, encoder: Embedder | None, turns: tuple[str, ...], thing: str) -> None:
    assert of(known(tmp_path, encoder, *turns), thing) == {"user"}


def test_still_being_somewhere_ends_no_home(tmp_path: Path, encoder: Embedder | None) -> None:
    assert of(known(tmp_path, encoder, "我住在无锡", "我还在北京，明天回"), "无锡") == {"user"}


@pytest.mark.parametrize(
    ("before", "then", "things"),
    [
        ("我白天在超市收银", "最近晚上又找了份保洁，累是累点", ("收银", "保洁")),
        ("我在物流公司开货车", "最近手头紧，晚上又兼了份代驾", ("货车", "代驾")),
        ("我教历史的", "地理老师休产假，地理也归我教了", ("历史", "地理")),
        ("我做后端", "运维那摊子也甩给我了", ("后端", "运维")),
        ("我送美团外卖", "闲的时候顺带跑跑闪送", ("美团", "闪送")),
        ("我夜市摆摊卖烤冷面", "天热，摊上加了冰粉", ("烤冷面", "冰粉")),
        ("我开书店的", "店里现在也卖手冲咖啡了", ("书店", "手冲咖啡")),
        ("我有脂肪肝", "单位体检又查出痛风，海鲜彻底告别", ("脂肪肝", "痛风")),
        ("我有鼻炎", "今年又添了荨麻疹，一吹风就起", ("鼻炎", "荨麻疹")),
        ("我有糖尿病", "這次健檢又多一個高血脂", ("糖尿病", "高血脂")),
        ("我吃缬沙坦", "主任这次又给开了阿托伐他汀，晚上吃", ("缬沙坦", "阿托伐他汀")),
        ("我每天吃二甲双胍", "大夫又给加了个达格列净", ("二甲双胍", "达格列净")),
        ("我养了一只布偶", "上周末又接回来一只柴犬", ("布偶", "柴犬")),
        ("我養了三隻天竺鼠", "又多了一隻兔子", ("天竺鼠", "兔子")),
        ("我有个儿子", "上个月又生了个女儿，凑成好字", ("儿子", "女儿")),
        ("退休后我学书法", "书法之外，这学期我另报了个二胡班", ("书法", "二胡")),
        ("我在学法语", "这学期还选修了德语", ("法语", "德语")),
        ("我会英语", "泰语也学会了", ("英语", "泰语")),
        ("我有爱奇艺会员", "又开了B站大会员", ("爱奇艺", "B站大会员")),
        ("院子里种了白菜", "又撒了点萝卜籽，长得挺快", ("白菜", "萝卜")),
    ],
)
def test_what_comes_on_top(
    tmp_path: Path, encoder: Embedder | None, before: str, then: str, things: tuple[str, ...]
) -> None:
    facts = known(tmp_path, encoder, before, then)
    for thing in things:
        assert "user" in of(facts, thing), facts


@pytest.mark.parametrize(
    ("words", "thing"),
    [
        ("晚上又加了个班", "班"),
        ("又加了个需求，烦死", "需求"),
        ("店里又上了个热搜，被骂惨了", "热搜"),
        ("今天店里又来了个怪客人", "客人"),
        ("大夫又给加了个号，终于排上了", "号"),
        ("楼下又多了只野猫，天天叫", "野猫"),
        ("同事上个月又生了个女儿", "女儿"),
    ],
)
def test_what_only_happens_once_more(tmp_path: Path, encoder: Embedder | None, words: str, thing: str) -> None:
    assert not [f for f in known(tmp_path, encoder, words) if thing in f.object and f.relation != "about"]


def test_what_is_sold_off_is_no_ware(tmp_path: Path, encoder: Embedder | None) -> None:
    facts = known(tmp_path, encoder, "我骑摩托车上班", "摩托车卖掉了")
    assert not [f for f in facts if f.relation == "sells"]
    assert not [f for f in facts if f.is_positive and "骑摩托车" in f.text]


@pytest.mark.parametrize(
    ("words", "thing", "whose"),
    [
        ("跟我一起学画的甜甜是左撇子", "左撇子", "甜甜"),
        ("给我看牙的廖大夫每周三出门诊", "出门诊", "廖大夫"),
    ],
)
def test_those_named_with_what_they_are_to_one(
    tmp_path: Path, encoder: Embedder | None, words: str, thing: str, whose: str
) -> None:
    assert of(known(tmp_path, encoder, words), thing) == {whose}


@pytest.mark.parametrize(
    "words",
    [
        "同事小李今天迟到了",
        "同学老马回国了，在苏州开了家设计公司",
        "队友阿凯对海鲜过敏",
        "楼上的周婶养了六只猫",
        "同桌韩笑戴助听器",
        "房客小两口都是聋哑人",
        "隔壁组的小王跳槽去了华为",
        "新来的实习生叫赵磊",
        "同事老张说明天团建",
        "邻居王阿姨昨天借走了我的梯子",
        "房东李哥又来催租了",
        "客户陈总要求改方案",
        "同事小王会修电脑吗？",
        "经理要求每天打卡",
        "我朋友每天跑步",
    ],
)
def test_what_is_the_own_affair_of_others_is_nothing(tmp_path: Path, encoder: Embedder | None, words: str) -> None:
    assert not known(tmp_path, encoder, words)
