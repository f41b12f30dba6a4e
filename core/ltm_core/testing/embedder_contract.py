"""What every embedder must do when the product uses it. Inherit the class and give it yours.

class TestMine(EmbedderContract):
    @pytest.fixture
    def embedder(self):
        return MyEmbedder()
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from ltm_core.embed import checked, identity, is_embedder, resolve_embedder
from ltm_core.embed.base import Embedder
from ltm_core.errors import InvalidInputError

TEXTS = [
    "I live in Hangzhou and work at a bank.",
    "我住在杭州，在银行工作。",
    "Order #A-1029 ships on 2024-05-06.",
    "ok",
    "She said: \"l'été, c'est fini\" and left 🌧️",
]
BLANK = ["", " ", "\n\t  \r\n", "\u200b", "\ufeff\u2060", "\u3000", "\x00", "\ud800", "\x1b\x07"]
HOSTILE = [
    "a\x00b",
    "half a pair \ud83d here",
    "👩‍👩‍👧‍👦" * 50,
    "\u202eright to left\u202c",
    "é" * 40 + "\u0301" * 400,
    "x" * 50_000,
    "我" * 20_000,
    "ﷺ" * 2_000,
    "<|endoftext|> [CLS] </s> {{x}} %s",
    "\U0010ffff\ue000",
]


class EmbedderContract:
    """Subclasses give the fixture ``embedder``; the tests run it behind ``checked``, as the product does."""

    TOLERANCE = 1e-5
    """How far two runs of one text may be apart in any component."""
    KNOWS_MEANING = False
    """Set it for a real model: paraphrases must be nearer than other things."""
    KNOWS_CHINESE = False

    @pytest.fixture
    def embedder(self) -> Any:
        raise NotImplementedError("give your embedder in the fixture `embedder`")

    @pytest.fixture
    def guarded(self, embedder: Any) -> Embedder:
        return resolve_embedder(embedder)

    def test_describes_itself(self, guarded: Embedder) -> None:
        assert is_embedder(guarded)
        assert isinstance(guarded, Embedder)
        assert guarded.dimension >= 1
        assert guarded.max_tokens >= 16
        assert guarded.name == guarded.name.strip()
        assert identity(guarded, template_version=1, chunker_version=2).endswith(f"|{guarded.dimension}|t1|c2")

    def test_name_and_dimension_do_not_change_with_use(self, guarded: Embedder) -> None:
        before = (guarded.name, guarded.dimension)
        guarded.embed_documents(TEXTS)
        guarded.embed_query(TEXTS[0])
        assert (guarded.name, guarded.dimension) == before

    def test_rows_are_unit_float32_and_finite(self, guarded: Embedder) -> None:
        rows = guarded.embed_documents(TEXTS)
        assert rows.dtype == np.float32
        assert rows.shape == (len(TEXTS), guarded.dimension)
        assert np.isfinite(rows).all()
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
        query = guarded.embed_query(TEXTS[0])
        assert query.dtype == np.float32
        assert query.shape == (guarded.dimension,)
        assert np.linalg.norm(query) == pytest.approx(1, abs=1e-5)

    def test_no_texts(self, guarded: Embedder) -> None:
        rows = guarded.embed_documents([])
        assert rows.shape == (0, guarded.dimension)
        assert rows.dtype == np.float32

    def test_same_text_same_vector(self, guarded: Embedder) -> None:
        assert guarded.embed_documents(TEXTS) == pytest.approx(guarded.embed_documents(TEXTS), abs=self.TOLERANCE)
        assert guarded.embed_query(TEXTS[1]) == pytest.approx(guarded.embed_query(TEXTS[1]), abs=self.TOLERANCE)

    def test_batch_and_order_do_not_matter(self, guarded: Embedder) -> None:
        together = guarded.embed_documents(TEXTS)
        alone = np.concatenate([guarded.embed_documents([text]) for text in TEXTS])
        backwards = guarded.embed_documents(TEXTS[::-1])[::-1]
        assert together == pytest.approx(alone, abs=self.TOLERANCE)
        assert together == pytest.approx(backwards, abs=self.TOLERANCE)

    def test_blank_texts_are_zero_between_others(self, guarded: Embedder) -> None:
        rows = guarded.embed_documents([TEXTS[0], *BLANK, TEXTS[1]])
        assert not rows[1:-1].any()
        assert rows[[0, -1]] == pytest.approx(guarded.embed_documents(TEXTS[:2]), abs=self.TOLERANCE)
        for text in BLANK:
            assert not guarded.embed_query(text).any()

    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    def test_hostile_text_gives_a_unit_or_zero_vector(self, guarded: Embedder, text: str) -> None:
        for vector in (guarded.embed_documents([text])[0], guarded.embed_query(text)):
            assert np.isfinite(vector).all()
            length = float(np.linalg.norm(vector))
            assert length == pytest.approx(1, abs=1e-5) or length == 0

    @pytest.mark.parametrize("value", [None, 1, b"bytes", ["list"]], ids=repr)
    def test_only_text_is_taken(self, guarded: Embedder, value: Any) -> None:
        with pytest.raises(InvalidInputError):
            guarded.embed_query(value)
        with pytest.raises(InvalidInputError):
            guarded.embed_documents([value])
        with pytest.raises(InvalidInputError):
            guarded.embed_documents("one text")

    def test_result_belongs_to_the_caller(self, guarded: Embedder) -> None:
        first = guarded.embed_query(TEXTS[0])
        kept = first.copy()
        first[:] = 7
        assert guarded.embed_query(TEXTS[0]) == pytest.approx(kept, abs=self.TOLERANCE)

    def test_threads_get_their_own_vectors(self, guarded: Embedder) -> None:
        expected = guarded.embed_documents(TEXTS)
        jobs = [index % len(TEXTS) for index in range(24)]
        with ThreadPoolExecutor(4) as pool:
            rows = list(pool.map(lambda index: guarded.embed_documents([TEXTS[index]])[0], jobs))
        for index, row in zip(jobs, rows, strict=True):
            assert row == pytest.approx(expected[index], abs=self.TOLERANCE)

    def test_checked_twice_is_checked_once(self, guarded: Embedder) -> None:
        assert checked(guarded) is guarded

    def test_paraphrase_is_nearer_than_another_matter(self, guarded: Embedder) -> None:
        if not self.KNOWS_MEANING:
            pytest.skip("not a real model")
        near, far = guarded.embed_documents(["My home is in Hangzhou.", "I like noodles."])
        query = guarded.embed_query("I live in Hangzhou.")
        assert query @ near > query @ far + 0.1

    def test_chinese_paraphrase_is_nearer_than_another_matter(self, guarded: Embedder) -> None:
        if not self.KNOWS_CHINESE:
            pytest.skip("does not know Chinese")
        near, far = guarded.embed_documents(["我家在杭州", "我喜欢吃面"])
        query = guarded.embed_query("我住在杭州")
        assert query @ near > query @ far + 0.1
