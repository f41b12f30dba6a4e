"""What English words end by telling a consequence or by an idiom, whole classes given up, and what goes on then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.test_write_en_kinds import Talk


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    made = Talk(tmp_path / "store", embedder="")
    yield made
    made.memory.close()


@pytest.mark.parametrize(
    ("before", "words", "gone"),
    [
        ("I teach Zumba on Mondays.", "No more Zumba for me, the knees have decided.", "Zumba"),
        ("I play netball for the Hornets.", "The Hornets have folded. No more netball for me.", "netball"),
        ("We sell logs from the yard.", "Storm's passed, no more logs to sell.", "sell logs"),
        ("I'm on the school board.", "Ten years on that board is plenty.", "school board"),
        ("I'm on the school board.", "Handed in my notice to the chairman.", "school board"),
        ("I go bowling on Tuesdays.", "Hung up the bowling shoes.", "bowling on"),
        ("My daughter does ballet on Saturdays.", "Freya has hung up her ballet shoes.", "ballet on"),
        ("I vape at work.", "Threw the vape in the canal in May. Not had a puff since.", "smokes vape"),
        ("I breastfeed Nia morning and night.", "Nia's weaned at last, breast pump's sold.", "breastfeed"),
        ("I'm on Tinder.", "Deleted both profiles.", "Tinder"),
        ("My nephew Sol lives in our basement.", "Sol's moved to Leeds for good.", "our basement"),
        ("Our au pair Greta lives with us.", "Greta flew home to Sweden for good.", "lives_with"),
        ("My daughter takes fencing lessons.", "She sold her fencing kit, she won't be going back.", "takes fencing"),
        ("I play in goal for the Monday lads.", "The Monday lads have found another keeper.", "in goal"),
        ("I'm the church organist.", "They've got a new organist.", "church organist"),
        ("I play the trombone in a band.", "Trombone's up for sale, my lip has gone.", "the trombone in"),
        ("I referee kids football.", "I've blown my last whistle.", "referee"),
        ("I run a book group.", "Our book group met for the last time on Tuesday.", "run a book"),
    ],
)
def test_told_by_its_consequence(talk: Talk, before: str, words: str, gone: str) -> None:
    assert any(gone in h for h in talk.say(before).current())
    assert not any(gone in h for h in talk.say(words).current())


@pytest.mark.parametrize(
    ("before", "words", "stays"),
    [
        ("I play netball for the Hornets.", "No more netball for me tonight.", "netball"),
        ("I play netball for the Hornets.", "If they fold it's no more netball for me.", "netball"),
        ("We sell logs from the yard.", "No more logs to sell until October.", "sell logs"),
        ("I'm on the school board.", "Two hours on that board is enough for one evening.", "school board"),
        ("I'm on the school board.", "My neighbour handed in his notice to the chairman.", "school board"),
        ("I go bowling on Tuesdays.", "Hung up my bowling shoes by the door.", "bowling on"),
        ("I go bowling on Tuesdays.", "Thinking of hanging up my bowling shoes.", "bowling on"),
        ("I'm on Tinder.", "My mate deleted his profile.", "Tinder"),
        ("My nephew Sol lives in our basement.", "Sol flew to Poland, he won't be back until Monday.", "basement"),
        ("My daughter does fencing.", "She gave her old fencing kit to a cousin, it got too small.", "fencing"),
        ("I play in goal for the Monday lads.", "The Monday lads have found another pitch.", "in goal"),
        ("I'm the church organist.", "They've got a new organ.", "church organist"),
        ("I play the trombone in a band.", "Trombone's for sale in Dawsons, looks lovely.", "the trombone in"),
        ("I run a book group.", "Our book group met for the last time this term.", "run a book"),
        ("I love a spin class.", "I hate the gym on Mondays, it's packed.", "spin class"),
        ("I'm fond of Hereford cattle.", "I'm done with the cattle for today.", "Hereford"),
        ("I love moussaka.", "The Greek food last night was awful, all of it.", "moussaka"),
    ],
)
def test_what_only_sounds_like_it(talk: Talk, before: str, words: str, stays: str) -> None:
    talk.say(before, words)
    assert any(stays in h for h in talk.current())


@pytest.mark.parametrize(
    ("before", "words", "gone", "left"),
    [
        ("I love a spin class.", "I hate gyms now. All of it. I just swim.", "a spin class", "swim"),
        ("I love my Texels.", "I'm done with sheep, the whole lot. Only goats for me now.", "Texels", "Only goats"),
        ("I love doing wet rooms.", "Won't touch bathrooms now, none of them. Boilers only.", "wet rooms", "Boilers"),
        ("I adore moussaka.", "Gone right off Greek food. Every kind.", "moussaka", ""),
        ("I really enjoy wheel throwing.", "I've had it with pottery, all of it. I just paint.", "throwing", "paint"),
    ],
)
def test_a_class_given_up_and_what_is_left(talk: Talk, before: str, words: str, gone: str, left: str) -> None:
    talk.say(before, words)
    known = talk.current("user")
    assert not any(gone in h for h in known)
    assert not left or any(left in h for h in known)


def test_what_is_left_is_mere_talk_by_itself(talk: Talk) -> None:
    talk.say("I have a cat.", "Boilers only.")
    assert not any("Boilers" in h for h in talk.current("user"))


def test_the_other_of_two_stays(talk: Talk) -> None:
    talk.say("I have a sister in Truro, Joan, and a brother in Perth, Hamish.")
    talk.say("Joan has sold up and gone to live in Bath.")
    known = talk.current()
    assert not any("Truro" in h for h in known)
    assert any("Perth" in h for h in known)
