"""English facts told in passing: in a request, with a reason, of somebody whom the words before name; and what a
message only wants, feels, makes up or shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Anchor, Fact, Message, Role

BEGIN = datetime(2025, 3, 3, 9, tzinfo=UTC)


def told(tmp_path: Path, encoder: Embedder, turns: Sequence[str]) -> tuple[list[Fact], list[Anchor]]:
    """What is current after the turns, and the anchors of the last: "<" begins what the assistant says, "|" a session
    ten days later."""
    session = 0
    anchors: list[Anchor] = []
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        for n, words in enumerate(turns):
            if words == "|":
                session += 1
                continue
            role: Role = "assistant" if words.startswith("<") else "user"
            at = BEGIN + timedelta(days=10 * session, minutes=n)
            said = Message(role=role, content=words.removeprefix("<"), at=at)
            seen = memory.observe(user_id="u", session_id=f"s{session}", messages=[said])
            anchors = list(seen.anchors)
        return list(memory.facts(user_id="u")), anchors


@pytest.mark.parametrize(
    ("words", "subject", "value"),
    [
        # the reason for a request
        ("Snack idea please, no nuts though as I'm allergic to cashews", "user", "cashews"),
        ("recommend a desk cos I'm a graphic designer and mine broke", "user", "graphic designer"),
        ("since i'm lactose intolerant what milk froths best", "user", "lactose"),
        ("Suggest a holiday, nothing hot because my wife has MS", "wife", "MS"),
        # without apostrophes
        ("need a lunch plan, im a porter at Yeovil hospital so basically eating at 3am", "user", "porter"),
        ("quick lunch ideas? ive been vegan since january", "user", "vegan"),
        ("weve just moved to Truro, whats the best beach for a toddler", "user", "Truro"),
        # somebody whom the words before name
        ("need a lunch idea for my husband, he's coeliac", "husband", "coeliac"),
        ("help me reply to my daughter Aoife's teacher, Aoife has dyslexia", "daughter:Aoife", "dyslexia"),
        ("Looking after my cat Pickle, he eats only tuna", "cat:Pickle", "tuna"),
        # somebody of one's circle without a name
        ("boss just told everyone he has been diagnosed with gout. what do i write in the card", "boss", "gout"),
        ("The brother has just bought a farm in Leitrim. Any tips on rushes?", "brother", "Leitrim"),
        ("Next door's lad has got into Durham to read law", "neighbour's lad", "Durham"),
        ("My best mate is allergic to sesame, what can I bake him", "mate", "sesame"),
        ("my coach works at the leisure centre", "coach", "leisure centre"),
        # what a wish or a question takes for granted
        ("We want to put a borehole in on our plot in Bela-Bela, whom do I ask?", "user", "plot in Bela-Bela"),
        ("what do I write to my daughter Aoife before her exam?", "user", "daughter Aoife"),
        # what does not agree with one
        ("Turns out sesame sets me off too", "user", "sesame"),
        ("found out the hard way I react badly to codeine as well", "user", "codeine"),
    ],
)
def test_is_known(tmp_path: Path, encoder: Embedder, words: str, subject: str, value: str) -> None:
    facts, anchors = told(tmp_path, encoder, [words])
    assert [f for f in facts if f.subject == subject and value in f"{f.object} {f.text}"]
    assert any(a.kind == "stated_fact" and value in a.text for a in anchors)
    assert subject == "user" or not [f for f in facts if f.subject == "user" and value in f.object]


@pytest.mark.parametrize(
    "words",
    [
        # what is wanted, felt or on today
        "Hiya, I'm after a plasterer near me",
        "looking for a cheap hotel in Leeds for saturday",
        "I'm starving, what's quick with eggs",
        "I've got a meeting at 3, summarise this article fast",
        "my boss is doing my head in today",
        "help me word a note to my neighbour",
        # what is made up or shown
        "I'm writing a story. Chapter one: My name is Elise and I keep a lighthouse.",
        'here\'s the fixture: {"name": "Jo Tester", "city": "Springfield"}. Make me five more',
        'my test row is "city": "Duluth", "job": "baker". why does it fail',
        # others, without anything that lasts
        "my manager is a nightmare",
        "my friend says he's moving to Mars lol",
        "is a 32x34 jean the same as a W32 L34",
        "should onions go in before the garlic",
    ],
)
def test_is_no_fact(tmp_path: Path, encoder: Embedder, words: str) -> None:
    facts, anchors = told(tmp_path, encoder, [words])
    assert [f.object for f in facts] == []
    assert [a.text for a in anchors] == []


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        (
            ["I've got a tabby called Olive", "|", "We've adopted a whippet as well, he's called Gus."],
            ["Olive", "Gus"],
        ),
        (["we have two cats, Pip and Squeak", "|", "a third cat has joined us last week"], ["Pip", "Squeak"]),
        (
            ["My boy is allergic to peanuts", "|", "Clinic rang, he's allergic to soy on top of the peanuts"],
            ["peanuts", "soy"],
        ),
        (["My girl Ines has asthma", "|", "our kelpie Dusty has asthma too"], ["Ines", "Dusty"]),
    ],
)
def test_stand_beside_each_other(tmp_path: Path, encoder: Embedder, turns: list[str], kept: list[str]) -> None:
    facts, _ = told(tmp_path, encoder, turns)
    for words in kept:
        assert any(words in f"{f.subject} {f.object} {f.text}" for f in facts), facts


def test_a_name_that_was_said_before_is_not_taken_for_granted_again(tmp_path: Path, encoder: Embedder) -> None:
    turns = ["what do I write to my daughter Aoife before her exam?", "|", "which cake would my daughter Aoife like?"]
    facts, anchors = told(tmp_path, encoder, turns)
    assert [f.object for f in facts if "Aoife" in f.object] == ["daughter Aoife"]
    assert anchors == []


def test_what_is_made_up_takes_nothing_for_granted(tmp_path: Path, encoder: Embedder) -> None:
    facts, _ = told(tmp_path, encoder, ["write me a story about my son Harvey and our house in Narnia"])
    assert facts == []
