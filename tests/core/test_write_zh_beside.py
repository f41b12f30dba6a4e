"""What Chinese words do not touch: a part of a thing, a thing handed out at work, one more post; what is only
supposed or quoted; and what is so for good in whatever words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.test_write_en_restated import known


@pytest.mark.parametrize(
    ("turns", "stays"),
    [
        (["我在邮局做分拣员。", "邮局给我们全换了电子工牌。"], "分拣员"),
        (["我在纺织厂当保全工。", "厂里给大家换了新工服。"], "保全工"),
        (["我们公司在软件园。", "公司换了董事长，新来的姓费。"], "软件园"),
        (["水电费我都用支付宝交。", "支付宝的登录方式我改成了刷脸。"], "水电费"),
        (["我那套小房子租给了一对开花店的夫妻。", "小房子的贷款去年全还清了。"], "花店"),
        (["家里开的车是比亚迪海豚。", "那辆海豚换上了四条米其林轮胎。"], "比亚迪海豚"),
        (["我女儿在学芭蕾。", "女儿转学了，新学校是育英小学。"], "芭蕾"),
        (["我在镇医院打狂犬疫苗。", "镇医院的收费处搬到三楼了。"], "狂犬疫苗"),
        (["我每天早上吃一片氯沙坦。", "大夫让我把维生素停了。"], "氯沙坦"),
        (["周末我在社区图书馆做志愿者。", "除此之外，我还加入了流浪动物救助站。"], "图书馆"),
    ],
)
def test_what_only_touches_on_a_thing_ends_nothing(turns: list[str], stays: str, tmp_path: Path) -> None:
    held = known(tmp_path, *turns)
    assert any(stays in text for text in held), held


@pytest.mark.parametrize(
    "turn",
    [
        "倘使老天爷给我一双翅膀，我头一个飞到西藏去看雪山。",
        "就算给我一千万，我也未必肯卖这套房。",
        "做梦都想中五百万，中了就带全家环游世界。",
        "假若我会飞，我就住在山顶上。",
        "设若能回到二十岁，我要去学建筑。",
        "要真有时光机，我想回唐朝看看。",
        "哪怕让我重来一次，我还是会选这个专业。",
        "课本里有句对话：“我爸爸是火车司机，我妈妈是护士。”请改成转述句。",
        "“我在北京工作，养了两只猫。”帮我改写得正式一点。",
        "人一旦上了年纪，睡得就少。",
        "我能看出来他是不是在撒谎吗？",
    ],
)
def test_what_is_only_supposed_or_quoted_is_nothing(turn: str, tmp_path: Path) -> None:
    assert not known(tmp_path, turn)


@pytest.mark.parametrize(
    ("turn", "kept"),
    [
        ("我们宿舍有个规矩，谁最后回来谁倒垃圾。", "谁倒垃圾"),
        ("我攒了一千多个火柴盒，摆满了一整面墙。", "火柴盒"),
        ("哪怕下雨我也每天跑步。", "跑步"),
        ("睡觉的时候，我非得抱着枕头才踏实。", "枕头"),
        ("姥爷修鞋之前，总要先喝一大碗酽茶。", "酽茶"),
        ("做梦的时候，我永远在赶同一班渡船。", "渡船"),
    ],
)
def test_what_is_so_for_good_is_kept(turn: str, kept: str, tmp_path: Path) -> None:
    held = known(tmp_path, turn)
    assert any(kept in text for text in held), held
