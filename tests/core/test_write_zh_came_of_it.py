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


LATER = [
    (["微波炉热牛奶老是溢出来", "A: 把火力调到中火，杯口搭一根木筷子。"], "搭了根筷子，一滴没溢，绝了", "木筷子"),
    (["老人吃药老是漏", "A: 可以买个七格药盒，周日一次分好。"], "买了一个，用了半个月，一顿都没落下", "药盒"),
    (["笔记本风扇一开会就狂转", "A: 建议把开机自启的程序禁用掉。"], "弄过了，安静得跟没开机一样", "自启"),
    (["我妈用手机老是误删照片", "A: 打开云相册自动备份。"], "弄好半个月了，一张都没丢过", "云相册"),
    (["孩子背单词背了就忘", "A: 建议按1、2、4、7天的间隔复习。"], "坚持了一个月，这次听写全对，开心！", "间隔"),
    (["视频导出来音画不同步", "A: 导出时把可变帧率改成固定帧率。"], "改完重导，对得严丝合缝", "帧率"),
    (["猫半夜老挠门", "A: 试试睡前陪它玩十分钟，再喂一小把粮。"], "这法子灵，这几天都睡到天亮的", "睡前"),
    (["面团老是发不起来", "A: 先别加糖，等酵母起泡再揉。"], "听你的，等起泡了再揉，果然发得老高", "酵母"),
    # in English, and what credits the tip
    (["The bathroom door sticks.", "A: Rub a candle along the edge."], "Did that, it hasn't stuck since.",
     "candle"),
    (["The curtain keeps blowing open.", "A: Sew a penny into the hem."], "The penny thing is magic, hangs dead "
     "straight.", "penny"),
    (["My chain skips in low gears.", "A: Index the gears with the barrel adjuster."], "Indexing the gears was the "
     "answer.", "barrel adjuster"),
    (["The tank goes cloudy.", "A: Feed them once a day and rinse the sponge in tank water."], "Your tip about the "
     "sponge was spot on.", "sponge"),
    (["The picture keeps tilting.", "A: Hang it on two hooks."], "Hung it on two and it's dead level now.", "two"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "reply", "words"), LATER)
def test_days_later_the_deed_is_told_without_its_object(
    before: list[str], reply: str, words: str, tmp_path: Path
) -> None:
    found = anchors(tmp_path, before, [reply])
    assert any(words in a.text for a in found if a.kind == "confirmation"), found


@pytest.mark.parametrize(
    ("before", "reply"),
    [
        (["打印机老卡纸", "A: 先把搓纸轮用酒精棉擦干净。"], "换了台新打印机，一张没卡过"),
        (["猫把沙发抓烂了", "A: 在沙发角贴双面胶。"], "换了新沙发，舒服得很"),
        (["衬衫领子洗不白", "A: 先用小苏打糊敷二十分钟再洗。"], "敷了，跟没洗一样"),
        (["热水器忽冷忽热", "A: 把进水阀开到最大。"], "如果弄了管用我再告诉你"),
        (["宝宝不肯吃胡萝卜", "A: 切碎了混在蛋饼里试试。"], "弄了，一口都没吃"),
        (["腰一坐久就酸", "A: 每坐四十分钟起来走两分钟。"], "做了个按摩，舒服多了"),
        (["我家路由器半夜老断网", "A: 把信道固定到6，别用自动。"], "弄了个新发型，心情好多了"),
        (["The bathroom door sticks.", "A: Rub a candle along the edge."], "Rubbed a candle on it, no joy."),
        (["I can't get to sleep.", "A: No screens after ten."], "Slept like a log by the coast, the sea air was the "
         "answer."),
        (["My heels crack.", "A: Rub in urea cream at night."], "The film we saw last night was magic."),
        (["The picture keeps tilting.", "A: Hang it on two hooks."], "Sold it and the wall's lovely now."),
        (["My dough won't rise.", "A: Put the bowl by the boiler."], "Your tip about the train was spot on."),
    ],
)  # fmt: skip
def test_days_later_other_news_confirms_nothing(before: list[str], reply: str, tmp_path: Path) -> None:
    assert not [a for a in anchors(tmp_path, before, [reply]) if a.kind == "confirmation"]
