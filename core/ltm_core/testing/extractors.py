"""Extractors that say what they are told to, for tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ltm_core.errors import ExtractionError
from ltm_core.llm.chat import ChatExtractor, Mode
from ltm_core.protocols import ExtractedFact, ExtractionRequest


class ScriptedExtractor:
    """Answers each request with ``reply(request)``, or with the facts given; what ``reply`` raises is its failure.

    ``requests`` holds every request, in order. Thread-safe.
    """

    def __init__(
        self,
        reply: Callable[[ExtractionRequest], Sequence[ExtractedFact]] | Sequence[ExtractedFact] = (),
        *,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.requests: list[ExtractionRequest] = []
        self._reply = reply
        self._lock = threading.Lock()

    def extract(self, request: ExtractionRequest) -> Sequence[ExtractedFact]:
        with self._lock:
            self.requests.append(request)
        return self._reply(request) if callable(self._reply) else self._reply

    @property
    def read(self) -> list[str]:
        """The text of every clause that was shown so far."""
        return [c.text for r in self.requests for c in r.clauses]


class ScriptedChat(ChatExtractor):
    """A chat model that answers ``answers`` in order, the last one again and again, in any mode.

    ``modes`` holds how it was asked.
    """

    def __init__(self, *answers: str, name: str = "chat") -> None:
        super().__init__(name)
        self.modes: list[Mode] = []
        self._answers = list(answers)

    def complete(self, system: str, user: str, mode: Mode) -> str:
        if not self._answers:
            raise ExtractionError("nothing is scripted")
        self.modes.append(mode)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


__all__ = ["ScriptedChat", "ScriptedExtractor"]
