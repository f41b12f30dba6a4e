"""A matter told from stage to stage, often in the fewest words: the newest stage is kept and names its matter, every
earlier one is over, and what else is known of the thing stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.test_write_en_restated import known


@pytest.mark.parametrize(
    ("turns", "now", "over"),
    [
        (["My passport renewal has been submitted.", "Passport arrived this morning!"], "arrived", ["submitted"]),
        (
            [
                "The greenhouse I ordered is on back order until May.",
                "Greenhouse dispatched, should be here Friday.",
                "Greenhouse delivered, two panes cracked though.",
            ],
            "Greenhouse delivered",
            ["back order", "dispatched"],
        ),
        (
            ["My kiln is in for repair at Potterworks, they are waiting for a thermostat.", "Kiln's ready to fetch."],
            "ready",
            ["in for repair"],
        ),
        (
            [
                "I asked Kettering Kitchens for a quote, they're coming out to measure.",
                "The kitchen quote is in: 9,200.",
                "Accepted the kitchen quote yesterday.",
            ],
            "Accepted the kitchen quote",
            ["coming out to measure", "9,200"],
        ),
        (
            ["My knee scan is booked, on the list for March.", "Had the scan, waiting for the results."],
            "waiting for the results",
            ["is booked", "on the list"],
        ),
        (
            ["We applied for an allotment, we're on the waiting list.", "The council has offered us the plot!"],
            "offered us the plot",
            [],
        ),
        (
            ["We applied for an allotment, we're on the waiting list.", "Allotment granted!"],
            "Allotment granted",
            ["waiting list"],
        ),
        (
            ["The piano from Harmons is on order.", "Four men carried the piano in. It's delivered."],
            "carried the piano in, It's delivered",
            ["on order"],
        ),
        (
            ["The claim for the burst pipe is with the loss adjuster.", "Pipe claim paid out today."],
            "paid",
            ["adjuster"],
        ),
        (
            [
                "My visa application for Peru has been submitted.",
                "The embassy rang about Peru, the photo is blurred, so it's on hold.",
                "Visa granted yesterday!",
            ],
            "Visa granted",
            ["submitted", "on hold"],
        ),
        (["我在京东买的洗碗机，显示已发货", "洗碗机到咱们县的网点了", "洗碗机装上了"], "装上了", ["已发货", "网点"]),
        (["找人做的衣柜，师傅说在排产", "衣柜做好了，周末来装", "衣柜装好了"], "装好了", ["排产", "做好了"]),
        (["帮我妈办的医保异地备案，还在审核", "异地备案通过了"], "通过了", ["还在审核"]),
        (["我在网上买的跑步机，还没发货", "跑步机今天看了下，到咱们区的驿站了", "跑步机收到啦"], "收到啦", ["驿站"]),
        (["我申请了人才公寓，还在轮候", "人才公寓轮到我了！昨天摇到号"], "昨天摇到号", ["还在轮候"]),
        (["摔坏的相机送去售后了，在等报价", "相机报价出来了，一千二", "相机修好寄回来啦"], "修好", ["在等报价"]),
        (["淘宝退的那双鞋，卖家还没收到", "鞋退款到账了"], "退款到账了", ["还没收到"]),
    ],
)
def test_each_stage_of_a_matter_ends_all_before(turns: list[str], now: str, over: list[str], tmp_path: Path) -> None:
    held = known(tmp_path, *turns)
    assert any(now in text for text in held), held
    for words in over:
        assert not any(words in text for text in held), held


@pytest.mark.parametrize(
    ("turns", "stays"),
    [
        (["My visa application is pending with the embassy.", "Has the visa been approved?"], "pending"),
        (["My visa application is pending with the embassy.", "My sister's visa approved today!"], "pending"),
        (["My parcel from Argos is in transit.", "The parcel from Boots was delivered."], "Argos"),
        (["My order 5518 is in transit.", "Order 7720 delivered."], "5518"),
        (["The quote for the roof is still pending.", "The quote for the fence is in: 700 pounds."], "roof"),
        (["The sofa from DFS is on back order.", "If the sofa's delivered today, can you remind me?"], "back order"),
        (["The sofa from DFS is on back order.", "Fingers crossed the sofa gets delivered soon."], "back order"),
        (["My manuscript is with the editor.", "I hope the manuscript is accepted."], "with the editor"),
        (["My bike is in for repair at Halfords.", "20% off: bikes repaired at Halfords!"], "in for repair"),
        (["My claim number is CLM-889 and the claim is with the assessor.", "Claim settled!"], "CLM-889"),
        (["My car insurance is with Aviva. The car insurance claim is pending.", "Claim paid out."], "Aviva"),
        (["I play in the quartet.", "The quartet rehearsal got cancelled this week."], "quartet"),
        (["我的签证还在审核", "我闺蜜的签证下来了"], "还在审核"),
        (["我的签证还在审核", "希望签证快点下来"], "还在审核"),
        (["我的签证还在审核", "签证下来了吗？"], "还在审核"),
        (["我家装修的报价还没出来", "邻居家装修报价出来了，十万"], "我家装修的报价还没出来"),
        (["手机送修了，在等配件", "我手机号换了，136开头的"], "在等配件"),
        (["我的稿子在外审", "电视剧里那个作家的稿子被录用了"], "在外审"),
        (["我们单位的职称评审还没公布", "我老公的职称评上了"], "还没公布"),
        (["在京东买的冰箱还没发货", "在拼多多买的那双鞋到货了"], "冰箱"),
    ],
)
def test_news_of_something_else_ends_no_stage(turns: list[str], stays: str, tmp_path: Path) -> None:
    held = known(tmp_path, *turns)
    assert any(stays in text for text in held), held
