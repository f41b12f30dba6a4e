"""How much of a conversation fits: whole turns from the newest back, tool calls together with their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from llama_index.core.base.llms.types import ChatMessage

from llamaindex_ltm._convert import answered_by, calls_of, countable, media_in, role_of

_PER_MESSAGE = 4
"""Tokens that chat formats add around one message."""
_PER_MEDIUM = 256
"""Tokens of one picture, recording or file: the host's own estimate."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of the window with its stored id and its tokens."""

    id: str
    message: ChatMessage
    tokens: int


@dataclass(frozen=True, slots=True)
class Window:
    """A conversation split into what must be shown and what is shown as far as it fits.

    ``system`` messages and the user's unanswered words (``current``) must be shown; ``turns``, oldest first,
    begin with a user message each, except that the first may be what was said before any.
    """

    system: tuple[Shown, ...]
    turns: tuple[tuple[Shown, ...], ...]
    current: tuple[Shown, ...]

    @property
    def fixed(self) -> int:
        """Tokens of what must be shown."""
        return tokens_of((*self.system, *self.current))

    @property
    def flexible(self) -> int:
        """Tokens of all turns."""
        return sum(map(tokens_of, self.turns))

    def within(self, budget: int) -> tuple[Shown, ...]:
        """The messages to show when the turns may take ``budget`` tokens, in order."""
        kept: list[tuple[Shown, ...]] = []
        for turn in reversed(self.turns):
            budget -= tokens_of(turn)
            # A model must not be shown a conversation that begins with its own words, unless it did begin so.
            if budget < 0 or (role_of(turn[0].message) != "user" and len(kept) < len(self.turns) - 1):
                break
            kept.insert(0, turn)
        return (*self.system, *(m for turn in kept for m in turn), *self.current)


def cost(message: ChatMessage, count: Callable[[str], int]) -> int:
    """Tokens of the message, its tool calls and media included."""
    return _PER_MESSAGE + count(countable(message)) + _PER_MEDIUM * media_in(message)


def tokens_of(messages: Iterable[Shown]) -> int:
    return sum(m.tokens for m in messages)


def split(messages: Sequence[Shown]) -> Window:
    """The window of these messages. Calls without all their results, and results without their call, are left
    out: model APIs refuse either alone."""
    system = tuple(m for m in messages if role_of(m.message) == "system")
    whole = _complete([m for m in messages if role_of(m.message) != "system"])
    turns: list[list[Shown]] = []
    for m in whole:
        if not turns or role_of(m.message) == "user":
            turns.append([])
        turns[-1].append(m)
    current: list[Shown] = []
    if turns and role_of(turns[-1][-1].message) == "user":
        current = turns.pop()
    return Window(system=system, turns=tuple(map(tuple, turns)), current=tuple(current))


def _complete(messages: Sequence[Shown]) -> list[Shown]:
    out: list[Shown] = []
    i = 0
    while i < len(messages):
        here = messages[i]
        i += 1
        if role_of(here.message) == "tool":
            continue
        calls = calls_of(here.message)
        if not calls:
            out.append(here)
            continue
        results: list[Shown] = []
        while i < len(messages) and role_of(messages[i].message) == "tool":
            results.append(messages[i])
            i += 1
        if _all_answered(calls, [answered_by(r.message) for r in results]):
            out += [here, *results]
    return out


def _all_answered(calls: Sequence[str], results: Sequence[str]) -> bool:
    if all(calls) and all(results):
        return sorted(calls) == sorted(results)
    return len(calls) == len(results)


__all__ = ["Shown", "Window", "cost", "split", "tokens_of"]
