"""Identifiers known by the paper or matter they are told of and by being written as codes are."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.lexicon import default_lexicon
from ltm_core.write.anchors.coded import MOST_CODES, cut, widened
from ltm_core.write.anchors.identifiers import find_identifiers


def found(text: str) -> list[str]:
    return [i.text for i in find_identifiers(text, default_lexicon())]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        # in groups, with signs, letters and figures mixed
        ("the depot has my parcel RM7712 0045 3390 8 since monday", ["RM7712 0045 3390 8"]),
        ("Our council tax account is 7 0031 442 9, they doubled it", ["7 0031 442 9"]),
        ("police want the frame number: WQK 771 H 2205 M", ["WQK 771 H 2205 M"]),
        ("the museum lists it as lot 'TR/2210/iv'", ["TR/2210/iv"]),
        ("lost property registered my umbrella as KX~4471~red", ["KX~4471~red"]),
        ("SN: 7HX3319QLP, still under warranty", ["7HX3319QLP"]),
        ("subscription nws_77120 renews on its own", ["nws_77120"]),
        ("the cat's chip 981 020 117 640 352 isn't in the register", ["981 020 117 640 352"]),
        ("they call it HX-2210-2025-P over at the ombudsman", ["HX-2210-2025-P"]),
        ("the boiler plan is BP-31-66210-K, in the drawer", ["BP-31-66210-K"]),
        ("cust no 331-774, no refund so far", ["331-774"]),
        # the same shape again
        ("one half is on waybill KT 4471 2290 and the other half KT 4471 2306", ["KT 4471 2290", "KT 4471 2306"]),
        # Chinese
        ("那个圆通的 6621 7730 0945 2 卡了三天", ["6621 7730 0945 2"]),
        ("合同XS/2025/工/0311的尾款还没到", ["XS/2025/工/0311"]),
        ("行李牌CA 551902，柜台让我等电话", ["CA 551902"]),
        ("水费户号5500213378，这个月突然翻倍", ["5500213378"]),
        ("鉴定编号 QK71-330-TB，过了没", ["QK71-330-TB"]),
        ("档案袋封面写档-03-2217，他们说没有", ["档-03-2217"]),
        ("行程tx-9917-3306c，师傅没接电话", ["tx-9917-3306c"]),
        ("乡里回了个文，编的是青政信访〔2023〕17号", ["青政信访〔2023〕17号"]),
        ("拖车单上写拖字0077215", ["拖字0077215"]),
    ],
)
def test_a_code_beside_what_it_numbers_is_whole(text: str, values: list[str]) -> None:
    assert found(text) == values


@pytest.mark.parametrize(
    "text",
    [
        "The dryer says F-09 and stops",
        "got a code by sms, 551 203, do i type the space?",
        "my flat is 6/21 and the buzzer says 21",
        "Printer is an MFC-L2710DW and it jams",
        "a voucher for an HL-2240D printer",
        "server sits on 10.0.22.7",
        "it throws error 0x80070057",
        "my postcode is SE15 4QA, what does the claim form want?",
        "my number is 07700 900241 if they ask",
        "the contract is a 12-month one",
        "I ref the over-50s on Sundays",
        "the policy costs 480.50 a year",
        "the order arrives 2025-04-11 at 14:30",
        "an order for 3 boxes, 12 kg each",
        "今天挂号费50，CT 420，药费 180.5",
        "订单里有3件，一共 1288.50",
        "淘宝88VIP到期了",
        "房间号3306，密码771204",
        "我的手机号13912345678，快递打这个",
        "合同2025-03-01到期",
    ],
)
def test_numbers_of_other_sorts_are_none(text: str) -> None:
    assert found(text) == []


def test_a_part_is_widened_to_its_whole() -> None:
    text = "policy AB-20-1177-X here"
    parts = default_lexicon().identifier_codes
    start, end = widened(text, 7, 17, parts)
    assert text[start:end] == "AB-20-1177-X"


def test_a_table_is_not_read_to_its_end() -> None:
    rows = "\n".join(f"A{n}-{n}77" for n in range(MOST_CODES * 3))
    assert len(list(cut(rows, default_lexicon().identifier_codes))) == MOST_CODES


@given(st.text(alphabet="Aa19 -/._~#合同号是，", max_size=80))
def test_every_code_lies_within_the_text_and_none_overlaps(text: str) -> None:
    ids = find_identifiers(text, default_lexicon())
    assert all(text[i.start : i.end] == i.text and any(c.isdigit() for c in i.text) for i in ids)
    assert all(a.end <= b.start for a, b in pairwise(ids))
