"""Sentences and chunks."""

from __future__ import annotations

import time
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.text.chunks import MAX_DATA_CHUNKS, chunk, embedded_text
from ltm_core.text.sentences import Span, sentences

ANY_TEXT = st.text(st.characters(codec=None, categories=None))
SENTENCE_LIKE = st.lists(
    st.sampled_from(
        [
            "I like tea",
            "我喜欢茶",
            "お茶が好き",
            ". ",
            "。",
            "！",
            "? ",
            "\n",
            "```",
            " ",
            "……",
            "...",
            "」",
            "“",
            "3.5",
            "Mr. ",
            "a" * 90,
        ]
    ),
    max_size=40,
).map("".join)


def rough_count(text: str) -> int:
    return sum(1 if ch.isascii() else 4 for ch in text) // 4 + 1


def split(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        [
            "Mr. Smith paid 3.5 dollars, e.g. in the U.S. last year.",
            "He left!",
            "Really?!",
            "yes.",
            "i like tea.",
        ],
        ["We met at 5 p.m.", "He left at 6 p.m. with Dr. Lee.", "J. K. Rowling wrote it."],
        ["I was... thinking.", "Well...", "Then I left."],
        ["See https://x.com/a.b?c=1!d.", "Then go to www.example.org/q?.x now."],
        ["2. Buy eggs.", "I have 3.", "You have 4."],
        ['She said "Go away!"', "Then he left."],
    ],
)
def test_english(parts: list[str]) -> None:
    assert split(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["他说：“你好。”", "然后走了。", "我觉得……不错。", "好！！！"],
        ["「行くよ。」と言った。", "はい。"],
        ["我花了3.5元。", "iPhone 15.", "很好"],
        ["看https://x.com/a?b=1。", "然后呢?", "好的"],
    ],
)
def test_chinese_and_japanese(parts: list[str]) -> None:
    assert split("".join(parts)) == parts


def test_lines_items_and_fences() -> None:
    text = "- Buy milk\n- Buy eggs. Now.\n\n1. One\r\n2. Two\n"
    text += "```py\nx = 1. \nprint('a. b')\n```\nEnd.\n~~~\nopen. end"
    assert split(text) == [
        "- Buy milk",
        "- Buy eggs.",
        "Now.",
        "1. One",
        "2. Two",
        "```py\nx = 1. \nprint('a. b')\n```",
        "End.",
        "~~~\nopen. end",
    ]


def assert_covers(text: str, spans: list[Span]) -> None:
    position = 0
    for span in spans:
        assert position <= span.start < span.end <= len(text)
        assert not text[position : span.start].strip()
        assert span.of(text).strip()
        position = span.end
    assert not text[position:].strip()


@given(ANY_TEXT | SENTENCE_LIKE)
def test_sentences_cover_everything_once(text: str) -> None:
    assert_covers(text, sentences(text))


@given(ANY_TEXT | SENTENCE_LIKE, st.integers(4, 80), st.integers(1, 3))
def test_chunks_cover_everything_within_the_limits(text: str, max_tokens: int, max_sentences: int) -> None:
    spans = chunk(text, max_tokens=max_tokens, max_sentences=max_sentences, count=rough_count, max_chunks=None)
    assert_covers(text, spans)
    starts = [span.start for span in sentences(text)]
    for span in spans:
        assert rough_count(span.of(text)) <= max_tokens
        assert sum(span.start < start < span.end for start in starts) < max_sentences


def test_short_sentences_are_joined_and_full_ones_stand_alone() -> None:
    long = (
        "It was raining a lot and the boxes got wet, so we had to dry everything in the living room "
        "for two days before unpacking the kitchen."
    )
    text = f"I moved to Paris last week. {long} Thanks! My sister Anna helped. She is a nurse in Lyon."
    assert [span.of(text) for span in chunk(text, count=rough_count)] == [
        "I moved to Paris last week.",
        f"{long} Thanks!",
        "My sister Anna helped. She is a nurse in Lyon.",
    ]


def test_an_over_long_sentence_is_cut_at_its_clauses() -> None:
    text = "，".join(["我上周搬到了巴黎的新公寓里面"] * 12) + "。"
    parts = [span.of(text) for span in chunk(text, count=rough_count)]
    assert len(parts) > 2
    assert all(part.endswith(("，", "。")) for part in parts)


def test_emoji_families_are_not_cut() -> None:
    family = "👩\u200d👩\u200d👧"
    text = family * 50
    parts = [span.of(text) for span in chunk(text, count=rough_count)]
    assert all(part.startswith("👩") and not part.endswith("\u200d") for part in parts)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "QUJD/+" * 100_000,
        "```\n" + "x = compute(1)\n" * 20_000 + "```",
        "| 12 | 3.4 | 5,6 | 7-8 | 9/10 |\n" * 10_000,
    ],
)
def test_of_data_only_the_first_chunks_are_indexed(text: str) -> None:
    started = time.process_time()
    spans = chunk("Here it is.\n" + text, count=rough_count)
    assert 1 < len(spans) <= MAX_DATA_CHUNKS + 1
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        "word " * 40_000,
        "我喜欢茶，" * 20_000,
        "I like tea. " * 13_000,
        "a, " * 40_000,
        "so...!? " * 40_000,
        "it cost 1. " * 13_000,
    ],
)
def test_prose_is_indexed_to_its_end_in_linear_time(text: str) -> None:
    started = time.process_time()
    spans = chunk(text, count=rough_count)
    assert_covers(text, spans)
    assert time.process_time() - started < 5


def test_embedded_text() -> None:
    assert (
        embedded_text("I went hiking.", at=date(2023, 5, 8), speaker="Caroline")
        == "[2023-05-08] Caroline: I went hiking."
    )
    assert embedded_text("嗨", at=datetime(2023, 5, 8, 23, 59), speaker="user\nx") == "[2023-05-08] user x: 嗨"  # noqa: DTZ001


def test_limits_are_checked() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        chunk("a", max_tokens=0, count=len)
