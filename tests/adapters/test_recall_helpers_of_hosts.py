"""Rerankers and chat models of LangChain and LlamaIndex, real classes of theirs, inside recall."""

from __future__ import annotations

from typing import Any

import pytest

from ltm_core import LongTermMemory

ANSWER = '{"queries": ["Was the Acme invoice paid?"]}'
QUERY = "kayak on the lake"


def opened(**options: Any) -> LongTermMemory:
    memory = LongTermMemory.open(
        ":memory:", embedder="none", timezone="UTC", rerank_seconds=30, rewrite_seconds=30, **options
    )
    for n, text in enumerate(("A kayak trip on the lake.", "My kayak is in a shed near the lake.")):
        memory.observe(user_id="ana", session_id=f"s{n}", user=text)
    memory.observe(user_id="ana", session_id="old", user="The invoice INV-2231 from Acme was paid in March.")
    memory.observe(user_id="ana", session_id="now", user="Hello again!", assistant="Hi!")
    return memory


def test_a_cross_encoder_of_langchain() -> None:
    module = pytest.importorskip("langchain_core.cross_encoders")

    class Shed(module.BaseCrossEncoder):  # type: ignore[misc, name-defined]
        def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
            return [float("shed" in text) for _, text in text_pairs]

    with opened(reranker=Shed()) as memory:
        found = memory.search(QUERY, user_id="ana", tiers=("episodic",))
        assert "shed" in found[0].text and found[0].signals["rerank"] == 1.0
        assert "Shed judged" in memory.context(QUERY, user_id="ana").explain()


@pytest.mark.parametrize("top_n", [1, 50])
def test_a_postprocessor_of_llamaindex(top_n: int) -> None:
    types = pytest.importorskip("llama_index.core.postprocessor.types")

    class Shed(types.BaseNodePostprocessor):  # type: ignore[misc, name-defined]
        def _postprocess_nodes(self, nodes: list[Any], query_bundle: Any = None) -> list[Any]:
            assert query_bundle.query_str == QUERY
            for n in nodes:
                n.score = float("shed" in n.node.get_content())
            return sorted(nodes, key=lambda n: -n.score)[:top_n]

    with opened(reranker=Shed()) as memory:
        found = memory.search(QUERY, user_id="ana", tiers=("episodic",))
        assert "shed" in found[0].text and found[0].signals["rerank"] == 1.0 and len(found) > 1


@pytest.mark.parametrize("question", ["What about that thing?", "那个事怎么样了？"])
def test_a_chat_model_of_langchain(question: str) -> None:
    pytest.importorskip("langchain_core")
    from ltm_core.testing.langchain_model import ScriptedChatModel

    model = ScriptedChatModel(reply=lambda messages: ANSWER)
    with opened(rewriter=model) as memory:
        assert "INV-2231" in memory.context(question, user_id="ana", session_id="now").text
    system, user = model.prompts[0]
    assert "search queries" in str(system.content) and question in str(user.content)


def test_a_model_of_llamaindex() -> None:
    pytest.importorskip("llama_index.core")
    from ltm_core.testing.llamaindex_model import ScriptedLLM

    with opened(rewriter=ScriptedLLM(reply=lambda messages: ANSWER)) as memory:
        assert "INV-2231" in memory.context("What about that thing?", user_id="ana", session_id="now").text
