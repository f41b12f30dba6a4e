"""Texts as stored, as compared, as shown."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.text.normalize import clean, fold, nfkc, printable

ANY_TEXT = st.text(st.characters(codec=None, categories=None))
HOSTILE = st.text(
    st.sampled_from(
        "ab \n\r\t\0\x1b\x85\u2028\u200b\u200d\u202e\u2066\u061c\ufe0f\ufeff\u20e31😀👩🏽❤\U000e0041\ud83d\ude00"
    )
)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("a\0b", "ab"),
        ("a\ud800b", "a\ufffdb"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("\ud83d\ude00!", "😀!"),
        ("  Ａ\r\n\t\u200b  ", "  Ａ\r\n\t\u200b  "),
    ],
)
def test_clean(text: str, stored: str) -> None:
    assert clean(text) == stored


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb\u2066c\u200fd\u061ce", "abcde"),
        ("a\u200bb\u200dc\ufeffd\u00ade", "abcde"),
        ("one\r\ntwo\rthree\u2028four\n\nfive", "one\ntwo\nthree\nfour\n\nfive"),
        ("x\ty\x1b[31m", "x\ty[31m"),
        ("👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3 👍🏽", "👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3 👍🏽"),
        ("a\u200d😀\u200d", "a😀"),
        ("ok\U000e0069\U000e0067\U000e007f", "ok"),
        ("b\ufe00\ufe01\U000e0100c", "bc"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(ANY_TEXT | HOSTILE)
def test_printable_leaves_nothing_invisible_and_is_stable(text: str) -> None:
    shown = printable(text)
    assert printable(shown) == shown
    forbidden = set(
        "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\r\u2028\u2029\x85"
    )
    assert not forbidden & set(shown)
    for ch in shown:
        assert ch in "\n\t" or unicodedata.category(ch) not in {"Cc", "Cs"}
        assert not 0xE0000 <= ord(ch) <= 0xE0FFF
    assert all(shown[i - 1 : i] and shown[i - 1] > "\u00a8" for i, ch in enumerate(shown) if ch == "\u200d")


@given(ANY_TEXT | HOSTILE)
def test_clean_can_always_be_encoded_and_changes_nothing_else(text: str) -> None:
    stored = clean(text)
    stored.encode()
    assert clean(stored) == stored
    if "\0" not in text and not any(0xD800 <= ord(ch) <= 0xDFFF for ch in text):
        assert stored == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("  Hello,\n World! ", "hello, world"),
        ("ＯＲＤ－２０２４", "ord-2024"),
        ("「你好。」", "你好"),
        ("STRASSE", "straße"),
        ("Cafe\u0301", "café"),
        ("a\u200bb", "ab"),
    ],
)
def test_fold_makes_equal(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("C#", "C"), ("C++", "C"), ("50%", "50"), ("a/b", "a b")])
def test_fold_keeps_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(ANY_TEXT | HOSTILE)
def test_fold_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_normalising_a_run_of_marks_is_not_quadratic() -> None:
    text = "a" + "\u0301" * 100_000 + "\u0323" * 100_000
    started = time.process_time()
    nfkc(text)
    assert time.process_time() - started < 3  # 0.2 s here; one call of the library takes minutes
