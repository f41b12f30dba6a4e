"""What the callers of a measured service ask, and what they know to be true of the answers."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from benchmarks.concurrency import QUESTIONS, TURNS

MIX = {"turn": 32, "fact": 8, "context": 40, "search": 10, "facts": 7, "forget": 3}
"""Of a hundred requests: a turn is observed and a context asked for at each step of a chat, the rest now and then."""
_MARK = re.compile(rb"caller-(\d+)\b")


@dataclass(slots=True)
class Ask:
    """One request of one user."""

    kind: str
    user: int
    verb: str
    path: str
    body: Mapping[str, object] | None = None
    id: str = ""
    """Message that it tells or erases."""
    text: str = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"LTM-User": quote(user_id(self.user))}


@dataclass
class Told:
    """What the service has acknowledged: the truth that its store is held to afterwards."""

    said: dict[int, dict[str, str]] = field(default_factory=dict)
    """By user and message, the words."""

    def learn(self, ask: Ask) -> None:
        if ask.kind in ("turn", "fact"):
            self.said.setdefault(ask.user, {})[ask.id] = ask.text
        elif ask.kind == "forget":
            self.said[ask.user].pop(ask.id, None)


def user_id(number: int) -> str:
    return f"caller-{number}"


def next_ask(chance: random.Random, number: str, users: int, told: Told, busy: set[str]) -> Ask:
    """A request by chance. ``busy`` holds messages that are being erased: nobody else erases them."""
    user = chance.randrange(users)
    (kind,) = chance.choices(list(MIX), weights=list(MIX.values()))
    if kind == "forget":
        free = [i for i in list(told.said.get(user, ()))[:20] if i not in busy]
        if free:
            id = chance.choice(free)
            return Ask("forget", user, "POST", "/v1/forget", {"memory_id": id, "sources": "delete"}, id)
        kind = "turn"
    if kind in ("turn", "fact"):
        text = f"{chance.choice(TURNS)} (caller-{user} {number})"
        if kind == "fact":
            stated = (
                f"I love tea number {chance.randrange(1000)}. My order is ORD-2026-{chance.randrange(10**5):05d}."
            )
            text = f"{stated} (caller-{user} {number})"
        body = {"session_id": "now", "user": text, "message_id": number}
        return Ask(kind, user, "POST", "/v1/observe", body, number, text)
    if kind == "context":
        body = {"query": chance.choice(QUESTIONS), "session_id": "now"}
        return Ask(kind, user, "POST", "/v1/context", body)
    if kind == "search":
        return Ask(kind, user, "POST", "/v1/search", {"query": chance.choice(QUESTIONS), "top_k": 5})
    return Ask("facts", user, "GET", "/v1/facts?limit=20")


def crossed(ask: Ask, content: bytes) -> bool:
    """Whether the answer holds words of somebody else: every text names its user."""
    return any(int(m) != ask.user for m in _MARK.findall(content))


def filling(user: int) -> list[dict[str, str]]:
    """What a user said before the measurement: 40 turns."""
    lines = [f"I live in Town{user}. (caller-{user})"]
    lines += [f"On day {k} I drank tea number {k * user % 89}. (caller-{user})" for k in range(39)]
    return [{"role": "user", "content": line} for line in lines]


__all__ = ["MIX", "Ask", "Told", "crossed", "filling", "next_ask", "user_id"]
