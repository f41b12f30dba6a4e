"""English: one more thing of a sort in few words, what is told by asking whether it was told, a date with its year,
and a thing of one's own named again with "the". Each beside the like words that state nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Fact, Message, Role

BEGIN = datetime(2025, 3, 3, 9, tzinfo=UTC)


def told(tmp_path: Path, encoder: Embedder, turns: Sequence[str]) -> list[Fact]:
    """What is current after the turns: "<" begins what the assistant says, "|" a session ten days later."""
    session = 0
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        for n, words in enumerate(turns):
            if words == "|":
                session += 1
                continue
            role: Role = "assistant" if words.startswith("<") else "user"
            at = BEGIN + timedelta(days=10 * session, minutes=n)
            said = Message(role=role, content=words.removeprefix("<"), at=at)
            memory.observe(user_id="u", session_id=f"s{session}", messages=[said])
        return list(memory.facts(user_id="u"))


KEPT: list[tuple[list[str], list[str]]] = [
    # one more of the sort
    (["I'm allergic to kiwi.", "<Anything else?", "Latex gloves, too."], ["kiwi", "Latex gloves"]),
    (["I speak Welsh. And Breton as well."], ["Welsh", "Breton"]),
    (["I love gospel.", "<Lovely!", "Bluegrass too!"], ["gospel", "Bluegrass"]),
    (["We have a beagle named Toffee.", "|", "We adopted another dog, a pug called Nutmeg."], ["Toffee", "Nutmeg"]),
    # what is told by asking
    (["Did I mention that I speak Yoruba as well?"], ["Yoruba"]),
    (["Have I mentioned that my sister lives in Tromsø?"], ["Tromsø"]),
    (["Did you know that I'm left-handed?"], ["left-handed"]),
    # a day and its year
    (["Our twins were born on August 9, 2017."], ["August 9, 2017"]),
    # a thing of one's own, and a part of one's home
    (["I'm the secretary of our chess club.", "|", "The chess club meets above the Red Lion."], ["Red Lion"]),
    (["I drive a white Skoda estate.", "|", "The estate has roof bars for the kayaks."], ["Skoda", "roof bars"]),
    (["Our backend is written in Elixir.", "|", "The backend sits behind an nginx proxy."], ["Elixir", "nginx"]),
    (["We own a narrowboat.", "|", "The narrowboat is moored at Braunston."], ["narrowboat", "Braunston"]),
    (["The kitchen window is 41 5/8 inches wide."], ["41 5/8 inches"]),
]


@pytest.mark.parametrize(("turns", "kept"), KEPT)
def test_is_kept(tmp_path: Path, encoder: Embedder, turns: list[str], kept: list[str]) -> None:
    facts = [f for f in told(tmp_path, encoder, turns) if f.is_positive]
    for words in kept:
        assert any(words in f"{f.object} {f.text}" for f in facts), facts


NOT: list[tuple[list[str], str]] = [
    (["I love gospel.", "<Have a nice day!", "You too!"], "You"),
    (["I love gospel.", "<Shall I play some?", "That would be great, too."], "great"),
    (["Did I mention my address?"], "address"),
    (["Did I tell you where I live?"], "live"),
    (["Did you know that bees can count?"], "bees"),
    (["The kitchen is a mess."], "mess"),
    (["We own a narrowboat.", "|", "The narrowboat is freezing."], "freezing"),
]


@pytest.mark.parametrize(("turns", "words"), NOT)
def test_is_not_kept(tmp_path: Path, encoder: Embedder, turns: list[str], words: str) -> None:
    assert not [f for f in told(tmp_path, encoder, turns) if words in f"{f.object} {f.text}"]
