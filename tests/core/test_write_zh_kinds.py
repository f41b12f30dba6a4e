"""Kinds of Chinese statements, told end to end: what becomes a fact, about whom, and what it ends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.lexicon import default_lexicon
from ltm_core.types import Fact
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Analysis, Utterance

NOW = datetime(2025, 6, 2, 2, tzinfo=UTC)  # a Monday


def told(tmp_path: Path, *turns: str) -> list[Fact]:
    """Every fact after the turns; one that begins with "A:" is the assistant's."""
    minute = iter(range(1000))
    memory = LongTermMemory.open(
        tmp_path / "store",
        embedder="none",
        clock=lambda: NOW + timedelta(minutes=next(minute)),
        timezone="Asia/Shanghai",
    )
    for turn in turns:
        if turn.startswith("A:"):
            memory.observe(user_id="u", session_id="s", assistant=turn[2:])
        else:
            memory.observe(user_id="u", session_id="s", user=turn)
    facts = list(memory.facts(user_id="u", include_superseded=True))
    memory.close()
    return facts


def current(facts: Sequence[Fact]) -> set[tuple[str, str, str]]:
    return {(f.subject, f.relation, f.object) for f in facts if f.is_current and f.is_positive}


def gone(facts: Sequence[Fact]) -> set[str]:
    return {f.object for f in facts if not f.is_current}


def read(words: str) -> Analysis:
    said = Utterance(message_id="m", role="user", content=words, at=NOW)
    return analyse(said, lexicon=default_lexicon(), fact_threshold=0.6)


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        ("我在华为上班", {("user", "works_at", "华为")}),
        ("我在一家物流公司做事", {("user", "works_at", "一家物流公司")}),
        ("我在邮局当出纳", {("user", "works_at", "邮局"), ("user", "occupation", "出纳")}),
        ("我在厨房做饭", set()),
        ("我在阳台晾衣服", set()),
        (
            "我妹妹在北京当医生",
            {("younger_sister", "located_in", "北京"), ("younger_sister", "occupation", "医生")},
        ),
        ("我姐在成都当老师", {("sister", "located_in", "成都"), ("sister", "occupation", "老师")}),
    ],
)
def test_work_and_place(tmp_path: Path, words: str, facts: set[tuple[str, str, str]]) -> None:
    assert current(told(tmp_path, words)) == facts


@pytest.mark.parametrize(
    "words",
    [
        "打印机老是卡纸", "弹窗一直关不掉", "用户反馈页面很慢", "吃饭的地方换了", "打包带断了",
        "电脑动不动就死机",
        "下载的文件打不开", "小王告诉我他辞职了", "听说小李搬到杭州了", "我同学说他对海鲜过敏", "菜单注意点",
        "到时候飞过去", "医生说是误诊", "我最近睡不好", "我一直在医院陪她", "我今天心情很差", "装修先放一放",
        "我认识一个大夫，姓王，住在上海", "邻居养了只狗，叫豆豆", "我同事在腾讯上班，住在福田",
        "不对，重新算一下",
    ],
)  # fmt: skip
def test_nothing_lasting_is_stated(tmp_path: Path, words: str) -> None:
    assert told(tmp_path, words) == []


@pytest.mark.parametrize(
    ("turns", "now", "before"),
    [
        (["我开一辆比亚迪汉", "比亚迪卖了，换了辆特斯拉"], "特斯拉", "比亚迪汉"),
        (["我的手机是iPhone", "我把iPhone换成华为了"], "华为", "iPhone"),
        (["我们的数据库是MySQL", "我们把数据库换成PostgreSQL了"], "PostgreSQL", "MySQL"),
        (["我用MySQL", "我们把数据库换成PostgreSQL了"], "PostgreSQL", "MySQL"),
        (["我周二周四打球", "我改成周三周五打球了"], "周三周五打球", "周二周四打球"),
        (["我最喜欢的颜色是靛蓝", "我最喜欢的颜色现在是橘红", "我最喜欢的颜色又变回靛蓝了"], "靛蓝", "橘红"),
        (["我不能吃辣", "现在能吃辣了"], "辣", "辣"),
        (["我单身", "我有女朋友了"], "有女朋友", "单身"),
        (["我有女朋友了", "分手了"], "分手", "有女朋友"),
        (["我有男朋友了", "我和男朋友分手了"], "分手", "有男朋友"),
        (["我在腾讯上班", "我跳槽到美团了"], "美团", "腾讯"),
    ],
)
def test_changes(tmp_path: Path, turns: list[str], now: str, before: str) -> None:
    facts = told(tmp_path, *turns)
    assert any(now in o for _, _, o in current(facts))
    assert any(before in o for o in gone(facts))
    if now != before:
        assert not any(before in o for _, _, o in current(facts))


