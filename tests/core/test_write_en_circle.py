"""English: what one's own people are, have and do for good is theirs and is kept; the life of a colleague, a
neighbour, a friend among others, a stranger or a celebrity, and what somebody says or does today, is not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Fact, Message

BEGIN = datetime(2025, 3, 3, 9, tzinfo=UTC)


def told(tmp_path: Path, encoder: Embedder, turns: Sequence[str]) -> list[Fact]:
    """What is current after the turns: "|" begins a session ten days later."""
    session = 0
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        for n, words in enumerate(turns):
            if words == "|":
                session += 1
                continue
            said = Message(role="user", content=words, at=BEGIN + timedelta(days=10 * session, minutes=n))
            memory.observe(user_id="u", session_id=f"s{session}", messages=[said])
        return list(memory.facts(user_id="u"))


THEIRS = [
    ("My best mate Callum breeds canaries.", "Callum", "canaries"),
    ("Our neighbour Ahmed has a key to my house.", "Ahmed", "key"),
    ("My manager Liselotte supports Feyenoord.", "Liselotte", "Feyenoord"),
    ("Our lead dev, Piotr, is left-handed.", "Piotr", "left-handed"),
    ("My boss is terrified of spiders.", "boss", "spiders"),
    ("Grandma Edie keeps budgies in her kitchen.", "grandmother:Edie", "budgies"),
    ("The baker at our market, Odile, is an old classmate of mine.", "Odile", "classmate"),
    ("My uncle Bram is retired. He's a cellist with the town orchestra.", "uncle:Bram", "cellist"),
    ("My sister has begun to learn the harp.", "sister", "harp"),
]


@pytest.mark.parametrize(("words", "subject", "value"), THEIRS)
def test_is_kept_of_the_one_it_is_about(
    tmp_path: Path, encoder: Embedder, words: str, subject: str, value: str
) -> None:
    facts = told(tmp_path, encoder, [words])
    assert [f for f in facts if f.subject == subject and value in f.text], facts
    assert not [f for f in facts if f.subject == "user"], facts


def test_what_is_kept_names_whom_it_is_about(tmp_path: Path, encoder: Embedder) -> None:
    (fact,) = told(tmp_path, encoder, ["Our lead dev, Piotr, is left-handed."])
    assert "Piotr" in fact.text


LATER = [
    (["My best mate Gwil is a farrier.", "|", "Gwil's wife is called Mair."], "Gwil", "Mair"),
    (["My best friend Oskar is a glazier.", "|", "Oskar has sold his caravan."], "best_friend:Oskar", "caravan"),
    (["My flatmate Renske plays the tuba.", "|", "Renske has taken up fencing."], "roommate:Renske", "fencing"),
]


@pytest.mark.parametrize(("turns", "subject", "value"), LATER)
def test_a_friend_is_known_by_his_name_later(
    tmp_path: Path, encoder: Embedder, turns: list[str], subject: str, value: str
) -> None:
    facts = told(tmp_path, encoder, turns)
    assert [f for f in facts if f.subject == subject and value in f.text], facts
    assert len([f for f in facts if f.subject == subject]) > 1, facts  # and nothing of before is over


def test_what_a_friend_gives_up_ends_nothing_else_of_his(tmp_path: Path, encoder: Embedder) -> None:
    facts = told(tmp_path, encoder, ["My flatmate Astrid sits on the parish council.", "|", "Astrid gave up coffee."])
    assert [f for f in facts if "parish council" in f.text], facts


@pytest.mark.parametrize(
    "words",
    [
        "Ann Moss, the head of the bank, runs every morning at five.",
        "Our downstairs neighbour, Mrs Aldous, has a prosthetic leg.",
        "The chap across the street, Mr. Banerjee, restores accordions for a living.",
        "Wanda, the other analyst on my team, types on a Dvorak keyboard.",
        "Hamid, a mate of mine from school, breeds canaries.",
        "The girl I mentor, Keisha, wants to become a surveyor.",
        "The woman we share a garden with keeps ducks.",
        "My workmate Terry never eats breakfast.",
        "The actor Idris Elba owns a house in London.",
        "The girl at the counter is Polish.",
        "My boss has a meeting at three.",
        "My manager thinks I should take the course.",
        "My teammate is off sick.",
        "The guy at the shop says it is broken.",
        "My boss is being difficult about it.",
    ],
)
def test_is_no_fact(tmp_path: Path, encoder: Embedder, words: str) -> None:
    assert told(tmp_path, encoder, [words]) == []


def test_who_the_manager_is_stays_the_users(tmp_path: Path, encoder: Embedder) -> None:
    (fact,) = told(tmp_path, encoder, ["My manager is Bogdan."])
    assert fact.subject == "user"


@pytest.mark.parametrize(
    "words",
    [
        "The man on the radio said he owns eleven parrots.",
        "A lady in the queue told me she has nine cats.",
        "The presenter on TV says he has three wives.",
        "Some guy on a podcast said he only eats meat.",
    ],
)
def test_a_voice_on_the_radio_is_nobody_of_ones_own(words: str, tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "s", timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="a", user=words)
        assert not list(memory.facts(user_id="u"))


def test_the_presenter_is_oneself_only_when_one_says_so(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "s", timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="a", user="I'm the presenter on Radio Leeds.")
        (fact,) = memory.facts(user_id="u")
    assert (fact.subject, fact.relation) == ("user", "occupation")


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        (["My husband was called Alan, he died in 2019."], "Alan"),
        (["My PIN hint is a year. My husband was called Alan, he died in 2019.", "We had two boys."], "Alan"),
        (["My wife was called Renate, she died in spring."], "Renate"),
    ],
)
def test_what_takes_the_place_of_something_in_its_own_message(
    tmp_path: Path, encoder: Embedder, turns: Sequence[str], kept: str
) -> None:
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        for n, words in enumerate(turns):
            memory.observe(user_id="u", session_id=f"s{n}", user=words, at=BEGIN + timedelta(days=n))
        known = memory.facts(user_id="u", include_superseded=True)
        assert any(kept in f.text for f in known)
        ids = {f.id for f in known}
        assert all(f.superseded_by in ids for f in known if f.superseded_by)
