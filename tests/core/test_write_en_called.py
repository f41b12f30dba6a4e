"""English: what the user and the assistant are to be called, and how the assistant is to speak from now on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Utterance

NOW = datetime(2026, 6, 17, 10, tzinfo=UTC)
LEXICON = default_lexicon()


def read(words: str) -> list[tuple[str, str, str, bool]]:
    said = Utterance(message_id="m", role="user", content=words, at=NOW)
    seen = analyse(said, lexicon=LEXICON, fact_threshold=0.6)
    return [(c.subject, c.relation, c.object, c.is_positive) for c in seen.candidates]


@pytest.mark.parametrize(
    ("words", "relation", "name"),
    [
        ("I'm tired of that nickname, so use Edgar for me from now on.", "calls_user", "Edgar"),
        ("Use my middle name, Rosalind, going forward.", "calls_user", "Rosalind"),
        ("You can call me by my first name, Grace.", "calls_user", "Grace"),
        ("Please address me as Dr Okoye in every message.", "calls_user", "Dr Okoye"),
        ("Address me as Ms. Farrell in all correspondence.", "calls_user", "Ms. Farrell"),
        ("I'd rather you called me Mrs Ortiz.", "calls_user", "Mrs Ortiz"),
        ("I've retired, so drop the title and just call me Edwin from here on.", "calls_user", "Edwin"),
        ("Skip the formalities and call me Bea.", "calls_user", "Bea"),
        ("Call me Captain from this day forward.", "calls_user", "Captain"),
        ("I prefer to be called Jo.", "calls_user", "Jo"),
        ("I'd like to be called Ana.", "calls_user", "Ana"),
        ("Can you call me Sam?", "calls_user", "Sam"),
        ('It\'s pronounced "Nee-av," but please spell my name Niamh on the parcels.', "calls_user", "Niamh"),
        ("From now on you answer to the name Jeeves.", "name", "Jeeves"),
        ("You shall be known as Friday.", "name", "Friday"),
        ("I'm naming you Otto.", "name", "Otto"),
        ("Let's call you Hal.", "name", "Hal"),
        ("Your name is Nova from today.", "name", "Nova"),
    ],
)
def test_who_is_called_what(words: str, relation: str, name: str) -> None:
    assert ("assistant", relation, name, True) in read(words)


def test_what_is_not_to_be_said_is_denied() -> None:
    assert read("I don't like being called dear.") == [("assistant", "calls_user", "dear", False)]
    assert read("Use he/him for me, please.") == [("user", "attribute:pronouns", "he/him", True)]


@pytest.mark.parametrize(
    ("words", "relation", "value"),
    [
        ("Skip the emojis when you talk to me, now and always.", "reply_style", "emojis"),
        ("No emojis, please.", "reply_style", "emojis"),
        ("Drop the exclamation marks from now on.", "reply_style", "exclamation marks"),
        ("Cut the small talk when you answer me.", "reply_style", "small talk"),
        ("Don't be so chatty in your answers.", "reply_style", "chatty"),
        ("Could you always keep your answers under four sentences?", "reply_length", "under four sentences"),
        ("I'd prefer it if you kept your answers under ten words from here on.", "reply_length", "under ten words"),
        ("I'd like you to answer in bullet points whenever I ask about code.", "reply_length", "bullet points"),
        ("When you write comments in my code, write them in American English.", "reply_language", "American English"),
        ("I'd like your answers in Spanish.", "reply_language", "Spanish"),
        ("Could you always answer in Dutch?", "reply_language", "Dutch"),
        ("From now on use a plain, sober tone with me.", "reply_tone", "plain, sober tone"),
        ("I want you to be blunt with me.", "reply_tone", "blunt"),
    ],
)
def test_how_to_speak_from_now_on(words: str, relation: str, value: str) -> None:
    assert any(s == "assistant" and r == relation and value in o for s, r, o, _ in read(words)), read(words)


def test_bullet_points_that_are_forbidden_are_no_length() -> None:
    assert read("Never use bullet points with me.") == [
        ("assistant", "reply_style", "Never use bullet points with me", False)
    ]


@pytest.mark.parametrize(
    "words",
    [
        "Can you call me at five?",
        "Can you call me a cab?",
        "Can you always see my location?",
        "Use Python for me.",
        "Would you go by train?",
        "Could you answer in French?",
        "Skip the intro in this recipe.",
        "No apologies needed.",
        "Drop the jokes about Kevin in paragraph two.",
        "Let's call you back tomorrow.",
    ],
)
def test_what_names_and_orders_nothing_lasting(words: str) -> None:
    assert not [r for r in read(words) if r[0] == "assistant"], read(words)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    clock = [NOW]

    def tick() -> datetime:
        clock[0] += timedelta(days=1)
        return clock[0]

    with LongTermMemory.open(tmp_path / "store", embedder="none", timezone="UTC", clock=tick) as made:
        yield made


@pytest.mark.parametrize(
    ("first", "then", "now", "over"),
    [
        ("Everybody calls me Sparky.", "I've grown tired of that nickname, so use Edgar for me from today.",
         "Edgar", "Sparky"),
        ("My friends call me Skip.", "I've outgrown that nickname. Use my full name, Leopold, going forward.",
         "Leopold", "Skip"),
        ("Call me Ace.", "Stop calling me Ace, I'm Peter.", "Peter", "Ace"),
        ("Going forward, speak to me like a pirate.",
         "The joke has worn thin; from now on use a plain, sober tone with me.", "sober tone", "pirate"),
    ],
)  # fmt: skip
def test_a_name_or_manner_that_the_user_is_tired_of(
    memory: LongTermMemory, first: str, then: str, now: str, over: str
) -> None:
    for n, text in enumerate((first, then)):
        memory.observe(user_id="u", session_id=f"s{n}", user=text)
    current = [f.object for f in memory.facts(user_id="u") if f.is_positive]
    assert any(now in o for o in current) and not any(over in o for o in current)


def test_another_name_goes_on(memory: LongTermMemory) -> None:
    said = ("Everybody calls me Sparky.", "Stop calling me Bobby.", "My sister hates her nickname.")
    for n, text in enumerate(said):
        memory.observe(user_id="u", session_id=f"s{n}", user=text)
    assert "Sparky" in [f.object for f in memory.facts(user_id="u")]
