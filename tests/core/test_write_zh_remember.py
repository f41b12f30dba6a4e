"""Chinese requests to remember in many wordings, polite questions and notes among them; and what only sounds so."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm_core import LongTermMemory, Message

NOW = datetime(2025, 3, 4, tzinfo=UTC)


def asked(path: Path, words: str) -> tuple[list[str], list[str]]:
    """What is asked to be remembered, and what is known then."""
    with LongTermMemory.open(path / "m") as memory:
        seen = memory.observe(user_id="u", session_id="s", messages=[Message(role="user", content=words, at=NOW)])
        facts = [f"{f.object} {f.text}" for f in memory.facts(user_id="u")]
    return [a.text for a in seen.anchors if a.kind == "explicit_request"], facts


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("下次记得：报价单写含税价。", "含税价"),
        ("往后记着，我要靠过道的位子", "靠过道"),
        ("麻烦备注一条，发票抬头写湘江木业有限公司。", "湘江木业"),
        ("你要牢记一点：我们仓库禁止明火。", "禁止明火"),
        ("有件事想让你记在心里，每年冬至我都去给外公上坟。", "冬至"),
        ("写个备忘：六月初要给锅炉做年检。", "六月初"),
        ("下面的话你务必记清楚，我对橡胶过敏。", "橡胶"),
        ("请你留个心，我爷爷右耳听不见。", "右耳"),
        ("麻烦建个档，宝宝对花粉过敏。", "花粉"),
        ("劳烦记挂着，我晚上九点后不接电话。", "九点"),
        ("请永远记得，我不吃狗肉。", "狗肉"),
        ("这个你可得记死了：我左肩脱臼过。", "左肩"),
        ("有个事情需要你记录，我每周四练书法。", "书法"),
        ("我想让你记住，我女儿怕打雷。", "打雷"),
        ("希望你能记得，我是红绿色盲。", "色盲"),
        ("记一记哈，我家楼栋是九栋。", "九栋"),
        ("请在我的档案里加上：右撇子。", "右撇子"),
        ("替我登记，我的紧急联系人是姑姑。", "姑姑"),
        ("提醒你一句别忘，我不喝豆浆。", "豆浆"),
        ("重点记一下，我周五不上班。", "周五"),
        ("顺便记录：我们组的周会在十点半。", "十点半"),
        ("把这件事放心上：我太太晕船。", "晕船"),
        ("可以帮我记住我的车位是C108吗？", "C108"),
        ("能不能记一下我家狗叫元宝？", "元宝"),
        ("以下内容请保存到记忆，我的职称是讲师。", "讲师"),
        ("切记，我坐车要坐前排。", "前排"),
        ("希望你能一直记得我家孩子坐船会晕。", "晕"),
        ("我儿子只穿棉袜，这一点你要牢牢记在心里。", "棉袜"),
        ("把我的帽围写进你的备忘里，五十八厘米。", "五十八"),
        ("所以麻烦你记录下来：我坐飞机要靠走道。", "走道"),
        ("劳驾备个案，我妈每周二做理疗。", "理疗"),
        ("替我留个底，煤气总阀在阳台。", "阳台"),
        ("这话你可得往心里去，我爸受不得气。", "受不得气"),
        ("这条给我焊死在记忆里：我不吃羊杂。", "羊杂"),
        ("划重点：我对尼龙过敏。", "尼龙"),
        ("重要的事说三遍，我花生过敏。", "花生"),
        ("请收藏这条信息，我的车险是人保的。", "人保"),
        ("加个备注吧，水表在楼道的柜子里。", "水表"),
    ],
)
def test_requests_in_many_wordings(tmp_path: Path, words: str, kept: str) -> None:
    notes, facts = asked(tmp_path, words)
    assert any(kept in text for text in notes), (notes, facts)
    assert any(kept in text for text in facts)
    assert not any("吗" in text or "?" in text for text in notes)


@pytest.mark.parametrize(
    "words",
    [
        "这你都记得，厉害。",
        "请留心脚下，台阶很滑。",
        "你放心上班吧，家里有我。",
        "我记着呢，别催。",
        "你还记得吗，我们聊过这个？",
        "写个备忘录应用的需求文档，要有提醒功能。",
        "怎么在手机里存一条备忘？",
        "你能记住多少内容？",
        "登记一下要带什么证件？",
        "他让我把药存着。",
        "他牢牢记在心里了。",
        "我希望你能记住的东西越来越多。",
        "怎么把座位偏好写进订单？",
        "把我的简历写进邮件里。",
        "公司要求备案，我去跑一趟。",
        "这家店给我留了个底价。",
        "能不能存档之后再退出游戏？",
        "写一段关于备忘录的故事：小明丢了日记。",
    ],
)
def test_what_asks_for_nothing_to_be_remembered(tmp_path: Path, words: str) -> None:
    notes, _ = asked(tmp_path, words)
    assert notes == []
