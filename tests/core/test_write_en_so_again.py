"""English clauses that say that something known, and replaced, is so again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm_core.embed.base import Embedder
from tests.core.test_write_en_old_stories import current


@pytest.mark.parametrize(
    ("first", "then", "back", "holds", "over"),
    [
        (
            "Our package manager is pnpm.",
            "The team changed the package manager to Yarn.",
            "It didn't work out, so our package manager is pnpm again.",
            "pnpm",
            "Yarn",
        ),
        (
            "Choir practice is in the church hall.",
            "Choir practice has moved to the library.",
            "The repairs are done, so choir practice is in the church hall once more.",
            "church hall",
            "library",
        ),
        (
            "I'm a vegetarian.",
            "I eat meat these days.",
            "Right, I've gone back to being a vegetarian and intend to stay one.",
            "vegetarian",
            "eat meat",
        ),
        (
            "I'm on the annual plan.",
            "I changed my subscription to the month-to-month plan.",
            "You can see that I'm on the annual plan again.",
            "annual plan",
            "month-to-month",
        ),
        (
            "My standing desk is in the spare room.",
            "My standing desk is in the lounge now.",
            "My standing desk is in the spare room once more.",
            "spare room",
            "lounge",
        ),
        (
            "Our default branch is main.",
            "Our default branch is now trunk.",
            "Everyone grumbled, so our default branch is main again.",
            "main",
            "trunk",
        ),
        (
            "I walk to school.",
            "I take the bus to school now.",
            "The weather is better and I walk to school again.",
            "walk",
            "bus",
        ),
        (
            "I have tea in the morning.",
            "I have coffee in the morning now.",
            "I'm back to having tea in the morning.",
            "tea",
            "coffee",
        ),
    ],
)
def test_it_is_so_again(
    tmp_path: Path, encoder: Embedder, first: str, then: str, back: str, holds: str, over: str
) -> None:
    known = current(tmp_path, encoder, [first, then, back])
    assert holds in known
    assert over not in known


@pytest.mark.parametrize(
    ("first", "then", "words", "holds"),
    [
        (
            "Choir practice is in the church hall.",
            "Choir practice has moved to the library.",
            "I'd love it if choir practice were in the church hall again.",
            "library",
        ),
        (
            "Choir practice is in the church hall.",
            "Choir practice has moved to the library.",
            "Choir practice might be in the church hall again next year.",
            "library",
        ),
        (
            "Choir practice is in the church hall.",
            "Choir practice has moved to the library.",
            "Is choir practice in the church hall again?",
            "library",
        ),
        (
            "Choir practice is in the church hall.",
            "Choir practice has moved to the library.",
            "I walked past the church hall again.",
            "library",
        ),
        ("Our package manager is pnpm.", "Our package manager is Yarn now.", "Yarn is broken again.", "Yarn"),
        ("Our package manager is pnpm.", "Our package manager is Yarn now.", "I read about pnpm again.", "Yarn"),
        ("I live in Whitby.", "I've moved to Bristol.", "I was in Whitby again last week.", "Bristol"),
        ("I live in Whitby.", "I've moved to Bristol.", "I dreamt I lived in Whitby again.", "Bristol"),
        ("I'm a vegetarian.", "I eat meat these days.", "My sister is a vegetarian again.", "meat"),
        ("I'm a vegetarian.", "I eat meat these days.", "I won't be a vegetarian again.", "meat"),
        ("I walk to school.", "I take the bus to school now.", "He walks to school again.", "bus"),
        ("I walk to school.", "I take the bus to school now.", "I plan to walk to school again.", "bus"),
        (
            "My usual seat is by the window.",
            "My usual seat is by the door now.",
            "Someone broke the window by the door again.",
            "door",
        ),
        ("I work at Delta.", "I work at JetBlue now.", "I flew with Delta again.", "JetBlue"),
    ],
)
def test_what_is_only_thought_of_or_happens_once_more_is_not(
    tmp_path: Path, encoder: Embedder, first: str, then: str, words: str, holds: str
) -> None:
    assert holds in current(tmp_path, encoder, [first, then, words])


@pytest.mark.parametrize(
    ("first", "then", "back", "holds", "over"),
    [
        # what was replaced, named by a word or two only
        (
            "I work as a barista at Costa.",
            "I've changed jobs and I'm at Pret now.",
            "Costa offered me my job back and I've accepted it.",
            "Costa",
            "Pret",
        ),
        (
            "We get our veg box from Riverford.",
            "We switched our veg box to Abel & Cole.",
            "The new boxes were poor, so Riverford delivers our veg again.",
            "Riverford",
            "Abel",
        ),
        (
            "Dad drives a Skoda.",
            "Dad swapped the Skoda for a Kia.",
            "It broke down twice, so Dad bought his Skoda back.",
            "Skoda",
            "Kia",
        ),
        (
            "I keep my contacts in Google.",
            "I've moved my contacts to iCloud.",
            "That kept losing numbers, so they're in Google once more.",
            "Google",
            "iCloud",
        ),
        (
            "I fly as cabin crew for Delta.",
            "I left Delta and I'm with JetBlue now.",
            "Delta hired me back.",
            "Delta",
            "JetBlue",
        ),
        (
            "My insulin dose is 12 units.",
            "The clinic raised my insulin to 16 units.",
            "I had too many hypos and they've put me back on 12 units.",
            "12 units",
            "16 units",
        ),
        # what was never said to be over
        (
            "My son is in Mrs Hill's class.",
            "They moved my son to Mr Dean's class.",
            "The school put him back in Mrs Hill's class.",
            "Mrs Hill",
            "Mr Dean",
        ),
        (
            "I have porridge for breakfast.",
            "I've started having eggs for breakfast.",
            "I got bored of that, it's porridge for breakfast again.",
            "porridge",
            "eggs",
        ),
        (
            "Dario plays in goal for our five-a-side.",
            "We've put Luca in goal now.",
            "That went badly, so we put Dario back in goal.",
            "Dario",
            "Luca in goal",
        ),
        ("I'm vegan.", "I started eating fish in spring.", "I felt guilty, so I'm vegan again.", "vegan", "fish"),
        (
            "I work night shifts at the bakery.",
            "They have put me on day shifts.",
            "My request was granted: I'm back on night shifts.",
            "night",
            "day shifts",
        ),
        (
            "I play goalkeeper for the school team.",
            "Coach made me a striker.",
            "Coach has put me back in goal, which is the end of me up front.",
            "goalkeeper",
            "striker",
        ),
        (
            "Rolo, our labrador, sleeps in the kitchen.",
            "We've moved Rolo's bed up to the landing.",
            "He barked at every creak, so Rolo is sleeping in the kitchen again.",
            "kitchen",
            "landing",
        ),
        (
            "We worship at St Luke's.",
            "We've switched to the chapel on Elm Road.",
            "The quarrel is over, and we're back at St Luke's every Sunday.",
            "St Luke",
            "Elm Road",
        ),
    ],
)
def test_a_word_or_two_name_what_is_gone_back_to(
    tmp_path: Path, encoder: Embedder, first: str, then: str, back: str, holds: str, over: str
) -> None:
    known = current(tmp_path, encoder, [first, then, back])
    assert holds in known
    assert over not in known


@pytest.mark.parametrize(
    ("first", "then", "words", "holds"),
    [
        ("I work at Delta.", "I work at JetBlue now.", "I've flown with Delta again.", "JetBlue"),
        ("I bank with Barclays.", "I've switched to Monzo.", "Barclays called me back about the complaint.", "Monzo"),
        ("My GP is Dr Shaw.", "My GP is Dr Lin now.", "I saw Dr Shaw again at the supermarket.", "Lin"),
        ("I live in Leeds.", "I've moved to York.", "My sister has moved back to Leeds.", "York"),
        ("I take the bus to work.", "I cycle to work now.", "The bus was late again.", "cycle"),
        ("I work at Costa.", "I work at Pret now.", "Costa offered me my job back but I turned it down.", "Pret"),
        ("I play tennis with Ana.", "I've started badminton with Ana.", "I'm playing tennis again.", "badminton"),
        ("I study French.", "I've started Spanish as well.", "My French book is back at the library.", "Spanish"),
        ("I have a cat called Milo.", "We've got a new dog called Rex.", "Milo is back from the vet.", "Rex"),
        ("I swim on Mondays.", "I've started yoga on Thursdays.", "I swim on Mondays again.", "yoga"),
    ],
)
def test_what_was_not_told_instead_of_it_stays(
    tmp_path: Path, encoder: Embedder, first: str, then: str, words: str, holds: str
) -> None:
    assert holds in current(tmp_path, encoder, [first, then, words])
