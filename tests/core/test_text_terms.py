"""Terms of memories and questions, and their scores."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.text.bm25 import K1, B, bm25, idf
from ltm_core.text.terms import MAX_QUERY_TERMS, MAX_TERM_LENGTH, terms

ANY_TEXT = st.text(st.characters(codec=None, categories=None))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't use it", ["use"]),
        ("She was running with the dogs", ["run", "dog"]),
        ("Café naïve ＡＢＣ１２３ Straße Łódź", ["cafe", "naiv", "abc123", "strass", "lodz"]),
        ("my sister’s O'Brien", ["sister", "obrien"]),
        ("我住在上海", ["住", "海", "我住", "住在", "在上", "上海"]),
        ("안녕하세요 말", ["안녕", "녕하", "하세", "세요", "말"]),
        ("Привет हिन्दी", ["привет", "हिन्दी"]),
        ("", []),
        ("\"*'():^-+", []),
        ("的了是", ["的了", "了是"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("My order is ORD-2024-00817.", "ord-2024-00817"),
        ("订单ORD-2024-00817的状态", "ord-2024-00817"),
        ("我们用C++写", "c++"),
        ("C# or F#?", "f#"),
        ("on .NET now", ".net"),
        ("v2.3.1,", "v2.3.1"),
        ("write to User@X.com!", "user@x.com"),
        ("合同 ４４１００２７７８１", "4410027781"),
        ("see core/ltm_core/text", "core/ltm_core/text"),
    ],
)
def test_an_identifier_is_one_term_in_both_roles(text: str, identifier: str) -> None:
    assert identifier in terms(text)
    assert identifier in terms(text, query=True)


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("部署", "我负责部署方案"),
        ("上海", "我住在上海"),
        ("サンドボックス", "私はサンドボックスが好きです"),
        ("c++ (or NOT?)", "I use C++."),
    ],
)
def test_a_question_shares_terms_with_its_memory(question: str, memory: str) -> None:
    assert set(terms(question, query=True)) <= set(terms(memory)) | {"not"}


@given(ANY_TEXT)
def test_terms_are_bounded_and_the_same_in_both_roles(text: str) -> None:
    found = terms(text)
    assert all(0 < len(term) <= MAX_TERM_LENGTH for term in found)
    asked = terms(text, query=True)
    assert len(asked) <= MAX_QUERY_TERMS
    assert len(set(asked)) == len(asked)
    if len(set(found)) <= MAX_QUERY_TERMS:
        assert set(asked) == set(found)


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "a-" * 500_000, "'" * 1_000_000, "我" * 300_000, "a\u0301" * 300_000]
)
def test_time_is_linear(text: str) -> None:
    started = time.process_time()
    terms(text)
    assert time.process_time() - started < 5


def test_bm25_is_the_formula() -> None:
    lengths = np.array([4, 8, 6], dtype=np.float32)
    postings = [
        (np.array([0, 2]), np.array([1, 3], dtype=np.int32)),
        (np.array([1]), np.array([2], dtype=np.int32)),
        (np.array([], dtype=np.int64), np.array([], dtype=np.int32)),
    ]
    scores = bm25(postings, lengths=lengths, doc_count=3, average_length=6.0, query_weights=[1.0, 0.5, 1.0])

    def expected(tf: int, length: int, df: int) -> float:
        return math.log(1 + (3 - df + 0.5) / (df + 0.5)) * tf / (tf + K1 * (1 - B + B * length / 6))

    assert scores == pytest.approx([expected(1, 4, 2), 0.5 * expected(2, 8, 1), expected(3, 6, 2)], rel=1e-5)


def test_bm25_of_nothing() -> None:
    none = np.zeros(0, dtype=np.float32)
    assert bm25([], lengths=none, doc_count=0, average_length=0.0).shape == (0,)
    assert not bm25([], lengths=np.zeros(3, dtype=np.float32), doc_count=3, average_length=0.0).any()
    assert idf(0, 5) > 0
    with pytest.raises(ValueError, match="1 postings but 2 weights"):
        bm25(
            [(np.zeros(1, np.int64), np.ones(1, np.int32))],
            lengths=none,
            doc_count=1,
            average_length=1.0,
            query_weights=[1, 2],
        )


def test_words_are_stemmed_alike_where_the_compiled_stemmer_is_installed(tmp_path: Path) -> None:
    """With it the stemmer's package does not load its own modules."""
    (tmp_path / "Stemmer.py").write_text("def algorithms(): return []\nclass Stemmer: pass\n")
    code = "from ltm_core.text.terms import terms; print(terms('She was running with the dogs'))"
    place = {"PYTHONPATH": ":".join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=place)
    assert done.stdout.strip() == "['run', 'dog']"
