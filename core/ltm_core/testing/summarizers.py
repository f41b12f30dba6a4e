"""Summarisers that say what they are told to, for tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ltm_core.errors import ExtractionError
from ltm_core.llm.chat import ChatSummarizer, Mode
from ltm_core.protocols import SummaryRequest, SummarySentence


class ScriptedSummarizer:
    """Answers each request with ``reply(request)``, or with what is given; what ``reply`` raises is its failure.

    ``requests`` holds every request, in order. Thread-safe.
    """

    def __init__(
        self,
        reply: Callable[[SummaryRequest], str | Sequence[SummarySentence]] | str | Sequence[SummarySentence] = (),
        *,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.requests: list[SummaryRequest] = []
        self._reply = reply
        self._lock = threading.Lock()

    def summarize(self, request: SummaryRequest) -> str | Sequence[SummarySentence]:
        with self._lock:
            self.requests.append(request)
        return self._reply(request) if callable(self._reply) else self._reply


class ScriptedSummaryChat(ChatSummarizer):
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


__all__ = ["ScriptedSummarizer", "ScriptedSummaryChat"]
