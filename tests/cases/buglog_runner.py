"""Plays a case of buglog.yaml against an open memory and checks what must be true afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ltm_core import Fact, LongTermMemory
from ltm_core.testing.clock import Clock
from ltm_core.text.normalize import fold
from ltm_core.text.terms import stem

Step = list[Any]


@dataclass
class Play:
    """One running case: the memory, its clock, and the last context asked for by user."""

    reopen: Callable[[], LongTermMemory]
    clock: Clock
    memory: LongTermMemory = field(init=False)
    contexts: dict[str, str] = field(default_factory=dict)
    zone: str | None = None

    def __post_init__(self) -> None:
        self.memory = self.reopen()

    def run(self, steps: list[Step]) -> None:
        for verb, who, payload in steps:
            user, _, session = str(who).partition("/")
            getattr(self, f"do_{verb}")(user, session or "s", payload)

    def do_say(self, user: str, session: str, words: str) -> None:
        self.memory.observe(user_id=user, session_id=session, user=words, at=self.clock())

    def do_bot(self, user: str, session: str, words: str) -> None:
        self.memory.observe(user_id=user, session_id=session, assistant=words, at=self.clock())

    def do_sys(self, user: str, session: str, words: str) -> None:
        self._observe_as("system", user, session, words)

    def do_tool(self, user: str, session: str, words: str) -> None:
        self._observe_as("tool", user, session, words)

    def _observe_as(self, role: str, user: str, session: str, words: str) -> None:
        message = {"role": role, "content": words, "id": f"{role}-{self.clock().timestamp()}"}
        self.memory.observe(user_id=user, session_id=session, messages=[message])

    def do_now(self, user: str, session: str, moment: str) -> None:
        self.clock.now = datetime.fromisoformat(moment)

    def do_ask(self, user: str, session: str, query: str) -> None:
        text = self.memory.context(query, user_id=user, session_id=session, at=self.clock()).text
        self.contexts[user] = text

    def do_restart(self, user: str, session: str, _: str) -> None:
        self.memory.close()
        self.memory = self.reopen()

    # what must be true --------------------------------------------------------------------------------
    def check(self, kind: str, user: str, wanted: Any) -> None:
        if kind in ("says", "ok"):
            return
        checks = {
            "active": self._active,
            "past": self._past,
            "never": self._never,
            "count": self._count,
            "ctx+": self._in_context,
            "ctx-": self._not_in_context,
        }
        checks[kind](str(user), wanted)

    def current(self, user: str) -> list[Fact]:
        return list(self.memory.facts(user_id=user))

    def _active(self, user: str, wanted: Any) -> None:
        current = self.current(user)
        assert any(says(f, wanted) for f in current), f"no current fact says {wanted!r}: {shown(current)}"

    def _past(self, user: str, wanted: Any) -> None:
        every = list(self.memory.facts(user_id=user, include_superseded=True))
        wanted = str(wanted).removeprefix("Ana ")
        past = [f for f in every if not f.is_current]
        assert any(says(f, wanted) for f in past), f"no past fact says {wanted!r}: {shown(every)}"
        positive = [f for f in every if f.is_current and f.is_positive and f.subject == "user"]
        assert not any(says(f, wanted) for f in positive), f"{wanted!r} is still current: {shown(positive)}"

    def _never(self, user: str, wanted: Any) -> None:
        every = list(self.memory.facts(user_id=user, include_superseded=True))
        assert not any(says(f, wanted) for f in every), f"a fact says {wanted!r}: {shown(every)}"

    def _count(self, user: str, wanted: Any) -> None:
        current = self.current(user)
        assert len(current) == int(wanted), f"{len(current)} current facts: {shown(current)}"

    def _in_context(self, user: str, wanted: Any) -> None:
        assert str(wanted) in self.contexts[user], f"{wanted!r} is not in:\n{self.contexts[user]}"

    def _not_in_context(self, user: str, wanted: Any) -> None:
        assert str(wanted) not in self.contexts[user], f"{wanted!r} is in:\n{self.contexts[user]}"


def says(fact: Fact, wanted: Any) -> bool:
    """Whether the fact holds every word of ``wanted`` (Chinese: as a whole), stemmed, anywhere in it."""
    held = fold(f"{fact.subject} {fact.relation} {fact.object} {fact.text}".replace("_", " ").replace(":", " "))
    words = {stem(w.strip(".,!?'\"")) for w in held.split()}
    return all(
        stem(w) in words or (not w.isascii() and w in held) or (any(c.isdigit() for c in w) and w in held)
        for w in fold(str(wanted)).split()
    )


def shown(facts: list[Fact]) -> str:
    return "; ".join(f"[{'+' if f.is_current else '-'}] {f.subject}|{f.relation}|{f.object}|{f.text}" for f in facts)


def load(path: Path) -> list[dict[str, Any]]:
    import yaml

    cases: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return cases
