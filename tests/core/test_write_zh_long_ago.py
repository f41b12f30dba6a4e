"""Chinese stories of long ago, and states that pass: neither is what holds now.

Each turn is a session of its own, ten days after the one before; minimal pairs stand beside what must be understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Anchor, Fact

BEGIN = datetime(2025, 3, 3, 2, tzinfo=UTC)


def told(tmp_path: Path, encoder: Embedder, turns: Sequence[str]) -> tuple[list[Fact], list[Anchor]]:
    """What is current and positive after the turns, and the anchors of the last one."""
    anchors: list[Anchor] = []
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="Asia/Shanghai") as memory:
        for n, words in enumerate(turns):
            at = BEGIN + timedelta(days=10 * n)
            anchors = list(memory.observe(user_id="u", session_id=f"s{n}", user=words, at=at).anchors)
        return [f for f in memory.facts(user_id="u") if f.is_positive], anchors


def holds(facts: Sequence[Fact], words: str) -> bool:
    return any(words in f"{f.object} {f.text}" for f in facts)


@pytest.mark.parametrize(
    ("now", "story", "kept", "past"),
    [
        ("我开一辆问界", "刚毕业那会儿，我骑的是永久牌自行车", "问界", "永久"),
        ("我家在珠海", "念初中的时候，我们一家住在遵义的职工宿舍", "珠海", "遵义"),
        ("我用佳能相机", "那年头在部队，我用的是凤凰相机", "佳能", "凤凰"),
        ("我每天七点起床", "上大三那年，我天天睡到中午十二点", "七点", "十二点"),
        ("我主要写Go", "刚入职的头一年我写的是Perl", "Go", "Perl"),
        ("我只喝白开水", "早些年在工地，我一天要喝四瓶啤酒", "白开水", "四瓶啤酒"),
        ("我的手机是一加", "我第一部手机是波导，翻盖的", "一加", "波导"),
        ("我在税务局上班", "想起刚参加工作那几年，我在镇上的粮站开票", "税务局", "粮站"),
        ("我的猫叫年糕", "小时候奶奶家养过一只狸花猫，名叫黑妞", "年糕", "黑妞"),
        ("我住在昆山", "留学那会儿我住在横滨的一个小阁楼", "昆山", "横滨"),
        ("我每晚十点睡", "读博的时候我老是熬到天亮", "十点", "天亮"),
        ("我的工资卡是农行的", "说起第一份工作，工资是拿现金信封发的", "农行", "信封"),
        ("我住在宁波", "零三年那会儿我租的是城中村的隔断间", "宁波", "隔断间"),
        ("我用安卓手机", "大学那个暑假我用的是一部摩托罗拉", "安卓", "摩托罗拉"),
        ("我骑摩托上班", "来广州以前，我天天蹬一辆永久自行车", "摩托", "永久"),
        ("我吃素", "结婚以前我顿顿离不开红烧肉", "吃素", "红烧肉"),
        ("我开出租", "在矿上拉煤，一拉就是三年，那都是二十年前的事了", "开出租", "拉煤"),
        ("我信道教", "我妈总说我念小学那阵子，天天跟着姥姥去清真寺", "道教", "清真寺"),
        ("我六点起床跑步", "三十来岁在电台做夜间节目那些年，我天天睡到下午", "六点起床", "下午"),
        ("我一百二十斤", "高考完那个暑假我胖到过一百七十斤", "一百二十斤", "一百七十斤"),
        ("我喝绿茶", "六十年代在大队，我们拿搪瓷缸喝高粱酒", "绿茶", "高粱酒"),
    ],
)
def test_a_story_of_long_ago_is_not_what_holds_now(
    tmp_path: Path, encoder: Embedder, now: str, story: str, kept: str, past: str
) -> None:
    facts, _ = told(tmp_path, encoder, [now, story])
    assert holds(facts, kept), facts
    assert not holds(facts, past), facts


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        # what has lasted since, the present beside it, and a present that only looks like a story
        ("结婚那年，我们搬到了苏州", "苏州"),
        ("读高中那年，我开始学琵琶", "琵琶"),
        ("小时候被狗咬过，所以我特别怕狗", "怕狗"),
        ("以前在工厂，现在我在学校食堂做饭", "食堂"),
        ("当年读的中文系，如今我在出版社当编辑", "出版社"),
        ("我女儿读高三，每天熬到十二点", "十二点"),
        ("上班的时候我戴隐形眼镜", "隐形眼镜"),
    ],
)
def test_what_has_lasted_since_holds_now(tmp_path: Path, encoder: Embedder, words: str, kept: str) -> None:
    facts, _ = told(tmp_path, encoder, [words])
    assert holds(facts, kept), facts


@pytest.mark.parametrize(
    ("lasting", "passing", "kept"),
    [
        ("我家在绵阳", "这周我人在长春出差，周四就回来", "绵阳"),
        ("我上班开的是自己的轩逸", "车拿去做保养了，今天先打车", "轩逸"),
        ("我剪片子用的是戴尔", "主机送修了，这几天用朋友的", "戴尔"),
        ("我是合唱团的领唱", "嗓子哑了，这两天不出声", "领唱"),
        ("我每周三交稿", "本周例外，拖到周五交", "周三"),
        ("我在体校当教练", "昨天脚崴了，这礼拜在家歇着", "体校"),
        ("我养了一只金毛", "明天要去医院做个体检，狗先放我姐那儿", "金毛"),
    ],
)
def test_a_passing_state_is_no_anchor(
    tmp_path: Path, encoder: Embedder, lasting: str, passing: str, kept: str
) -> None:
    facts, anchors = told(tmp_path, encoder, [lasting, passing])
    assert holds(facts, kept), facts
    assert anchors == [], anchors


@pytest.mark.parametrize(
    "words",
    ["我在修车厂上班", "我有慢性咽炎", "我是牙科医院的护士", "我每周去一次医院做透析", "我无一例外早上都喝豆浆"],
)
def test_what_lasts_is_an_anchor(tmp_path: Path, encoder: Embedder, words: str) -> None:
    _, anchors = told(tmp_path, encoder, [words])
    assert anchors, words


@pytest.mark.parametrize(
    ("lasting", "story", "kept", "past"),
    [
        ("我的体重是62公斤", "高中那阵子我胖得很，有85公斤", "62", "85公斤"),
        ("晚上我十点准时睡觉", "曾经有好几年，我天天熬到凌晨三点打麻将", "十点", "三点"),
        ("我住在合肥", "年轻的时候我一顿能喝八两高粱酒，现在想想真吓人", "合肥", "八两"),
        ("我家养了一只猫", "有那么几年，我家养过信鸽", "猫", "信鸽"),
    ],
)
def test_what_was_so_in_a_time_long_gone_is_past_whatever_follows(
    tmp_path: Path, encoder: Embedder, lasting: str, story: str, kept: str, past: str
) -> None:
    facts, _ = told(tmp_path, encoder, [lasting, story])
    assert holds(facts, kept) and not holds(facts, past), facts


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("我小时候被狗咬过，现在怕狗", "怕狗"),
        ("我练了好几年，现在能拉整首曲子", "曲子"),
        ("我在银行上班，有三十个同事", "银行"),
        ("我每天睡觉以前喝一杯牛奶", "牛奶"),
        ("我零八年开始养猫，现在有三只", "养猫"),
        ("零五年我来的上海", "上海"),
        ("我十二岁的时候移民到新西兰", "新西兰"),
        ("我住在八零年代的老房子里", "老房子"),
        ("我只喝不过两年的普洱", "普洱"),
        ("我学了六七年二胡，还在学", "二胡"),
        ("做梦的时候，我永远在赶同一班渡船", "渡船"),
    ],
)
def test_what_has_lasted_since_is_no_old_story(tmp_path: Path, encoder: Embedder, words: str, kept: str) -> None:
    facts, _ = told(tmp_path, encoder, [words])
    assert holds(facts, kept), facts
