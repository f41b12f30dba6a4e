"""The estimate of tokens that keeps a budget hard."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.text.chunks import MAX_TOKENS, chunk
from ltm_core.text.tokens import estimate_tokens

SAMPLE = json.loads((Path(__file__).parent / "data" / "token_counts.json").read_text(encoding="utf-8"))
VOCABULARIES = ("cl100k_base", "o200k_base", "qwen")

ANY_TEXT = st.text(st.characters(codec=None, categories=None))
WORDY = st.lists(
    st.sampled_from(
        [
            " something",
            "something",
            " restaurant",
            "don",
            "'t",
            "'",
            " ",
            "  ",
            "\t",
            "\n",
            "é",
            "中",
            " 情",
            "7",
            "😀",
            "\u0301",
            "//",
            "-",
            "THE",
            " the",
            "'re",
            "illy",
            " Thanks",
        ]
    )
).map("".join)


def real_count(row: dict[str, str | int]) -> int:
    return max(int(row[name]) for name in VOCABULARIES)


def test_the_estimate_is_never_below_a_real_count() -> None:
    assert len(SAMPLE) >= 300
    below = [row["text"] for row in SAMPLE if estimate_tokens(row["text"]) < real_count(row)]
    assert below == []


@pytest.mark.parametrize(("kind", "most"), [("zh", 1.25), ("en", 1.35), ("mixed", 1.35), ("ja", 1.35), ("code", 1.4)])
def test_the_estimate_is_close_for_natural_text(kind: str, most: float) -> None:
    ratios = defaultdict(list)
    for row in SAMPLE:
        ratios[row["kind"]].append(estimate_tokens(row["text"]) / real_count(row))
    assert len(ratios[kind]) >= 5
    assert mean(ratios[kind]) <= most


@given(ANY_TEXT | WORDY, ANY_TEXT | WORDY)
def test_it_never_falls_when_text_is_appended(one: str, other: str) -> None:
    assert estimate_tokens(one + other) >= estimate_tokens(one)
    assert estimate_tokens(one + other[:1]) >= estimate_tokens(one)


@given(ANY_TEXT | WORDY, ANY_TEXT | WORDY)
def test_lines_add_up(one: str, other: str) -> None:
    assert estimate_tokens(f"{one}\n{other}") <= estimate_tokens(one) + estimate_tokens(other) + 1


@given(ANY_TEXT | WORDY)
def test_it_is_bounded_by_the_bytes(text: str) -> None:
    # Twice: a tokenizer may decompose a character before it reads bytes.
    size = len(text.encode("utf-8", "replace"))
    assert estimate_tokens(text) <= 2 * size + 1
    assert (estimate_tokens(text) > 0) == bool(text)


def test_a_budget_of_chinese_facts_is_kept() -> None:
    fact = "我上个月搬到了杭州西湖区，在一家做冷链物流的公司负责运营，每天骑车上下班。"
    assert 30 <= estimate_tokens(fact) <= 60
    assert estimate_tokens("\n".join([fact] * 200)) <= 200 * (estimate_tokens(fact) + 1)


@pytest.mark.parametrize(
    "unit", ["x", "aB3/", " ", "\n", "'s", "é", "中", "😀", "word ", "9", "/", "\u0301", "\r\n/", "\ud800"]
)
def test_time_is_linear(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    started = time.process_time()
    estimate_tokens(text)
    assert time.process_time() - started < 5


def test_chunks_by_the_estimate() -> None:
    text = "I moved to Paris. " * 30 + "我搬到了巴黎。" * 30 + "aB3/" * 300
    for span in chunk(text, count=estimate_tokens):
        assert estimate_tokens(span.of(text)) <= MAX_TOKENS
