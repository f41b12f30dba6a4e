"""How orders, tickets, applications stand in Chinese: the latest statement wins, by number or by name; and what looks
like a number of something but is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.test_write_en_restated import known


@pytest.mark.parametrize(
    ("turns", "now", "over"),
    [
        (["运单 DP330918 在昆明分拨中心。", "好消息，DP330918 清关放行，正在派送。"], "正在派送", "昆明"),
        (["包裹 YT7788120034 卡在海关清关。", "刚拿到手，YT7788120034 我本人签收了。"], "签收", "卡在海关"),
        (["报价单 BJ-3107 我们领导还没批。", "领导签字了，BJ-3107 通过，可以下单。"], "通过", "还没批"),
        (["订单 SOFA-1189 出厂装车发运了。", "SOFA-1189 因为面料问题被退回工厂返工。"], "返工", "发运"),
        (["退货单 R-559102 等仓库验收。", "退货单 R-559102 的退款到账了。"], "到账", "验收"),
        (["订单 CG0719，厂里在生产。", "橱柜装好了，订单 CG0719 算完工了。"], "完工", "在生产"),
        (["订单 JD99817265 缺货。", "JD99817265 补到货，今天出库。"], "出库", "缺货"),
        (["工单 WX-3312 师傅约了明天上门。", "师傅修完走了，WX-3312 可以结了。"], "可以结", "约了明天"),
        (["报价单 QT-9081 对方嫌贵。", "QT-9081 重新报了一版，他们点头了。"], "点头", "嫌贵"),
        (["我的信用卡申请正在审核。", "银行来消息，我的信用卡申请被拒了。"], "被拒", "正在审核"),
        (["我给开源项目提的 PR 状态是等待评审。", "维护者把我那个 PR 合并进主干了。"], "合并", "等待评审"),
        (["我的居住证办理进度是制证中。", "派出所通知我，居住证可以领取了。"], "可以领取", "制证中"),
        (["我投的那篇论文还在外审。", "编辑部来信，论文录用了。"], "录用", "外审"),
        (["我们给客户的报价单还在等回复。", "客户把报价单签回来了。"], "签回来", "等回复"),
        (["我的报销单财务还没审。", "报销的钱到账了。"], "到账", "还没审"),
        (["我提的年假申请还没批。", "年假批了。"], "年假批了", "还没批"),
    ],
)
def test_the_latest_word_on_a_case_wins(turns: list[str], now: str, over: str, tmp_path: Path) -> None:
    held = known(tmp_path, *turns)
    assert any(now in text for text in held), held
    assert not any(over in text for text in held), held


@pytest.mark.parametrize(
    ("turns", "stays"),
    [
        (["我的驾照申请在排队。", "我朋友的驾照批下来了。"], "在排队"),
        (["我的签证还在审核。", "签证还没批下来，真急人。"], "签证"),
        (["我给开源项目提的 PR 状态是等待评审。", "要是那个 PR 合并了就好了。"], "等待评审"),
        (["我的年假申请还在审批。", "我想把发票寄出去。"], "年假"),
    ],
)
def test_another_case_or_none_ends_nothing(turns: list[str], stays: str, tmp_path: Path) -> None:
    held = known(tmp_path, *turns)
    assert any(stays in text for text in held), held


@pytest.mark.parametrize(
    "turn",
    [
        "Node 升到 22.11.0 之后编译报 E0417，什么原因？",
        "npm install 一直报 ERESOLVE。",
        "和面老是粘手，有什么窍门？",
        "洗衣机报 F21，不脱水了。",
        "接口返回 502，日志里全是 ECONNRESET。",
        "报错 0x80070057，更新装不上。",
        "这双鞋吊牌价 899，打完折 450 贵不贵？",
        "Chrome 131.0.6778.86 打开就闪退，咋办？",
    ],
)
def test_the_fault_of_a_thing_is_no_fact(turn: str, tmp_path: Path) -> None:
    assert not known(tmp_path, turn)


@pytest.mark.parametrize(
    ("turn", "kept"),
    [
        ("我膝盖老是疼，怎么办？", "膝盖"),
        ("我家住三楼，下水道老堵，怎么办？", "三楼"),
        ("我一直在写日记，怎么坚持下来？", "日记"),
        ("跟装修公司签的合同，编号 渝装合字2026第0458号。", "渝装合字2026第0458号"),
        ("退货单 R-559102 等仓库验收。", "R-559102"),
    ],
)
def test_what_ails_the_speaker_and_numbers_of_his_papers_are_kept(turn: str, kept: str, tmp_path: Path) -> None:
    held = known(tmp_path, turn)
    assert any(kept in text for text in held), held