@pytest.mark.parametrize(
    ("turns", "fact", "wrong"),
    [
        (["我对芒果过敏", "不对，是对虾过敏"], ("user", "allergic_to", "虾"), "芒果"),
        (["我对芒果过敏", "不对，我不是对芒果过敏，是对虾过敏"], ("user", "allergic_to", "虾"), "芒果"),
        (["我对花生过敏。我住深圳。", "啊不对，是对腰果过敏"], ("user", "allergic_to", "腰果"), "花生"),
        (["我对螃蟹过敏", "更正一下，我对螃蟹不过敏，过敏的是我妈"], ("mother", "allergic_to", "螃蟹"), "螃蟹"),
        (["我的地址是人民路979号", "不对，是799号"], ("user", "address", "人民路799号"), "人民路979号"),
        (["我住南山", "打错了，是宝安"], ("user", "lives_in", "宝安"), "南山"),
        (["我女儿六岁", "不对，七岁"], ("daughter", "age", "七岁"), "六岁"),
        (["我儿子对牛奶过敏", "不对，应该是鸡蛋"], ("son", "allergic_to", "鸡蛋"), "牛奶"),
        (["我每天六点起床", "不对，是六点半"], ("user", "wakes_at", "六点半"), "六点"),
        (
            ["我老婆生日是5月14号", "搞错了，我老婆生日是5月15号，不是14号"],
            ("wife", "birthday", "5月15号"),
            "5月14号",
        ),
    ],
)
def test_repairs(tmp_path: Path, turns: list[str], fact: tuple[str, str, str], wrong: str) -> None:
    facts = told(tmp_path, *turns)
    assert fact in current(facts)
    assert [f.object for f in facts if f.retracted_at] == [wrong]
    assert ("user", fact[1], wrong) not in current(facts)


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ("我老公对海鲜过敏", ("husband", "allergic_to", "海鲜")),
        ("我妈对花粉过敏", ("mother", "allergic_to", "花粉")),
        ("我女儿对芒果过敏", ("daughter", "allergic_to", "芒果")),
        ("我爸生日是3月2号", ("father", "birthday", "3月2号")),
        ("我老婆的生日是8月8日", ("wife", "birthday", "8月8日")),
    ],
)
def test_relatives(tmp_path: Path, words: str, fact: tuple[str, str, str]) -> None:
    assert current(told(tmp_path, words)) == {fact}


@pytest.mark.parametrize("words", ["我养了只猫，叫年糕，今年五岁，白色的", "我买了辆车，白色的，花了二十万"])
def test_what_is_said_of_a_new_pet_or_thing_is_not_the_users(tmp_path: Path, words: str) -> None:
    assert {r for s, r, _ in current(told(tmp_path, words)) if s == "user"} <= {"has_pet", "owns"}


@pytest.mark.parametrize(
    ("turns", "ended", "left"),
    [
        (
            ["我喜欢打羽毛球。我喜欢打篮球。我喜欢拼乐高。", "膝盖废了，球类运动我都不喜欢了"],
            {"打羽毛球", "打篮球"},
            "拼乐高",
        ),
        (["我喜欢吃虾。我喜欢吃面条", "海鲜我都不吃了"], {"虾"}, "面条"),
        (["我爱喝牛奶。我爱吃苹果", "乳制品我一点都不碰了"], {"牛奶"}, "苹果"),
        (["我喜欢吃蛋糕。我喜欢吃面条", "甜食我全戒了"], {"蛋糕"}, "面条"),
        (["我喜欢喝红酒。我喜欢喝绿茶", "我不喝酒了"], {"红酒"}, "绿茶"),
    ],
)
def test_broad_reversal(tmp_path: Path, turns: list[str], ended: set[str], left: str) -> None:
    facts = told(tmp_path, *turns)
    assert gone(facts) == ended
    assert any(o == left for _, _, o in current(facts))


