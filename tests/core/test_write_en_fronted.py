"""English: what is told with its value in front, what is admitted to be wrong, and what is told of other people in
any words. Each beside the like words that change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.resolve import resolve_embedder
from ltm_core.types import Fact
from ltm_core.write.read.clauses import split
from ltm_core.write.words.load import default_lexicon

BEGIN = datetime(2026, 3, 3, 9, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder=resolve_embedder(None), timezone="UTC") as opened:
        yield opened


def told(memory: LongTermMemory, turns: Sequence[str]) -> list[Fact]:
    """What is current after the turns, each in a session of its own."""
    for n, words in enumerate(turns):
        message = {"role": "user", "content": words, "at": BEGIN + timedelta(days=n)}
        memory.observe(user_id="u", session_id=f"s{n}", messages=[message])
    return list(memory.facts(user_id="u"))


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("it's sesame she's allergic to", "she's allergic to sesame"),
        ("Sorry, it is the oboe that I play", "Sorry, I play the oboe"),
        ("the oboe is what she plays", "she plays the oboe"),
        ("the 43 is the one I take", "I take the 43"),
        ("what we've got is chalk soil", "we've got chalk soil"),
        # what has the same look and tells something else
        ("what I need is", "what I need is"),
        ("it's a pity that he left", "it's a pity that he left"),
        ("that is what I use", "that is what I use"),
        ("it's time we had dinner", "it's time we had dinner"),
        ("it's why I take the bus", "it's why I take the bus"),
    ],
)
def test_what_stands_in_front_is_read_in_its_place(words: str, read: str) -> None:
    (clause, *_) = split(words, default_lexicon())[-1:]
    assert clause.text in read and (clause.start, clause.end)[1] == len(words)
    assert read.endswith(clause.text)


@pytest.mark.parametrize(
    ("turns", "kept", "gone"),
    [
        (["My son is allergic to sesame.", "I named the wrong thing. It's kiwi he's allergic to."], "kiwi", "sesame"),
        (["I play the oboe.", "I told you the wrong instrument. I play the bassoon."], "bassoon", "oboe"),
        (["we have chalk soil", "I was wrong, what we've got is loam"], "loam", "chalk"),
        (["our landlord is Mr Vasilis", "New landlord is a company called Homely."], "Homely", "Vasilis"),
        (["My dentist is Dr Lund.", "I misspoke, my dentist is Dr Holm."], "Holm", "Lund"),
    ],
)  # fmt: skip
def test_what_was_told_wrongly_gives_way(memory: LongTermMemory, turns: list[str], kept: str, gone: str) -> None:
    facts = told(memory, turns)
    assert any(kept in f.object for f in facts)
    assert not any(gone in f.object for f in facts)


@pytest.mark.parametrize(
    ("turns", "stays"),
    [
        (["I'm allergic to dogs.", "I was wrong about the weather. I'm allergic to cats too."], "dogs"),
        (["I'm allergic to dogs.", "They gave me the wrong medicine. I'm allergic to cats."], "dogs"),
        (["I play the oboe.", "I sang the wrong note. I play the harp as well."], "oboe"),
        (
            ["My nephew is allergic to sesame.", "we gave him the wrong snack, he's allergic to kiwi as well"],
            "sesame",
        ),
        (["I play the oboe.", "I told you the wrong instrument. I also play the harp."], "oboe"),
    ],
)
def test_what_else_was_wrong_ends_nothing(memory: LongTermMemory, turns: list[str], stays: str) -> None:
    assert any(stays in f.object for f in told(memory, turns))


@pytest.mark.parametrize(
    ("words", "subject", "value"),
    [
        ("A pupil of mine, Anton, has epilepsy.", "Anton", "epilepsy"),
        ("One of my students, Amal, speaks Arabic at home.", "Amal", "Arabic"),
        ("My business partner, Greta, is colour-blind.", "Greta", "colour-blind"),
        ("my best mate Kofi is a welder in Hull", "Kofi", "welder"),
        ("our lead dev is a vim fanatic", "lead dev", "vim"),
        ("daughter in law is from Split", "daughter_in_law", "Split"),
    ],
)
def test_what_others_do_is_theirs(memory: LongTermMemory, words: str, subject: str, value: str) -> None:
    facts = told(memory, [words])
    assert not [f for f in facts if f.subject == "user"]
    assert [f for f in facts if f.subject == subject and value in f"{f.object} {f.text}"]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("My manager is Omar.", "Omar"),
        ("I'm a student at Leeds.", "Leeds"),
        ("My boss wants me in the office on Mondays.", "Mondays"),
        ("My brother, Tom, is allergic to nuts and I'm allergic to kiwi.", "kiwi"),
    ],
)
def test_what_touches_the_speaker_is_his(memory: LongTermMemory, words: str, value: str) -> None:
    assert [f for f in told(memory, [words]) if f.subject == "user" and value in f.object]


@pytest.mark.parametrize(
    ("turns", "kept", "gone"),
    [
        (
            ["On Tuesdays I have a Dutch lesson, and Polish on Fridays.", "I dropped Polish in the end."],
            "Dutch",
            "Polish",
        ),
        (
            [
                "I drink strong coffee at breakfast and Darjeeling in the afternoon.",
                "I've given up coffee at breakfast because my stomach no longer tolerates it.",
            ],
            "Darjeeling",
            "coffee at",
        ),
    ],
)
def test_of_two_told_in_one_breath_the_one_that_is_named_ends(
    memory: LongTermMemory, turns: list[str], kept: str, gone: str
) -> None:
    facts = [f for f in told(memory, turns) if f.is_positive]
    assert any(kept in f.object for f in facts)
    assert not any(gone in f.object for f in facts)


@pytest.mark.parametrize(
    ("words", "relation", "value"),
    [
        ("Porto is where I live.", "lives_in", "Porto"),
        ("Durham is where my home is.", "lives_in", "Durham"),
        ("Lakehead is the university I go to.", "studies_at", "Lakehead"),
        ("Apex Logistics is where I work.", "works_at", "Apex Logistics"),
        ("Ramipril is what I take for my blood pressure.", "medication", "Ramipril for my blood pressure"),
        ("Anna Kowalska is our dentist.", "single:dentist", "Anna Kowalska"),
        ("Dr Okafor has been our GP since the twins were born.", "attribute:gp", "Dr Okafor"),
    ],
)
def test_what_begins_with_its_value_is_told_of_the_speaker(
    memory: LongTermMemory, words: str, relation: str, value: str
) -> None:
    assert [(f.subject, f.relation, f.object) for f in told(memory, [words])] == [("user", relation, value)]


@pytest.mark.parametrize(
    ("words", "subject"),
    [
        ("Owen, my brother, lives in Stroud.", "brother:Owen"),
        ("Rolo, our labrador, sleeps in the kitchen.", "dog:Rolo"),
        ("My brother lives in Stroud.", "brother"),
        ("In summer, my brother lives in Stroud.", "brother"),
    ],
)
def test_a_name_in_front_of_who_it_is(memory: LongTermMemory, words: str, subject: str) -> None:
    assert [f.subject for f in told(memory, [words])] == [subject]
