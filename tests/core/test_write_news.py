"""What a sentence overtakes: the learned models, and what they do to what is known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Fact
from ltm_core.write.known.news import MATCH, Held, Sentence, load_news

NEWS = load_news()
BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
NO_CUES = np.zeros(0, np.float32)


def told(tmp_path: Path, encoder: Embedder | None, turns: Sequence[str]) -> list[Fact]:
    """Everything known after the turns, ten days and a session apart, ended facts too."""
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        for day, words in enumerate(turns):
            memory.observe(user_id="u", session_id=f"s{day}", user=words, at=BEGIN + timedelta(days=10 * day))
        return list(memory.facts(user_id="u", include_superseded=True))


@pytest.mark.parametrize(
    ("known", "words", "gone", "stays"),
    [
        (
            "I use Obsidian for notes. I play the cello. My dentist is Dr Kaur.",
            "Moved all my notes from Obsidian into Craft last weekend",
            "Obsidian",
            ["cello", "Kaur", "Craft"],
        ),
        ("我在跟着徐老师学二胡。我的房东姓鲁。", "徐老师出国了，如今跟一位姓丁的老师学", "二胡", ["鲁", "丁"]),
    ],
)
def test_news_ends_the_fact_it_means_and_no_other(
    tmp_path: Path, encoder: Embedder, known: str, words: str, gone: str, stays: list[str]
) -> None:
    facts = told(tmp_path, encoder, [known, words])
    current = [f for f in facts if f.is_current and f.is_positive]
    assert not any(gone in f.object for f in current if f.valid_from == BEGIN), current
    for word in stays:
        assert any(word in f"{f.object} {f.text}" for f in current), current
    (over,) = [f for f in facts if gone in f.object and not f.is_current]
    assert over.superseded_by in {f.id for f in facts}
    assert over.valid_to == BEGIN + timedelta(days=10)


def test_every_ending_names_the_model_and_what_spoke_for_it(tmp_path: Path, encoder: Embedder) -> None:
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="s1", user="我在跟着徐老师学二胡。", at=BEGIN)
        seen = memory.observe(
            user_id="u",
            session_id="s2",
            user="徐老师出国了，如今跟一位姓丁的老师学",
            at=BEGIN + timedelta(days=9),
        )
    (change,) = [c for c in seen.changes if c.op in ("supersede", "close")]
    assert change.reason.startswith(f"news {NEWS.version.partition('/')[0]}")
    assert "turn" in change.reason and sum(name in change.reason for name in MATCH) >= 2
    assert "二胡" not in change.reason


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("I drive a Honda Civic.", "My neighbour swapped his Honda for a Kia."),
        ("I live in Malmö.", "my brother's just moved to Uppsala"),
        ("I play the drums.", "also messing about with a bit of bass"),
        ("I have a Pixel phone.", "gave a Samsung a go, still on the Pixel"),
        ("我吃素", "又开始吃素了，这次认真的"),
        ("我在小米上班", "华为给了面试，还没去"),
        ("我用飞书", "飞书崩了，打不开了"),
    ],
)
def test_what_only_resembles_news_ends_nothing(tmp_path: Path, encoder: Embedder, known: str, words: str) -> None:
    facts = told(tmp_path, encoder, [known, words])
    first = [f for f in facts if f.valid_from == BEGIN or f.last_seen_at == BEGIN]
    assert facts and all(f.is_current for f in first), facts


def test_news_told_late_ends_nothing_newer(tmp_path: Path, encoder: Embedder) -> None:
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="s1", user="I use Obsidian for notes.", at=BEGIN)
        memory.observe(
            user_id="u", session_id="s0", user="Moved all my notes from Obsidian into Craft last weekend",
            at=BEGIN - timedelta(days=30),
        )  # fmt: skip
        assert any("Obsidian" in f.object for f in memory.facts(user_id="u"))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.lists(st.text(min_size=1, max_size=40), max_size=6), st.booleans())
def test_the_shares_are_probabilities(text: str, held: list[str], with_vectors: bool) -> None:
    rng = np.random.default_rng(len(text))

    def vector() -> np.ndarray | None:
        v = rng.normal(size=512)
        return v / np.linalg.norm(v) if with_vectors else None

    facts = [Held(text=h, object=h, relation="about", vector=vector()) for h in held]
    shares = NEWS.meant(Sentence(text, text, "en", NO_CUES, vector()), facts)
    assert len(shares) == len(held)
    assert np.all(shares >= 0) and shares.sum() <= 1 + 1e-9


def test_the_more_is_known_the_clearer_words_must_be() -> None:
    said = Sentence("I sold the boat", "I sold the boat", "en", NO_CUES)
    boat = Held(text="I own a boat", object="a boat", relation="owns")
    alone = NEWS.meant(said, [boat])[0]
    many = NEWS.meant(
        said, [boat, *(Held(text=f"thing {i}", object=f"thing {i}", relation="owns") for i in range(50))]
    )
    assert many[0] < alone and many[0] == many.max()


def test_vectors_of_another_size_leave_the_words_to_decide() -> None:
    cues = np.zeros(len(NEWS.turn.gram_cues), np.float32)
    plain = Sentence("I sold the boat", "i sold the boat", "en", cues)
    other = Sentence("I sold the boat", "i sold the boat", "en", cues, np.ones(384, np.float32))
    assert NEWS.turns(plain) == NEWS.turns(other)
    boat = Held(text="I own a boat", object="a boat", relation="owns", vector=np.ones(384, np.float32))
    assert NEWS.meant(plain, [boat])[0] == NEWS.meant(other, [boat])[0]
