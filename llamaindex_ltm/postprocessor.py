"""Memories for query engines and context engines, beside the documents they found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_ltm._link import Linked
from llamaindex_ltm._recall import SPOKEN, inert, memory_node
from ltm_core.adapting import Call, Steps, adrive, drive, labels, served, surviving
from ltm_core.text.tokens import estimate_tokens
from ltm_core.types import Tier


class LTMNodePostprocessor(Linked, BaseNodePostprocessor):
    """Puts one node of memories that fit the question before the nodes of the documents.

    It holds the turns of the session, facts and earlier conversations, within ``context_tokens``; its metadata
    never reach a prompt. It is there when no document was found, so that a context engine asks its model
    instead of answering "Empty Response". Put it last, behind rerankers and similarity cut-offs. Beside an
    `LTMMemory` give ``tiers=("semantic", "episodic")``: that shows the turns already.
    """

    session_id: str | None = None
    """Which conversation; None takes that of the active scope, else "default"."""
    context_tokens: int = Field(1200, ge=0)
    """Most tokens of the memories."""
    tiers: tuple[Tier, ...] = ("working", "semantic", "episodic")

    def __init__(self, memory: Any = None, **options: Any) -> None:
        """On an open ``memory``, or on the one at ``location=`` (default ``./ltm-data``). ``options``: the fields."""
        super().__init__(memory, **options)

    @classmethod
    def class_name(cls) -> str:
        """The name it is serialised under."""
        return "LTMNodePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return drive(self._memory, self._adding(nodes, query_bundle))

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return await adrive(self._memory, self._adding(nodes, query_bundle))

    def _adding(self, nodes: Sequence[NodeWithScore], query: QueryBundle | None) -> Steps[list[NodeWithScore]]:
        if query is None or not query.query_str.strip():
            return list(nodes)
        scope = served(self.user_id, self.session_id)
        with surviving("recall", strict=self.strict):
            options: dict[str, Any] = {"tiers": self.tiers, "max_tokens": self.context_tokens, "filters": SPOKEN}
            context = yield Call(
                "context",
                {
                    **labels(scope),
                    **options,
                    "query": query.query_str,
                    "token_counter": lambda text: estimate_tokens(inert(text)),
                },
            )
            if context.text:
                sources = [item.source_id for item in context.items]
                return [memory_node(inert(context.text), score=1.0, sources=sources), *nodes]
        return list(nodes)


__all__ = ["LTMNodePostprocessor"]
