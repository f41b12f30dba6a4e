"""A query engine that remembers what it was asked and what it answered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.indices.base import BaseIndex
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_ltm._convert import to_message
from llamaindex_ltm._link import opened
from llamaindex_ltm._recall import SPOKEN
from llamaindex_ltm._turns import Turns
from llamaindex_ltm.postprocessor import LTMNodePostprocessor
from ltm_core.adapting import Call, Steps, adrive, checked_id, drive, labels, served, surviving
from ltm_core.ids import new_uuid7
from ltm_core.types import Scope


class LTMQueryEngine(BaseQueryEngine):
    """Any query engine, with a memory that is written: the question when it arrives, the answer when it is given.

    A streamed answer is stored when the stream ends, also when its reader stops early; one that breaks off with
    an error is not. Questions and answers are turns of the session, learnt from like any other. What is
    remembered reaches the answering model in one of two ways: `from_index` puts an `LTMNodePostprocessor` into
    the engine it makes; an engine that is given (SQL, routers, sub-questions, your own) gets the memories before
    the question, which is still embedded as it was asked.

    Ask it what a person asks. Inside an agent or a chat engine with a memory of its own, use the inner engine
    with the postprocessor: else every question is stored twice, the model's own questions as the user's.
    """

    def __init__(
        self,
        inner: BaseQueryEngine,
        memory: Any = None,
        *,
        location: str | Path | None = None,
        user_id: str | int | None = None,
        session_id: str | int | None = None,
        context_tokens: int = 1200,
        strict: bool = False,
    ) -> None:
        """``user_id`` and ``session_id`` None are those of the active ``ltm_core.scope(...)``. ``context_tokens``
        is the most that memories before the question may take; 0 for an engine with a postprocessor of ours."""
        self._inner = inner
        self._memory = opened(memory, location)
        self._user_id = checked_id(user_id, "user_id")
        self._session_id = checked_id(session_id, "session_id")
        self._context_tokens = context_tokens
        self._strict = strict
        self._turns = Turns()
        super().__init__(callback_manager=inner.callback_manager)

    @classmethod
    def from_index(
        cls,
        index: BaseIndex[Any],
        memory: Any = None,
        *,
        location: str | Path | None = None,
        user_id: str | int | None = None,
        session_id: str | int | None = None,
        context_tokens: int = 1200,
        strict: bool = False,
        node_postprocessors: Sequence[Any] = (),
        **options: Any,
    ) -> Self:
        """``index.as_query_engine(**options)`` whose model is shown memories behind ``node_postprocessors``."""
        memories = LTMNodePostprocessor(
            memory,
            location=location,
            user_id=user_id,
            session_id=session_id,
            context_tokens=context_tokens,
            strict=strict,
        )
        inner = index.as_query_engine(node_postprocessors=[*node_postprocessors, memories], **options)
        shared = memories._memory
        return cls(inner, shared, user_id=user_id, session_id=session_id, context_tokens=0, strict=strict)

    # the host's methods ------------------------------------------------------------------------------------
    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        scope = self._scope()
        asked = drive(self._memory, self._asking(scope, query_bundle))
        response = self._inner.query(asked)
        if isinstance(response, StreamingResponse):
            response.response_gen = self._listening(scope, response.response_gen)
        else:
            drive(self._memory, self._saving(scope, MessageRole.ASSISTANT, _said(response)))
        return response

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        scope = self._scope()
        asked = await adrive(self._memory, self._asking(scope, query_bundle))
        response = await self._inner.aquery(asked)
        if isinstance(response, AsyncStreamingResponse):
            response.response_gen = self._alistening(scope, response.response_gen)
        elif isinstance(response, StreamingResponse):
            response.response_gen = self._listening(scope, response.response_gen)
        else:
            await adrive(self._memory, self._saving(scope, MessageRole.ASSISTANT, _said(response)))
        return response

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The nodes of the inner engine; nothing is stored."""
        return self._inner.retrieve(query_bundle)

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Async form of `retrieve`."""
        found: list[NodeWithScore] = await self._inner.aretrieve(query_bundle)  # type: ignore[attr-defined]
        return found

    def synthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """The answer of the inner engine to given nodes; nothing is stored."""
        return self._inner.synthesize(query_bundle, nodes, additional_source_nodes)

    async def asynthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """Async form of `synthesize`."""
        return await self._inner.asynthesize(query_bundle, nodes, additional_source_nodes)

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {"inner": self._inner}

    # the work ------------------------------------------------------------------------------------------------
    def _scope(self) -> Scope:
        return served(self._user_id, self._session_id)

    def _asking(self, scope: Scope, query: QueryBundle) -> Steps[QueryBundle]:
        """The question is stored; returns it with memories before it when the inner engine is to see them so."""
        memories = ""
        if self._context_tokens and query.query_str.strip():
            with surviving("recall", strict=self._strict):
                asked = {"query": query.query_str, "max_tokens": self._context_tokens, "filters": SPOKEN}
                memories = (yield Call("context", {**labels(scope), **asked})).text
        yield from self._saving(scope, MessageRole.USER, query.query_str)
        if not memories:
            return query
        return replace(
            query,
            query_str=f"{memories}\n\n{query.query_str}",
            custom_embedding_strs=query.custom_embedding_strs or [query.query_str],
        )

    def _saving(self, scope: Scope, role: MessageRole, text: str) -> Steps[None]:
        given = to_message(ChatMessage(role=role, content=text), id=new_uuid7())
        if given is not None:
            yield from self._turns.add(scope, [given], strict=self._strict)

    def _listening(self, scope: Scope, tokens: Any) -> Generator[str, None, None]:
        said: list[str] = []
        try:
            for token in tokens:
                said.append(token)
                yield token
        except GeneratorExit:
            drive(self._memory, self._saving(scope, MessageRole.ASSISTANT, "".join(said)))
            raise
        drive(self._memory, self._saving(scope, MessageRole.ASSISTANT, "".join(said)))

    async def _alistening(self, scope: Scope, tokens: Any) -> AsyncGenerator[str, None]:
        said: list[str] = []
        try:
            async for token in tokens:
                said.append(token)
                yield token
        except GeneratorExit:
            await adrive(self._memory, self._saving(scope, MessageRole.ASSISTANT, "".join(said)))
            raise
        await adrive(self._memory, self._saving(scope, MessageRole.ASSISTANT, "".join(said)))


def _said(response: Any) -> str:
    if isinstance(response, PydanticResponse):
        return str(response) if response.response is not None else ""
    return (response.response or "") if isinstance(response, Response) else str(response)


__all__ = ["LTMQueryEngine"]