@pytest.mark.parametrize(
    ("turns", "entity", "now", "before"),
    [
        (["工单 GD-6601 处理中。", "工单 GD-6601 已关闭。"], "ticket:GD-6601", "关闭", "处理中"),
        (["报价单BJ-2024-7等审批", "报价单BJ-2024-7批了"], "quote:BJ-2024-7", "批", "等审批"),
        (["订单DD-88 待发货", "订单DD-88 已发货"], "order:DD-88", "发货", "待发货"),
    ],
)
def test_status(tmp_path: Path, turns: list[str], entity: str, now: str, before: str) -> None:
    facts = told(tmp_path, *turns)
    assert [(f.object, f.is_current) for f in facts if f.subject == entity and f.is_current] == [(now, True)]
    assert gone(facts) == {before}
    assert len([f for f in facts if f.subject == "user"]) == 1
    assert not any(before in f.text for f in facts if f.is_current)


@pytest.mark.parametrize(
    ("words", "target", "relations"),
    [
        ("忘掉我女儿过敏的事吧", "女儿 过敏", ()),
        ("别记我学日语的事了", "学日语", ()),
        ("不要记住我的地址", "地址", ("address", "address:delivery", "address:work", "lives_in")),
        ("私の体重のことは忘れてください", "体重", ("weight",)),
    ],
)
def test_forget_requests(words: str, target: str, relations: tuple[str, ...]) -> None:
    said = read(words)
    assert [(r.target, r.mode, r.relations) for r in said.requests] == [(target, "erase", relations)]
    assert not said.candidates


@pytest.mark.parametrize("words", ["先不说房子的事", "装修先放一放", "别记错了"])
def test_no_wish_to_forget(words: str) -> None:
    assert not read(words).requests


@pytest.mark.parametrize(
    ("asked", "proposed", "agreed", "words"),
    [
        (
            "打印机老是卡纸，怎么办？",
            "建议先清洁搓纸轮，再减纸。",
            "好的，按你说的弄完不卡了，就用这个办法。",
            "搓纸轮",
        ),
        ("瓷砖色差太大，怎么处理？", "可以给您换同批次的瓷砖，您看行吗？", "可以，就这么办。", "同批次"),
    ],
)
def test_agreement_to_a_proposal(tmp_path: Path, asked: str, proposed: str, agreed: str, words: str) -> None:
    facts = told(tmp_path, asked, f"A:{proposed}", agreed)
    assert [f.relation for f in facts] == ["solution"]
    assert words in facts[0].object


@pytest.mark.parametrize("again", ["我是住杭州的", "人在杭州", "家在杭州", "我家在杭州"])
def test_other_words_for_one_home(tmp_path: Path, again: str) -> None:
    assert current(told(tmp_path, "我住在杭州", again)) == {("user", "lives_in", "杭州")}


def test_an_allergy_said_twice_is_one(tmp_path: Path) -> None:
    facts = told(tmp_path, "我对芝麻过敏", "芝麻我过敏，一点都不能碰")
    assert [(f.relation, f.object) for f in facts] == [("allergic_to", "芝麻")]


@pytest.mark.parametrize(
    ("words", "relation"),
    [
        ("以后别给我打电话，发邮件就行", "contact"),
        ("别再给我发短信了", "contact"),
        ("回答的时候先给代码再解释", "reply_style"),
    ],
)
def test_instructions_are_kept_whole(tmp_path: Path, words: str, relation: str) -> None:
    assert current(told(tmp_path, words)) == {("assistant", relation, words)} or not relation


@pytest.mark.parametrize("words", ["我周六一般有空", "我的生日是3月3日", "每年春节我都回老家"])
def test_recurring_days_have_no_date(tmp_path: Path, words: str) -> None:
    (fact,) = told(tmp_path, words)
    assert fact.text == words
    assert fact.valid_from >= NOW


@pytest.mark.parametrize(("words", "date"), [("会议改到周四", "2025-06-05"), ("交付日期改成4月9日了", "2026-04-09")])
def test_appointments_are_ahead(tmp_path: Path, words: str, date: str) -> None:
    (fact,) = told(tmp_path, words)
    assert fact.text == f"{words} ({date})"


@pytest.mark.parametrize(
    ("words", "employer", "month"), [("下个月去字节报到", "字节", 7), ("我下周一去美团入职", "美团", 6)]
)
def test_a_job_that_begins_later(words: str, employer: str, month: int) -> None:
    (fact,) = read(words).candidates
    assert (fact.relation, fact.object) == ("works_at", employer)
    assert fact.valid_from > NOW
    assert fact.valid_from.month == month
