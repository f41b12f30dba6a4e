"""What holds now, what held before, and what must not be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from ltm_core.text.terms import terms
from ltm_core.types import Fact

State: TypeAlias = Literal["current", "past", "gone"]


def state(fact: Fact, now: datetime) -> State:
    """``past``: it held, and something later took its place or ended it. ``gone``: retracted, suppressed, expired
    or not valid yet; no recall shows it."""
    if fact.retracted_at is not None and fact.retracted_at <= now:
        return "gone"
    if fact.suppressed_at is not None or (fact.expires_at is not None and fact.expires_at <= now):
        return "gone"
    if fact.valid_from > now:
        return "gone"
    if fact.valid_to is not None:
        return "past" if fact.valid_to <= now else "current"
    return "past" if fact.superseded_by is not None else "current"


def _was_replaced(fact: Fact) -> bool:
    """Something took its place, or it was ended; what was told as past or passing from the start was not."""
    return fact.superseded_by is not None or fact.modality in ("asserted", "habitual")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What later facts make of one message."""

    state: Literal["past", "corrected", "partly"]
    """``partly``: some of what it said no longer holds, and some does."""
    successors: tuple[str, ...]
    """Facts that took the place of what the message said."""
    said: frozenset[str]
    """Terms of the facts that no longer hold."""


def standings(facts: Iterable[Fact], now: datetime) -> Mapping[str, Standing]:
    """Per message id: messages of whose facts some were superseded, ended or taken back.

    A message that still supports a current fact stands where it is, and says so; one without any fact stands.
    """
    supported: dict[str, list[Fact]] = {}
    for fact in facts:
        for message_id in fact.source_message_ids:
            supported.setdefault(message_id, []).append(fact)
    out = {}
    for message_id, of_message in supported.items():
        states = [state(f, now) for f in of_message]
        corrected = [f for f in of_message if f.retracted_at is not None and f.retracted_at <= now]
        past = [f for f, s in zip(of_message, states, strict=True) if s == "past" and _was_replaced(f)]
        if past or corrected:
            whole = "current" not in states
            out[message_id] = Standing(
                state=("past" if past else "corrected") if whole else "partly",
                successors=()
                if not whole
                else tuple(f.superseded_by for f in (*past, *corrected) if f.superseded_by),
                said=frozenset(t for f in (*past, *corrected) for t in terms(f"{f.text} {f.object}")),
            )
    return out


__all__ = ["Standing", "State", "standings", "state"]
