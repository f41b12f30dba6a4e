"""Requests to the memory in words that no expression of the lexicon knows, found by the learned model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ltm_core.embed.resolve import resolve_embedder
from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.anchors.acts import ACTS, MARKS, load_acts, stretch
from ltm_core.write.plan import Analysis, Utterance

NOW = datetime(2026, 6, 17, 10, tzinfo=UTC)
LEXICON = default_lexicon()
EMBEDDER = resolve_embedder(None)


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.asarray(EMBEDDER.embed_documents(list(texts)), dtype=np.float32)


def heard(words: str, *, told: bool = True) -> Analysis:
    said = Utterance(message_id="m", role="user", content=words, at=NOW, said_earlier=lambda _: told)
    return analyse(said, lexicon=LEXICON, fact_threshold=0.6, clause_vectors=vectors)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("Be a dear and get my old flat's door code out of your head.", "door code"),
        ("It would ease my mind if you held no trace of the adoption.", "adoption"),
        ("那天喝多了说的分手原因，麻烦从你那儿清干净。", "分手原因"),
        ("我爸欠债这回事，就当我没跟你讲过。", "欠债"),
    ],
)
def test_what_is_to_be_forgotten_is_found_in_free_words(words: str, named: str) -> None:
    (request,) = heard(words).requests
    assert request.mode == "erase"
    assert named in request.target


def test_a_relative_is_never_erased_for_a_stretch_that_was_read_too_short() -> None:
    assert not [
        r for r in heard("I let slip how much my sister inherited, so kindly un-hear it.").requests if r.person
    ]


@pytest.mark.parametrize(
    "words",
    [
        "Please call me Gus from now on.",
        "Don't let me forget the parking ticket.",
        "I completely forgot my umbrella on the train.",
        "Could you delete the last paragraph of the letter?",
        "My grandmother forgets our names these days.",
        "How do I erase a whiteboard that has been written on with permanent marker?",
        "我把钥匙忘在公司了。",
        "帮我把这段代码里的注释删掉。",
        "千万别忘了提醒我交电费。",
        "他说让我忘了他，可我做不到。",
    ],
)
def test_what_only_speaks_of_forgetting_asks_for_nothing(words: str) -> None:
    assert not heard(words).requests


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("Let this be in your records for good: my son carries an EpiPen.", "EpiPen"),
        ("麻烦在你那儿备个案：我妈左耳听不见。", "左耳"),
    ],
)
def test_what_is_to_be_remembered_is_kept_as_asked(words: str, kept: str) -> None:
    asked = [a for a in heard(words).anchors if a.kind == "explicit_request"]
    assert [kept in a.text for a in asked] == [True]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("You walked me through a marinade a few weeks back, what was in it?", "marinade"),
        ("前阵子你帮我排的那个跑步计划，第三周是怎么安排的？", "跑步计划"),
    ],
)
def test_what_was_said_in_another_session_is_referred_to(words: str, named: str) -> None:
    assert [named in a.text for a in heard(words).anchors if a.kind == "cross_session_reference"] == [True]


@pytest.mark.parametrize(
    "text", ["", "   ", "🙂🙂🙂", "x" * 4000, "忘" * 4000, "forget " * 2000, "|a|b|\n|-|-|\n" * 50]
)
def test_no_text_breaks_it(text: str) -> None:
    heard(text)


@given(st.text(max_size=200), st.sampled_from(ACTS))
def test_what_is_meant_lies_in_the_text(text: str, act: str) -> None:
    start, end = load_acts().meant(text, act)  # type: ignore[arg-type]
    assert 0 <= start <= end <= len(text)


@given(st.lists(st.tuples(*[st.floats(-9, 9)] * len(MARKS)), min_size=1, max_size=30))
def test_the_best_stretch_is_a_stretch(z: list[tuple[float, ...]]) -> None:
    first, last = stretch(np.array(z).T)
    assert 0 <= first <= last < len(z)
