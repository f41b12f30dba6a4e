"""What is remembered of a user, as a retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_ltm._link import opened
from llamaindex_ltm._recall import SPOKEN, inert, memory_node
from ltm_core.adapting import Call, Steps, adrive, checked_id, drive, served, surviving
from ltm_core.errors import InvalidInputError
from ltm_core.recall.render import safe, speaker, words
from ltm_core.text.fence import new_mark
from ltm_core.text.language import detect_language
from ltm_core.types import ContextItem, Tier


class LTMRetriever(BaseRetriever):
    """The ``similarity_top_k`` facts and earlier turns nearest to the question, one node each, best first.

    A node's text is one dated line that says who spoke; its id is that of the fact or the turn. Combine it with
    the retriever of your documents (``QueryFusionRetriever``), or make a tool of it (``RetrieverTool``). The
    turns of the conversation at hand are not among them as such: that is `LTMNodePostprocessor`.
    """

    def __init__(
        self,
        memory: Any = None,
        *,
        location: str | Path | None = None,
        user_id: str | int | None = None,
        similarity_top_k: int = 5,
        min_similarity: float | None = None,
        tiers: Sequence[Tier] = ("semantic", "episodic"),
        filters: Mapping[str, Any] | None = None,
        strict: bool = False,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
    ) -> None:
        """``user_id`` None serves the user of the active ``ltm_core.scope(...)``. ``min_similarity`` and
        ``filters`` are those of ``memory.search``."""
        if isinstance(similarity_top_k, bool) or not isinstance(similarity_top_k, int) or similarity_top_k < 1:
            raise InvalidInputError(f"similarity_top_k must be a whole number from 1, not {similarity_top_k!r}")
        self._memory = opened(memory, location)
        self._user_id = checked_id(user_id, "user_id")
        self._options: dict[str, Any] = {
            "top_k": similarity_top_k,
            "min_similarity": min_similarity,
            "tiers": tuple(tiers),
            "filters": SPOKEN if filters is None else {"$and": [SPOKEN, dict(filters)]},
        }
        self._strict = strict
        super().__init__(callback_manager=callback_manager, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return drive(self._memory, self._finding(query_bundle.query_str))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await adrive(self._memory, self._finding(query_bundle.query_str))

    def _finding(self, query: str) -> Steps[list[NodeWithScore]]:
        user_id = served(self._user_id, None).user_id
        if not query.strip():
            return []
        with surviving("recall", strict=self._strict):
            found = yield Call("search", {**self._options, "user_id": user_id, "query": query})
            return [_node(item) for item in found]
        return []


def _node(item: ContextItem) -> NodeWithScore:
    sources = [item.source_id, *item.source_message_ids]
    return memory_node(
        inert(_line(item)),
        score=item.score,
        sources=sources,
        id=item.source_id,
        tier=item.tier,
        at=item.at.isoformat(),
    )


def _line(item: ContextItem) -> str:
    mark, language = new_mark(), detect_language(item.text)
    about = [item.at.date().isoformat()]
    if item.label == "partly" or not item.is_current:
        about.append(words(language)["partly" if item.label == "partly" else "previous"])
    if item.period is not None:
        # Its lines have their own days and speakers.
        return f"[{words(language)['summary']}] {safe(item.text, mark=mark)}"
    said = item.tier == "episodic" or item.speaker is not None
    who = f"{speaker(item.role, item.speaker, language, mark=mark)}: " if said else ""
    return f"[{', '.join(about)}] {who}{safe(item.text, mark=mark)}"


__all__ = ["LTMRetriever"]
