"""Any chat model as an extractor: subclass `ChatExtractor` and say how one completion is asked for."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from ltm_core.errors import ExtractionError
from ltm_core.llm.answers import read_answer
from ltm_core.llm.prompt import answer_schema, system_prompt, user_prompt
from ltm_core.protocols import ExtractedFact, ExtractionRequest

log = logging.getLogger("ltm")

Mode: TypeAlias = Literal["json_schema", "json_object", "text"]
MODES: tuple[Mode, ...] = ("json_schema", "json_object", "text")
"""How an answer is asked for, strictest first. Some local servers answer 500 to the first, some to both."""
_MOST_NAME = 80


class FormatRefusedError(Exception):
    """The model cannot be asked in this mode; the next one is tried."""


class ChatExtractor(ABC):
    """Asks a chat model for facts in the strictest mode that it takes, and reads what it answers.

    The mode that worked is remembered and asked first from then on. An answer that cannot be read is asked for
    once more in the next mode before it counts as a failure.
    """

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

    def extract(self, request: ExtractionRequest) -> tuple[ExtractedFact, ...]:
        """The facts in the model's answer; none for a request without clauses, and then nothing is asked.

        Raises UnavailableError, or ExtractionError when no mode gave an answer that could be read.
        """
        if not request.clauses:
            return ()
        system, user = system_prompt(), user_prompt(request)
        failure: ExtractionError | None = None
        for mode in self._order():
            try:
                said = self.complete(system, user, mode)
            except FormatRefusedError as e:
                log.info("extractor %s takes no %s: %s", self._name, mode, e)
                continue
            try:
                answer = read_answer(said)
            except ExtractionError as e:
                again, failure = failure is None, e
                if again:
                    continue
                break
            self._worked = mode
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
        raise failure or ExtractionError(f"extractor {self._name} can be asked in no mode of {', '.join(MODES)}")

    def _order(self) -> tuple[Mode, ...]:
        worked = self._worked
        return MODES if worked is None else (worked, *(m for m in reversed(MODES) if m != worked))


def response_format(mode: Mode) -> Mapping[str, Any] | None:
    """The ``response_format`` of the OpenAI protocol for a mode; None for plain text."""
    if mode == "json_schema":
        return {"type": "json_schema", "json_schema": {"name": "facts", "strict": True, "schema": answer_schema()}}
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


__all__ = ["MODES", "ChatExtractor", "FormatRefusedError", "Mode", "refuses_format", "response_format"]
