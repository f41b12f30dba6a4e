"""Which language a message is in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.text.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我用 Python 和 VS Code", "zh"),
        ("iPhone 15 Pro Max 多少钱", "zh"),
        ("LangChain 怎么用", "zh"),
        ("帮我看下 this Python function returns None when called", "zh"),
        ("OK好的", "zh"),
        ("订单 ORD-2024-00817 什么时候到", "zh"),
        ("我在学日语，今天学了ありがとう这个词", "zh"),
        ("我喜欢の奶茶", "zh"),
        ("我住在臺灣，請幫我訂車票", "zh"),
        ("My friend 王磊 lives in Beijing", "en"),
        ("王磊 is my friend", "en"),
        ("hello", "en"),
        ("I don't use C++.", "en"),
        ("She plays the shamisen (三味線)", "en"),
        ("東京の天気", "ja"),
        ("私は了解", "ja"),
        ("サンドボックス", "ja"),
        ("Python を使っています", "ja"),
        ("안녕하세요 Python", "ko"),
        ("서울에 살아요", "ko"),
        ("Привет, мир", "other"),
        ("สวัสดี", "other"),
        ("12345", "other"),
        ("😀", "other"),
        ("", "other"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert detect_language(text) == language


@given(st.text(st.characters(codec=None, categories=None)))
def test_any_text_has_one_of_the_languages(text: str) -> None:
    assert detect_language(text) in {"zh", "en", "ja", "ko", "other"}
