"""English: how things are for good with the speaker, in words that no pattern reads: what has an effect on him, what
he does because of it, what his body and his home have. Each beside like words that tell of today or of a program."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Fact, Message

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)


def told(tmp_path: Path, encoder: Embedder, words: str) -> list[Fact]:
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="s", messages=[Message(role="user", content=words, at=AT)])
        return list(memory.facts(user_id="u"))


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("Hail sends me straight under the blankets.", "blankets"),
        ("Gossip drains me.", "Gossip"),
        ("Escalators make me dizzy, which is why I climb nine flights to the archive.", "nine flights"),
        ("The floors in my building are so thin that I wear slippers after ten.", "slippers"),
        ("Between us cousins, quarrels get settled by arm wrestling.", "arm wrestling"),
        ("The lift in our building is too small for anything bigger than a pram.", "pram"),
        ("A splinter of glass from the crash still sits in my left knee.", "splinter"),
        ("There's a steel pin in my right ankle.", "steel pin"),
        ("I hum when I'm nervous.", "hum"),
        pytest.param(
            "Whenever there's lightning, I have to hide in the pantry until it is over.",
            "lightning",
            marks=pytest.mark.xfail(reason="the learned gate errs here", strict=False),
        ),
        ("Every time I hear a siren, I touch wood.", "siren"),
        ("Escalators and I don't get along.", "Escalators"),
        ("Heights and I have never been friends.", "Heights"),
        ("The smell of tar calms me down.", "tar"),
        ("The screech of chalk sets my teeth on edge.", "chalk"),
        ("Public speaking has never bothered me.", "Public speaking"),
        ("I couldn't live without my hot water bottle.", "hot water bottle"),
        # what follows from what was told
        ("They put me on lates for good, which means my shift ends at 11 p.m. now.", "11 p.m."),
        ("I got the promotion, which means I manage nine people now.", "nine people"),
        ("There's a loom that belongs to me.", "loom"),
        ("We had heat pumps put in at the back of the house.", "heat pumps"),
    ],
)
def test_is_kept(tmp_path: Path, encoder: Embedder, words: str, value: str) -> None:
    facts = told(tmp_path, encoder, words)
    assert any(value in f"{f.object} {f.text}" for f in facts), facts


@pytest.mark.parametrize(
    "words",
    [
        "Which means are best for cleaning silver?",
        "I missed the bus, which means I'm late.",
        "This song makes me happy.",
        "The traffic put me in a bad mood today.",
        "In my office, the printer is broken.",
        "I get an error when I run it.",
        "Whenever I open the app, I get an error.",
        "My boss and I don't get on today.",
        "The compiler gives me an error message.",
        "We had pizza delivered.",
        "We had the boiler serviced.",
    ],
)
def test_is_no_fact(tmp_path: Path, encoder: Embedder, words: str) -> None:
    assert told(tmp_path, encoder, words) == []
