"""What in Chinese is so for a few days only, wished for, quoted, made up or asked about states nothing lasting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory, Message

NOW = datetime(2025, 3, 4, tzinfo=UTC)


def told(path: Path, *turns: str) -> tuple[list[str], list[str]]:
    """What is known in the end, and the anchors of the last turn; a week passes between turns."""
    with LongTermMemory.open(path / "m") as memory:
        for n, turn in enumerate(turns):
            message = Message(role="user", content=turn, at=NOW + timedelta(days=7 * n))
            seen = memory.observe(user_id="u", session_id=f"s{n}", messages=[message])
        return [f"{f.object}|{f.text}" for f in memory.facts(user_id="u")], [a.text for a in seen.anchors]


@pytest.mark.parametrize(
    ("lasting", "passing", "stays"),
    [
        ("我家在大理。", "这周我在沈阳出差，周四就回。", "大理"),
        ("我上班开自己的比亚迪。", "车送去维修，这几天先借表哥的开。", "比亚迪"),
        ("我用华硕笔记本写稿。", "本子在修，这两天凑合用单位的备用机。", "华硕"),
        ("我在托儿所当老师。", "嗓子发炎，我请了三天病假在家躺着。", "托儿所"),
        ("平时我骑电动车上班。", "电动车坏了，这两天先坐地铁。", "电动车"),
        ("我们每周四发布。", "本周赶上年会，例外提前到周二发。", "周四"),
        ("我养了一只布偶猫。", "我要去医院复查，布偶猫寄养在朋友那儿到后天。", "布偶猫"),
    ],
)
def test_why_and_until_when_something_is_so_for_a_few_days(
    tmp_path: Path, lasting: str, passing: str, stays: str
) -> None:
    facts, anchors = told(tmp_path, lasting, passing)
    assert any(stays in f for f in facts), facts
    assert anchors == []


@pytest.mark.parametrize(
    "words",
    [
        "真希望有一天能住到海边去，天天赶海。",
        "多希望自己能有个院子，种满月季。",
        "恨不得现在就辞职，去大理开客栈。",
        "当初我若是学了医，现在都当主任了。",
        "那时候我要是留在深圳，早就买房了。",
        "阅读材料如下，帮我划出形容词：“小红说：我爸爸是渔民。”",
        "测试数据写成 name=李四, city=兰州, allergy=花生 就行。",
        "课文里有一段，开头是“我的祖母住在山坳里”，作者是谁？",
        "帮我写个自我介绍的例子，比如我叫小李，来自青岛。",
        "相机和手机，哪个拍星空更好？",
        "物理跟化学，一般先选哪一门？",
    ],
)
def test_what_is_wished_quoted_or_asked_states_nothing(tmp_path: Path, words: str) -> None:
    facts, anchors = told(tmp_path, words)
    assert (facts, anchors) == ([], [])


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("我膝盖扭了三次，已经不能跑步了。", "跑步"),
        ("我把车送给了弟弟，现在坐地铁上班。", "地铁"),
        ("我周五就回南京定居了，以后在那边工作。", "南京"),
        ("我希望你以后叫我老秦。", "老秦"),
        ("钢琴和小提琴我都在学。", "小提琴"),
        ("我的座右铭是“慢慢来”。", "慢慢来"),
        ("熟人都喊我小土豆。", "小土豆"),
    ],
)
def test_what_lasts_is_kept(tmp_path: Path, words: str, kept: str) -> None:
    facts, _ = told(tmp_path, words)
    assert any(kept in f for f in facts), facts
