"""Whose life a text tells, where no rule says so: the net that reads word by word, and what is left out by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_core.embed.base import Embedder
from ltm_core.lexicon import default_lexicon
from ltm_core.memory import LongTermMemory
from ltm_core.types import Fact
from ltm_core.write.analyse import analyse
from ltm_core.write.incoming.vectors import pieces_of
from ltm_core.write.learned.layers import Pieces
from ltm_core.write.learned.whose import MOST_PIECES, OTHERS, OWN, QUOTED, load_whose
from ltm_core.write.plan import Utterance

CASES = Path(__file__).parent.parent / "cases"
NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)


def told(path: Path, encoder: Embedder, turns: Sequence[str]) -> list[Fact]:
    with LongTermMemory.open(path / "s", embedder=encoder, clock=lambda: NOW, timezone="UTC") as memory:
        for n, words in enumerate(turns):
            memory.observe(user_id="u", session_id=f"s{n}", user=words)
        return list(memory.facts(user_id="u"))


@given(st.integers(1, 2 * MOST_PIECES), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_three_probabilities_add_up_to_one_and_nothing_behind_the_last_piece_counts(n: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(n, 512)).astype(np.float32)
    whole = Pieces(np.arange(n), vectors)
    p = load_whose().probabilities(whole)
    assert p.shape == (3,) and p.min() >= 0 and abs(float(p.sum()) - 1) < 1e-5
    assert np.allclose(p, load_whose().probabilities(whole.first(MOST_PIECES)))


@pytest.mark.parametrize(
    ("text", "whose"),
    [
        ("My boss collects stamps, he keeps them in forty albums", OTHERS),
        ("My dad collects stamps, he keeps them in forty albums", OWN),
        ("那个健身教练戒了碳水，说瘦了十五斤", OTHERS),
        ("我爸戒了碳水，瘦了十五斤", OWN),
        ("A sticker on the bus said: I only date people who like jazz. Hilarious", QUOTED),
        ("I only date people who like jazz", OWN),
        ("For my file: I weave baskets", OWN),
        ("FYI: I'm vegan", OWN),
        ("我的简历：我做过十年厨师", OWN),
    ],
)
def test_one_word_tells_whose_it_is(text: str, whose: int) -> None:
    assert int(load_whose().probabilities(pieces_of(text)).argmax()) == whose


@pytest.mark.parametrize(
    ("text", "own", "never"),
    [
        ("Bro my supervisor collects typewriters, he has like forty of them in his garage", "", "typewriter"),
        ("My flatmate's mate Gaz drives a tram. I'm a tram driver myself, in Leeds.", "tram driver", "Gaz"),
        ("健身房那个大叔七十三了，卧推比我还重", "", "卧推"),
        ("There's a plaque by the bench: I sat here every morning for forty years. Lovely, isn't it", "", "bench"),
    ],
)
def test_of_others_and_of_what_is_read_nothing_is_kept(
    tmp_path: Path, encoder: Embedder, text: str, own: str, never: str
) -> None:
    kept = " ".join(f.text for f in told(tmp_path, encoder, [text]))
    assert never not in kept and own in kept


def test_what_is_to_be_remembered_is_kept_whoever_it_is_of(tmp_path: Path, encoder: Embedder) -> None:
    words = "Remember that my boss collects typewriters"
    assert any("typewriters" in f.text for f in told(tmp_path, encoder, [words]))


def test_somebody_told_of_before_is_no_stranger(tmp_path: Path, encoder: Embedder) -> None:
    kept = told(tmp_path, encoder, ["My daughter is called Imogen", "Imogen plays the cello in an orchestra"])
    assert any("cello" in f.text for f in kept)


def test_without_pieces_rules_alone_decide() -> None:
    text = "My supervisor collects typewriters, he has forty"
    said = Utterance(message_id="m", role="user", content=text, at=NOW)
    bare = analyse(said, lexicon=default_lexicon(), fact_threshold=0.5)
    read = analyse(said, lexicon=default_lexicon(), fact_threshold=0.5, pieces=pieces_of)
    assert [c.text for c in bare.candidates] == ["My supervisor collects typewriters"]
    assert not read.candidates


@pytest.mark.parametrize("path", sorted(CASES.glob("whose_*.tsv")) + sorted(CASES.glob("passing_*.tsv")), ids=str)
def test_a_text_has_one_class(path: Path) -> None:
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    assert all(len(r) == 2 and r[0] in "OQUP" and r[1].strip() for r in rows)
    assert len({r[1] for r in rows}) == len(rows)


@pytest.mark.counts
@pytest.mark.parametrize(("language", "most"), [("en", (0.28, 0.10)), ("zh", (0.25, 0.08))])
def test_of_what_is_heard_and_was_never_read_little_is_kept(
    kept_of: Callable[[Path], tuple[Mapping[str, int], Mapping[str, int]]], language: str, most: tuple[float, float]
) -> None:
    told_of, kept = kept_of(CASES / f"messages_heard_apart_{language}.jsonl")
    for kind, share in zip(("third_party", "quotation"), most, strict=True):
        assert kept[kind] <= share * told_of[kind], (kind, kept, told_of)
