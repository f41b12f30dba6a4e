"""Short histories: what is known at the end, what no longer is, and nothing else touched."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core.lexicon import default_lexicon
from ltm_core.types import Fact
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Utterance
from ltm_core.write.resolve.resolve import resolve

LEXICON = default_lexicon()
ROWS = [
    ([*line.split("\t"), "", ""])[:3]
    for line in (Path(__file__).parent / "scenarios.tsv").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
]


def remembered(turns: list[str]) -> list[Fact]:
    """Every fact, current or not, after the turns were said a day apart."""
    facts: dict[str, Fact] = {}
    ids = itertools.count()
    for day, words in enumerate(turns):
        at = datetime(2026, 3, 2, 10, tzinfo=UTC) + timedelta(days=day)
        said = analyse(
            Utterance(message_id=f"m{day}", role="user", content=words, at=at),
            lexicon=LEXICON,
            fact_threshold=0.6,
        )
        for d in resolve(
            said.candidates,
            list(facts.values()),
            user_id="u",
            now=at,
            new_id=lambda: f"f{next(ids)}",
            lexicon=LEXICON,
        ):
            facts[d.fact.id] = d.fact
            if d.previous is not None and d.previous.id != d.fact.id:
                facts[d.previous.id] = d.previous
    return list(facts.values())


def holds(fact: Fact, word: str) -> bool:
    return word.lower() in f"{fact.object} {fact.text}".lower()


def shown(facts: list[Fact]) -> str:
    return "; ".join(
        f"[{'+' if f.is_current else '.'}{'' if f.is_positive else '!'}] {f.subject}|{f.relation}|{f.object}"
        for f in facts
    )


@pytest.mark.parametrize(("said", "current", "past"), ROWS, ids=[f"{i}" for i in range(len(ROWS))])
def test_scenario(said: str, current: str, past: str) -> None:
    facts = remembered([t.strip() for t in said.split("|")])
    live = [f for f in facts if f.is_current and f.is_positive]
    for word in filter(None, current.split(";")):
        assert any(holds(f, word) for f in live), f"{word} is not current: {shown(facts)}"
    for word in filter(None, past.split(";")):
        sought = word.lstrip("=")
        assert not any(sought.lower() in f.object.lower() for f in live), f"{word} is current: {shown(facts)}"
        if word.startswith("="):
            assert any(holds(f, sought) and not f.is_current for f in facts), f"{word} unknown: {shown(facts)}"
