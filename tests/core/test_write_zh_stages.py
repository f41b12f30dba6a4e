"""How far a matter in others' hands has come, without a number or under one: each word of it ends the one before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.test_write_en_restated import known


@pytest.mark.parametrize(
    ("turns", "now", "over"),
    [
        (["我在网上给孩子订了套校服，一直没发货。", "校服今天到了，尺码正好。"], "校服今天到了", "没发货"),
        (["定做的婚纱还在裁剪，说要等三周。", "婚纱做好了。"], "婚纱做好了", "裁剪"),
        (["爸爸的残疾证还在街道审。", "爸爸的残疾证发下来了。"], "发下来了", "街道审"),
        (["我们公司申请的高新认证还在评审。", "高新认证下来了。"], "下来了", "还在评审"),
        (["我挂的那个骨科专家号还在候补。", "骨科的号候补上了，周四看。"], "候补上了", "还在候补"),
        (["我报的教师资格考试还没出成绩。", "教师资格成绩出来了，过了。"], "成绩出来了", "还没出"),
        (["我给物业报修了电梯，物业说在等配件。", "电梯配件到了，已经修好。"], "修好", "等配件"),
        (["书稿交给出版社了，还在三审。", "书稿过了三审。"], "过了三审", "还在三审"),
        (["车险理赔还在定损。", "定损员给结论了，车险赔八千。"], "赔八千", "还在定损"),
        (["女儿的幼儿园名额在排队，排第十七位。", "幼儿园打来电话，女儿排上了。"], "排上了", "第十七位"),
        (["我的居住证办理中。", "居住证制好了，窗口通知去领。"], "制好了", "办理中"),
        (["订单 66120938 的烤箱还没出库。", "烤箱送到了，已经用上。"], "送到了", "没出库"),
        (
            ["我在等一个从日本寄来的手办，卡在海关。", "手办清关了，正往我这边送。", "手办到手了。"],
            "到手了",
            "清关",
        ),
    ],
)
def test_the_next_stage_of_a_matter_ends_the_one_before(
    turns: list[str], now: str, over: str, tmp_path: Path
) -> None:
    held = known(tmp_path, *turns)
    assert any(now in text for text in held), held
    assert not any(over in text for text in held), held


@pytest.mark.parametrize(
    ("turns", "stays"),
    [
        (["我儿子的签证还在审核。", "我的签证批下来了。"], "我儿子的签证还在审核"),
        (["我的护照还在制证。", "我老婆的护照寄到了。"], "我的护照还在制证"),
        (["我买的沙发还没发货。", "旧沙发送给表弟了。"], "还没发货"),
        (["我订的蛋糕在等店家确认。", "我又订了个蛋糕，已经取回来了。"], "等店家确认"),
        (["包裹A在广州中转。", "包裹B在武汉中转。", "包裹签收了。"], "包裹A在广州中转"),
        (["我的论文还在外审。", "我今天把论文打印出来了。"], "还在外审"),
        (["我申请了低保，还在审核。", "听说邻居的低保批了。"], "还在审核"),
    ],
)
def test_another_matter_or_anothers_leaves_it_where_it_is(turns: list[str], stays: str, tmp_path: Path) -> None:
    held = known(tmp_path, *turns)
    assert any(stays in text for text in held), held


@pytest.mark.parametrize(
    "turn",
    [
        "我在排队做核酸。",
        "我在等一个重要的电话。",
        "合同还没签，你帮我看看条款。",
        "如果签证还在审核，我就不去了。",
        "我打算把申请材料递交上去。",
        "我在等孩子放学。",
        "同事的快递一直没到。",
    ],
)
def test_waiting_by_itself_is_no_stage(turn: str, tmp_path: Path) -> None:
    assert not known(tmp_path, turn)
