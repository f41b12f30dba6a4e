"""Any chat model as an extractor or a summariser: subclass `ChatExtractor` or `ChatSummarizer` and say how one
completion is asked for."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from ltm_core.errors import ExtractionError
from ltm_core.llm.answers import read_answer
from ltm_core.llm.prompt import answer_schema, system_prompt, user_prompt
from ltm_core.llm.summaries import read_summary, summary_prompts, summary_schema
from ltm_core.protocols import ExtractedFact, ExtractionRequest, SummaryRequest, SummarySentence

log = logging.getLogger("ltm")
T = TypeVar("T")

Mode: TypeAlias = Literal["json_schema", "json_object", "text"]
MODES: tuple[Mode, ...] = ("json_schema", "json_object", "text")
"""How an answer is asked for, strictest first. Some local servers answer 500 to the first, some to both."""
Wanted: TypeAlias = Literal["facts", "summary"]
_MOST_NAME = 80


class FormatRefusedError(Exception):
    """The model cannot be asked in this mode; the next one is tried."""


class ChatModel(ABC):
    """Asks a chat model in the strictest mode that it takes.

    The mode that worked is remembered and asked first from then on. An answer that cannot be read is asked for
    once more in the next mode before it counts as a failure.
    """

    wanted: ClassVar[Wanted] = "facts"
    """What is asked for; see `response_format`."""
    _role: ClassVar[str] = "model"

    def __init__(self, name: str) -> None:
        self._name = "".join(c if c.isprintable() else " " for c in name)[:_MOST_NAME]
        self._worked: Mode | None = None

    @property
    def name(self) -> str:
        """Which model."""
        return self._name

    @property
    def mode(self) -> Mode | None:
        """The mode that worked last; None before the first answer."""
        return self._worked

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"

    @abstractmethod
    def complete(self, system: str, user: str, mode: Mode) -> str:
        """The model's answer in this mode; see `response_format`.

        Raises FormatRefusedError when the model cannot be asked so, UnavailableError when it cannot be reached.
        """

    def _ask(self, system: str, user: str, read: Callable[[str], T]) -> T:
        """What ``read`` makes of the first answer that it can read."""
        failure: ExtractionError | None = None
        for mode in self._order():
            try:
                said = self.complete(system, user, mode)
            except FormatRefusedError as e:
                log.info("%s %s takes no %s: %s", self._role, self._name, mode, e)
                continue
            try:
                answer = read(said)
            except ExtractionError as e:
                again, failure = failure is None, e
                if again:
                    continue
                break
            self._worked = mode
            return answer
        raise failure or ExtractionError(f"{self._role} {self._name} can be asked in no mode of {', '.join(MODES)}")

    def _order(self) -> tuple[Mode, ...]:
        worked = self._worked
        return MODES if worked is None else (worked, *(m for m in reversed(MODES) if m != worked))


class ChatExtractor(ChatModel):
    """A chat model that is asked for facts."""

    wanted: ClassVar[Wanted] = "facts"
    _role: ClassVar[str] = "extractor"

    def extract(self, request: ExtractionRequest) -> tuple[ExtractedFact, ...]:
        """The facts in the model's answer; none for a request without clauses, and then nothing is asked.

        Raises UnavailableError, or ExtractionError when no mode gave an answer that could be read.
        """
        if not request.clauses:
            return ()
        answer = self._ask(system_prompt(), user_prompt(request), read_answer)
        if answer.cut or answer.malformed:
            log.warning(
                "extractor %s: an answer was %s; %d facts of it are read, %d items are not",
                self._name, "cut" if answer.cut else "malformed in part", len(answer.facts), answer.malformed,
            )  # fmt: skip
        if answer.dated:
            log.warning(
                "extractor %s: %d dates of its own are not used, only those in the user's words",
                self._name, answer.dated,
            )  # fmt: skip
        return answer.facts


class ChatSummarizer(ChatModel):
    """A chat model that is asked for summaries."""

    wanted: ClassVar[Wanted] = "summary"
    _role: ClassVar[str] = "summarizer"

    def summarize(self, request: SummaryRequest) -> tuple[SummarySentence, ...]:
        """The sentences in the model's answer; none for a request without turns, and then nothing is asked.

        Raises UnavailableError, or ExtractionError when no mode gave an answer that could be read.
        """
        if not request.turns:
            return ()
        return self._ask(*summary_prompts(request), read_summary)


def response_format(mode: Mode, wanted: Wanted = "facts") -> Mapping[str, Any] | None:
    """The ``response_format`` of the OpenAI protocol for a mode; None for plain text."""
    if mode == "json_schema":
        schema = answer_schema() if wanted == "facts" else summary_schema()
        return {"type": "json_schema", "json_schema": {"name": wanted, "strict": True, "schema": schema}}
    return {"type": "json_object"} if mode == "json_object" else None


def refuses_format(error: BaseException) -> bool:
    """Whether a host's error may mean that it takes no response format: anything but a refused key, a busy
    server, a timeout or a lost connection, which the next mode would meet too."""
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int):
        return status not in (401, 403, 407, 408, 429)
    if isinstance(error, OSError):
        return False
    names = " ".join(c.__name__ for c in type(error).__mro__).lower()
    return not any(word in names for word in ("timeout", "connect", "ratelimit", "auth"))


__all__ = [
    "MODES",
    "ChatExtractor",
    "ChatModel",
    "ChatSummarizer",
    "FormatRefusedError",
    "Mode",
    "Wanted",
    "refuses_format",
    "response_format",
]
