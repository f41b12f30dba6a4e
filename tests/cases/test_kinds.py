"""Ordinary sentences of the kinds of change that a memory meets every day, made up before they were tried: a
promotion, a dose that was raised, a move, a name, a bare correction, the state of an order, and English ones of no
kind in particular ("plain").

A line: kind, language, what is said, what must be known afterwards, what must not. Turns are divided by ``||``, those
of another session by ``//``; ``A:`` begins what the assistant says. ``a & b`` must stand in one fact; ``!c`` must not
stand in the fact that is denied; ``*`` denies every fact.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.resolve import resolve_embedder
from ltm_core.types import Fact, Message

KINDS = Path(__file__).with_name("kinds.tsv")
FLOORS = {"en": 0.75, "zh": 0.82}
"""Share of the lines that hold."""
KEPT_WRONGLY = {"en": 0, "zh": 1}
"""Lines of advice that may be taken for facts about the user, at most."""
ONE_SESSION = ("result", "bare")
"""Kinds whose turns follow each other; elsewhere each turn is of a session of its own."""


def told(memory: LongTermMemory, user: str, kind: str, said: str, clock: list[datetime]) -> list[Fact]:
    """What is known after the turns."""
    session = 0
    for part in said.split(" // "):
        session += 1
        for turn in part.split(" || "):
            spoken = re.sub(r"^A[:：] ?", "", turn)
            session += spoken == turn and kind not in ONE_SESSION
            clock[0] += timedelta(days=1) if kind not in ONE_SESSION else timedelta(minutes=3)
            message = Message(role="user" if spoken == turn else "assistant", content=spoken, at=clock[0])
            memory.observe(user_id=user, session_id=f"s{session}", messages=[message])
        clock[0] += timedelta(days=2)
    return list(memory.facts(user_id=user))


def missed(facts: list[Fact], wanted: str, denied: str) -> list[str]:
    """What is not as the line says."""
    texts = [(f"{f.subject}\n{f.object}\n{f.text}".casefold(), f.is_positive) for f in facts]
    wrong = [
        f"no {w}"
        for w in filter(None, wanted.split("; "))
        if w != "-" and not any(all(x.casefold() in text for x in w.split("&")) for text, _ in texts)
    ]
    for d in filter(None, denied.split("; ")):
        held = [x.casefold() for x in d.split("&") if not x.startswith("!")]
        never = [x[1:].casefold() for x in d.split("&") if x.startswith("!")]
        if d == "*":
            wrong += [f"kept {f.text}" for f in facts]
        elif any(
            positive and all(x in text for x in held) and not any(x in text for x in never)
            for text, positive in ((t.split("\n", 1)[1], p) for t, p in texts)
        ):
            wrong.append(f"still {d}")
    return wrong


@pytest.mark.counts
@pytest.mark.parametrize("language", sorted(FLOORS))
def test_everyday_changes_are_understood(language: str, tmp_path: Path) -> None:
    clock = [datetime(2025, 3, 3, 9, tzinfo=UTC)]
    held: defaultdict[str, list[bool]] = defaultdict(list)
    failed: list[str] = []
    with LongTermMemory.open(
        tmp_path, clock=lambda: clock[0], embedder=resolve_embedder(None), timezone="UTC"
    ) as memory:
        for number, line in enumerate(KINDS.read_text("utf-8").splitlines()):
            kind, lang, said, wanted, denied = (line.split("\t") + [""] * 5)[:5]
            if lang != language:
                continue
            wrong = missed(told(memory, f"u{number}", kind, said, clock), wanted, denied)
            held[kind].append(not wrong)
            failed += [f"{kind}: {said}: {'; '.join(wrong)}"] if wrong else []
    print({k: f"{sum(v)}/{len(v)}" for k, v in held.items()})
    every = [ok for oks in held.values() for ok in oks]
    assert sum(every) >= FLOORS[language] * len(every), "\n".join(failed)
    assert held["advice"].count(False) <= KEPT_WRONGLY[language], "\n".join(failed)
