"""What a reference to an earlier conversation means is said with it, and never stored a second time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core import LongTermMemory, Message
from ltm_core.embed import Embedder
from ltm_core.write.anchors.meant import meant

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def referred(memory: LongTermMemory, turns: Sequence[str]) -> list[str]:
    """The references of the last turn, each turn in a session of its own; "<" begins what the assistant says."""
    texts: list[str] = []
    for n, words in enumerate(turns):
        said = Message(
            role="assistant" if words.startswith("<") else "user",
            content=words.removeprefix("<"),
            at=BEGIN + timedelta(days=n),
        )
        seen = memory.observe(user_id="u", session_id=f"s{n}", messages=[said])
        texts = [a.text for a in seen.anchors if a.kind == "cross_session_reference"]
    return texts


@pytest.mark.parametrize(
    ("turns", "what"),
    [
        (
            ["I bank with Lloyds. I'm building a cedar canoe.", "That canoe I told you about leaks, why?"],
            "that canoe I told you about — I'm building a cedar canoe.",
        ),
        (
            ["My landlady, Mrs Frith, wants to sell.", "Back to my landlady we talked about, can she do it?"],
            "Mrs Frith",
        ),
        (["<Try a poolish: flour and water, overnight.", "That poolish you told me about, how long?"], "overnight"),
        (["我在给外婆织一条墨绿色的披肩", "上次跟你说的那条披肩，怎么收边？"], "墨绿色"),
        (["我打算五一带爸妈去喀什", "接着上回喀什的话说，要带厚衣服吗？"], "带爸妈去喀什"),
        (["The roof quote is Q-2025-118.", "About the quote I told you about, is it final?"], "Q-2025-118"),
    ],
)  # fmt: skip
def test_a_reference_says_what_it_means(tmp_path: Path, encoder: Embedder, turns: Sequence[str], what: str) -> None:
    with LongTermMemory.open(tmp_path, embedder=encoder, timezone="UTC") as memory:
        (text,) = referred(memory, turns)
        assert what.casefold() in text.casefold()


def test_told_in_other_words_it_is_a_reference_still(tmp_path: Path, encoder: Embedder) -> None:
    with LongTermMemory.open(tmp_path, embedder=encoder, timezone="UTC") as memory:
        turns = ["I'm reading Middlemarch.", "That novel I told you about, how long is it?"]
        assert referred(memory, turns) == ["That novel I told you about"]


def test_erasing_what_is_meant_leaves_no_copy(tmp_path: Path, encoder: Embedder) -> None:
    with LongTermMemory.open(tmp_path, embedder=encoder, timezone="UTC") as memory:
        first = memory.observe(user_id="u", session_id="s", user="I'm building a cedar canoe.", at=BEGIN)
        later = BEGIN + timedelta(days=9)
        memory.observe(user_id="u", session_id="t", user="That canoe I told you about leaks, why?", at=later)
        memory.forget(first.messages[0].id, user_id="u")
    assert not any(b"cedar" in f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())


@given(st.text(max_size=60), st.lists(st.text(max_size=300), max_size=8))
def test_what_is_meant_was_said(words: str, said: list[str]) -> None:
    found = meant(words, said)
    assert not found or any(found in s for s in said)


def test_of_the_sentences_that_share_a_word_the_one_with_the_rarest_is_meant() -> None:
    said = [
        "We put the plan for the shed up",
        "The plan is to rest. A plan for the marathon is pinned to the fridge.",
    ]
    assert meant("the marathon plan", said) == "A plan for the marathon is pinned to the fridge."
    assert meant("the violin", said) == ""
