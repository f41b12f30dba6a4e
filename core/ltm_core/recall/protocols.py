"""What may help recall from outside: a reranker of candidates, a rewriter of vague questions. Both are optional."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ltm_core.types import Message


@runtime_checkable
class Reranker(Protocol):
    """Judges how well texts answer a question, each text read together with it.

    Called from several threads at once. It may raise anything and take any time: recall goes on with its own
    order, and says so.
    """

    @property
    def name(self) -> str:
        """What explanations call it."""
        ...

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One finite number per text, in their order; higher is better, on any scale."""
        ...


@runtime_checkable
class Rewriter(Protocol):
    """Says in full what a question means that names no topic ("what about that one?", "上次那个事").

    Called from several threads at once, for such questions alone. It may raise anything and take any time: the
    question is then read with the words of the conversation, as without a rewriter.
    """

    @property
    def name(self) -> str:
        """What explanations call it."""
        ...

    def rewrite(self, query: str, turns: Sequence[Message], entities: Sequence[str]) -> str | Sequence[str]:
        """One or more questions that can be understood alone; none when the conversation does not tell.

        ``turns`` are the last ones before the question, the oldest first; ``entities`` are live slots, identifiers
        of the conversation and what is known lately of the user.
        """
        ...


__all__ = ["Reranker", "Rewriter"]
