"""A real cross-encoder, made on the spot: tiny, random, trained here on a few pairs; nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory

pytestmark = pytest.mark.heavy

WORDS = ["kayak", "lake", "shed", "dog", "trip", "on", "the", "in", "a", "my", "our", "was", "near"]
TURNS = ["my kayak was in a shed near the lake", "a kayak trip on the lake", "our dog was in the kayak on the lake"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer whose only skill is that pairs with "shed" score high."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    place = tmp_path_factory.mktemp("cross-encoder")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (place / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(vocab={w: i for i, w in enumerate(vocabulary)})
    torch.manual_seed(7)
    model = transformers.BertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=128,
            num_labels=1,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            initializer_range=0.3,
        )
    )
    told = [f"[2026-01-05] user: {t}" for t in TURNS]
    batch = tokenizer(["kayak on the lake"] * len(told), told, padding=True, return_tensors="pt")
    wanted = torch.tensor([4.0, -4.0, -4.0])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
        optimiser.zero_grad()
        loss = torch.nn.functional.mse_loss(model(**batch).logits[:, 0], wanted)
        loss.backward()
        optimiser.step()
    assert float(loss.detach()) < 1.0
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def opened(**options: Any) -> LongTermMemory:
    memory = LongTermMemory.open(
        ":memory:", embedder="none", timezone="UTC", rerank_seconds=120, rerank_weight=1.0, **options
    )
    for n, text in enumerate(TURNS):
        memory.observe(user_id="ana", session_id=f"s{n}", user=text)
    return memory


def test_a_folder_is_loaded_and_decides(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with opened(reranker=f"cross-encoder:{folder}") as memory:
        found = memory.search("kayak on the lake", user_id="ana", tiers=("episodic",))
        assert found[0].text == TURNS[0] and found[0].signals["rerank"] == 1.0
        assert [i.text for i in memory.search("kayak on the lake", user_id="ana", tiers=("episodic",))] == [
            i.text for i in found
        ]
        assert f"cross-encoder:{folder.name} judged" in memory.context("kayak on the lake", user_id="ana").explain()


def test_the_object_itself_is_taken(folder: Path) -> None:
    from sentence_transformers import CrossEncoder

    with opened(reranker=CrossEncoder(str(folder), device="cpu")) as memory:
        found = memory.search("kayak on the lake", user_id="ana", tiers=("episodic",))
        assert found[0].text == TURNS[0]


def test_a_folder_that_holds_no_model_costs_the_order_nothing(tmp_path: Path) -> None:
    with opened() as plain, opened(reranker=f"cross-encoder:{tmp_path}") as memory:
        expected = [i.text for i in plain.search("kayak on the lake", user_id="ana")]
        assert [i.text for i in memory.search("kayak on the lake", user_id="ana")] == expected
