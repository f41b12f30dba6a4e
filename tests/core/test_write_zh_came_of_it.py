"""Chinese replies that only tell what came of a proposal, and references to an earlier session by what is named
beside them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.types import Anchor, Message, Role


def anchors(tmp_path: Path, *sessions: list[str]) -> list[Anchor]:
    """The anchors of the last turn; turns of the assistant begin with "A: ", a session is a list of turns."""
    clock = [datetime(2025, 3, 3, 9, tzinfo=UTC)]
    last: list[Anchor] = []
    with LongTermMemory.open(tmp_path, clock=lambda: clock[0], embedder="none", timezone="UTC") as memory:
        for n, turns in enumerate(sessions):
            clock[0] += timedelta(days=7)
            for turn in turns:
                clock[0] += timedelta(minutes=2)
                role: Role = "assistant" if turn.startswith("A: ") else "user"
                told = Message(role=role, content=turn.removeprefix("A: "), at=clock[0])
                last = list(memory.observe(user_id="u", session_id=f"s{n}", messages=[told]).anchors)
    return last


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        (["电钻一打就跳闸怎么办？", "A: 先把漏电保护器换成 C 型的再试。", "换完现在稳得很。"], "漏电保护器"),
        (["投影在墙上发虚。", "A: 把梯形校正关掉，再手动拧对焦环。", "字清清楚楚的了。"], "对焦环"),
        (["孩子夜里老踢被子。", "A: 试试换分腿睡袋。", "昨晚一觉到天亮。"], "睡袋"),
        (["字体发虚，怎么调？", "A: 给 body 加上 antialiased 就行。", "加上以后清晰了，问题解决。"], "antialiased"),
        (["浴室地漏返味。", "A: 换一个磁吸地漏芯，基本能根治。", "A: 安装前记得量口径。",
          "换上之后一点味儿都没了，谢谢！"], "磁吸地漏芯"),
        (["电脑一插耳机就没声音。", "A: 在声卡管理器里关掉插孔检测。", "关掉之后有声音了，成了。"], "插孔检测"),
        (["这条 SQL 要跑四十秒。", "A: 建议在 user_id 上建索引。", "建完只要零点二秒，问题解决。"], "索引"),
        (["书房墙角返潮。", "A: 用除湿机配合防水涂料刷两遍。", "刷完墙角干干爽爽的。"], "防水涂料"),
        (["鱼缸水老浑。", "A: 先停喂两天，再加硝化细菌。", "停喂两天，水清亮亮的。"], "停喂两天"),
    ],
)  # fmt: skip
def test_what_came_of_it_confirms_the_proposal(turns: list[str], words: str, tmp_path: Path) -> None:
    found = anchors(tmp_path, turns)
    assert any(words in a.text for a in found if a.kind == "confirmation"), found


@pytest.mark.parametrize(
    "turns",
    [
        ["手机发烫。", "A: 把后台刷新关掉。", "关了，还是烫。"],
        ["我胃老胀。", "A: 试试饭后散步二十分钟。", "嗯，我晚上试试。"],
        ["今天真闷啊。", "A: 看样子傍晚会下雨。", "现在外面安安静静的。"],
        ["打印机卡纸。", "A: 把搓纸轮擦一遍。", "我昨晚一觉到天亮，先去上班了。"],
    ],
)
def test_other_replies_confirm_nothing(turns: list[str], tmp_path: Path) -> None:
    assert not [a for a in anchors(tmp_path, turns) if a.kind == "confirmation"]


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ("我养的多肉叫胖丁。", "先前说到胖丁，它徒长的问题你当时建议怎么弄来着？", "胖丁"),
        ("我明年想坐邮轮去冲绳。", "那趟邮轮行程，就是早先跟你讲的，能查查码头怎么停车吗？", "邮轮行程"),
        ("我写了一部短篇小说叫《雾港》。", "以前给你看过的《雾港》，帮我想一个新结局吧。", "雾港"),
        ("我在写辞职信。", "上次给您看的辞职信，结尾要不要再软一点？", "辞职信"),
        ("我家要办满月酒。", "那场满月酒，就是前几天跟你商量的，菜单定几道菜合适？", "满月酒"),
        ("我在练二胡。", "之前提到二胡，您推荐的曲子叫什么？", "二胡"),
    ],
)
def test_a_reference_names_what_it_means(before: str, now: str, words: str, tmp_path: Path) -> None:
    found = anchors(tmp_path, [before], [now])
    assert any(words in a.text for a in found if a.kind == "cross_session_reference"), found


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("我哥要结婚了。", "那套西装，是我妈上次买的。"),
        ("我同事请假了。", "上次跟老板说过的加薪，没下文。"),
        ("我养了只鹦鹉。", "以前给我妈看过的照片找不到了。"),
    ],
)
def test_what_others_said_or_did_is_no_reference(before: str, now: str, tmp_path: Path) -> None:
    assert not [a for a in anchors(tmp_path, [before], [now]) if a.kind == "cross_session_reference"]
