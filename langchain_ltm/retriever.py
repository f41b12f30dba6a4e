"""Memories as documents, for every chain that takes a retriever."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from pydantic import ConfigDict, Field

from langchain_ltm._identity import current_runtime, serving
from ltm_core.adapting import Call, Steps, adrive, checked_id, drive, surviving
from ltm_core.errors import ConfigError
from ltm_core.types import ContextItem, Scope, Tier

Floor = float | Literal["calibrated"] | None


class LTMRetriever(BaseRetriever):
    """The ``k`` memories nearest to the query, best first: facts and what was said.

    Without ``min_similarity`` there are exactly ``k``, or all when there are fewer, however far they are (with
    ``embedder="none"``: those that share words with it; a mere greeting finds nothing). With a cosine in [0, 1] only
    those at least that near; ``"calibrated"`` takes the floor that goes with the embedder.
    ``k``, ``min_similarity`` and ``filters`` may also be given to ``invoke``.

    The user is ``user_id``, or that of the config (``configurable``), of an agent's runtime or of the active
    ``ltm_core.scope(...)``. Sessions hide nothing. A failing store is logged and gives no documents, unless
    ``strict=True``.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: Any = Field(exclude=True, repr=False)
    """An open LongTermMemory, or a client with its methods."""
    user_id: str | None = None
    agent_id: str | None = None
    k: int = Field(4, ge=1, le=1000)
    min_similarity: float | Literal["calibrated"] | None = None
    tier: Literal["semantic", "episodic"] | None = None
    """Facts only, or what was said only; None searches both."""
    since: datetime | str | None = None
    until: datetime | str | None = None
    """Instants, or words such as "last week"."""
    filters: dict[str, Any] | None = None
    """Conditions on metadata and labels, as in ``memory.search``."""
    strict: bool = False

    def __init__(self, **data: Any) -> None:
        for name in ("user_id", "agent_id"):
            if name in data:
                data[name] = checked_id(data[name], name)
        if "memory" in data and not callable(getattr(data["memory"], "search", None)):
            raise ConfigError(f"memory must be a LongTermMemory, not {type(data['memory']).__name__}")
        super().__init__(**data)

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """The documents for this query."""
        return super().invoke(input, config, **{**kwargs, "scope": self._scope(config)})

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """Async form of `invoke`; the loop is not blocked."""
        return await super().ainvoke(input, config, **{**kwargs, "scope": self._scope(config)})

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        return drive(self.memory, self._searching(query, options))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        return await adrive(self.memory, self._searching(query, options))

    def _searching(self, query: str, options: Mapping[str, Any]) -> Steps[list[Document]]:
        scope: Scope = options.get("scope") or self._scope(None)
        floor: Floor = options.get("min_similarity", self.min_similarity)
        asked: dict[str, Any] = {
            "query": query,
            "user_id": scope.user_id,
            "top_k": options.get("k", self.k),
            # None is the calibrated floor to the store; here no floor is asked for, and 0 is none.
            "min_similarity": None if floor == "calibrated" else floor or 0.0,
            "tiers": None if self.tier is None else (self.tier,),
            "since": self.since,
            "until": self.until,
            "filters": options.get("filters", self.filters),
        }
        asked |= {n: v for n in ("agent_id", "task_id", "app_id") if (v := getattr(scope, n)) is not None}
        with surviving("the search", strict=self.strict):
            found = list((yield Call("search", asked)))
            if floor is None and len(found) < asked["top_k"]:
                # Without vectors nothing has a similarity, and what shares words with the query still counts.
                more = yield Call("search", {**asked, "min_similarity": None})
                known = {item.source_id for item in found}
                found += [item for item in more if item.source_id not in known]
            return [to_document(item) for item in found[: asked["top_k"]]]
        return []

    def _scope(self, config: RunnableConfig | None) -> Scope:
        return serving(self.user_id, agent_id=self.agent_id, config=config, runtime=current_runtime())


def to_document(item: ContextItem) -> Document:
    """The memory as a document: its words, with id, tier, date, score and source in the metadata (plain JSON)."""
    tier: Tier = item.tier
    return Document(
        id=item.source_id,
        page_content=item.text,
        metadata={
            "source_id": item.source_id,
            "tier": tier,
            "at": item.at.isoformat(),
            "score": item.score,
            "similarity": item.similarity,
            "is_current": item.is_current,
            "label": item.label,
            "session_id": item.session_id,
            "role": item.role,
            "source_message_ids": list(item.source_message_ids),
        },
    )


__all__ = ["LTMRetriever", "to_document"]
