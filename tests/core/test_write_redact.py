"""Personal data is masked, business numbers are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.write.incoming.redact import redact, redact_value


@pytest.mark.parametrize(
    ("words", "masked"),
    [
        ("我的手机号是13812345678", "我的手机号是[phone]"),
        ("call me on +44 20 7946 0958 please", "call me on [phone] please"),
        ("座机 010-62345678", "座机 [phone]"),
        ("I noted 13812345678, I did.", "I noted [phone], I did."),
        ("My number is (415) 555-2671.", "My number is [phone]."),
        ("身份证 11010519491231002X", "身份证 [id card]"),
        ("卡号 4111 1111 1111 1111", "卡号 [bank card]"),
        ("mail linxt@example.com", "mail [email]"),
        ("My passport is ZQ-7741-KESTREL.", "My passport is [passport]."),
        ("护照号E12345678", "护照号[passport]"),
    ],
)
def test_personal_data_is_masked(words: str, masked: str) -> None:
    assert redact(words)[0] == masked
    assert sum(redact(words)[1].values()) == 1


@pytest.mark.parametrize(
    "words",
    [
        "My order #ORD-2024-00817, contract 4410027781",
        "快递单号 SF1234567890123 到了吗",
        "订单号：13912345678",
        "tracking 1Z999AA10123456784",
        "版本 3.11.7，2024-05-01 12:30",
        "价格 128,000.00 元，共 1234567 件",
        "身份证 110105194912310021",
        "order 4111111111111112",
        "会议号 882 193 4410",
    ],
)
def test_business_numbers_survive(words: str) -> None:
    assert redact(words) == (words, {})


def test_values_are_masked_all_the_way_down() -> None:
    value = {"to": ["a@b.co", {"tel": 13812345678}], "n": 5, "ok": True, "none": None}
    assert redact_value(value) == {"to": ["[email]", {"tel": "[phone]"}], "n": 5, "ok": True, "none": None}


@given(st.text(max_size=200))
def test_masking_twice_changes_nothing_more(words: str) -> None:
    once, _ = redact(words)
    assert redact(once)[0] == once
