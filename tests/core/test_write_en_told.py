"""English as it is told: values put right, what came instead, names, doses, replies that show what helped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.lexicon import default_lexicon
from ltm_core.types import Anchor, Observation
from ltm_core.write.corrections.values import put
from ltm_core.write.known.sorts import are_rivals

NOW = datetime(2026, 6, 17, 10, tzinfo=UTC)
RULES = default_lexicon().rules("en")


class Told:
    """A user's memory; every session begins nine days after the one before."""

    def __init__(self, path: Path) -> None:
        self.now = NOW
        self.memory = LongTermMemory.open(path, embedder="none", timezone="UTC", clock=lambda: self.now)
        self.session = 1

    def say(self, text: str) -> Observation:
        self.now += timedelta(minutes=2)
        return self.memory.observe(user_id="u", session_id=f"s{self.session}", user=text)

    def answer(self, text: str) -> None:
        self.memory.observe(user_id="u", session_id=f"s{self.session}", assistant=text)

    def later(self) -> None:
        self.session += 1
        self.now += timedelta(days=9)

    def current(self) -> set[tuple[str, str, str]]:
        return {(f.subject, f.relation, f.object) for f in self.memory.facts(user_id="u") if f.is_positive}


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    made = Told(tmp_path / "store")
    yield made
    made.memory.close()


@pytest.mark.parametrize(
    ("held", "value", "wanted"),
    [
        ("12 June", "21 June", "21 June"),
        ("team of five", "six", "team of six"),
        ("from Terminal 2", "Terminal 3", "from Terminal 3"),
        ("Mr Bolton", "Boulton", "Mr Boulton"),
        ("£900 a month", "£950", "£950 a month"),
        ("go on Wednesday", "Thursday", "go Thursday"),
        ("two cats and three dogs", "four", ""),
        ("Deloitte in Leeds", "Sheffield", ""),
        ("12 June", "12 June", ""),
        ("a dog", "Tuesday", ""),
    ],
)
def test_a_value_takes_the_place_of_the_one_of_its_kind(held: str, value: str, wanted: str) -> None:
    assert put(held, value, RULES) == wanted


def test_two_things_of_one_sort_are_rivals() -> None:
    assert are_rivals("We're with HSBC", "We've gone over to Monzo")
    assert are_rivals("I take ramipril", "they put me on losartan")
    assert not are_rivals("We're with HSBC", "HSBC's app was down")
    assert not are_rivals("I take ramipril", "I drive a Kia")


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("My sister's wedding is on 12 June.", "Sorry, 21 June. Got my digits swapped.",
         {("sister", "attribute:wedding", "21 June")}),
        ("my son is called Jonas", "*Jonah, autocorrect", {("son", "name", "Jonah")}),
        ("We're a team of five.", "Wait, six. Forgot about Lena.", {("user", "is_a", "team of six")}),
        ("Budget for the trip is £900.", "Er, £1,900, not 900.", {("user", "budget:trip", "£1,900")}),
    ],
)  # fmt: skip
def test_a_value_blurted_out_puts_the_one_before_right(
    told: Told, first: str, second: str, wanted: set[tuple[str, str, str]]
) -> None:
    told.say(first)
    told.say(second)
    assert told.current() == wanted


def test_an_answer_to_a_question_corrects_nothing(told: Told) -> None:
    told.say("I have yoga on Mondays")
    told.answer("Shall we say Tuesday or Wednesday for the call?")
    told.say("Sorry, Tuesday.")
    assert told.current() == {("user", "habit", "have yoga on Mondays")}


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("I take 50mg of sertraline every morning.", "Doctor upped my sertraline to 100mg today.",
         ("user", "medication", "sertraline to 100mg")),
        ("We drive an old Volvo estate.", "We part-exchanged the Volvo for a Kia Niro on Saturday.",
         ("user", "drives", "Kia Niro")),
        ("I'm at Tesco, on the bakery counter", "left Tesco for Lidl", ("user", "works_at", "Lidl")),
        ("My manager is Priya.", "I report to Declan now.", ("user", "single:manager", "Declan")),
        ("My lad goes to Bishop's Mead.", "We moved my lad to Thornbury High after Easter",
         ("son", "studies_at", "Thornbury High")),
        ("Your name is Sable.", "Let's change your name, you're Indigo now.", ("assistant", "name", "Indigo")),
        ("You can call me Al.", "Call me Alison please, not Al.", ("assistant", "calls_user", "Alison")),
        ("Budget for the kitchen is £12,000.", "We've had to cut the kitchen budget to nine and a half thousand.",
         ("user", "budget:kitchen", "nine and a half thousand")),
        ("I'm in Austin, near Zilker", "relocated to Denver in May", ("user", "lives_in", "Denver")),
    ],
)  # fmt: skip
def test_what_came_instead_takes_the_place(told: Told, first: str, second: str, wanted: tuple[str, str, str]) -> None:
    told.say(first)
    told.later()
    told.say(second)
    assert told.current() == {wanted}


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("I work for Boeing", "Boeing changed its CEO"),
        ("my team lead is Paulo", "Paulo sold his house"),
        ("I use Zoom", "Zoom stopped working halfway through"),
        ("I work for Nestlé", "a mate of mine left Nestlé for Mars"),
        ("I take metformin", "ran out of metformin, chemist's getting more in"),
        ("I work at Aldi", "My sister left Aldi for Lidl"),
    ],
)
def test_what_somebody_or_something_else_does_ends_nothing(told: Told, known: str, words: str) -> None:
    told.say(known)
    before = told.current()
    told.later()
    told.say(words)
    assert before <= told.current()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("I studied geology at Leeds", ("user", "graduated_from", "geology at Leeds")),
        ("I should mention I was diagnosed as coeliac last month", ("user", "health", "coeliac")),
        ("Rent is £1,150 a month, bills on top.", ("user", "single:rent", "£1,150 a month")),
        ("Wedding budget's about 20k", ("user", "budget:wedding", "about 20k")),
        ("Name's Dmitri, friends say Dima", ("user", "nickname", "Dima")),
        ("I go by my middle name, Ruth", ("user", "name", "Ruth")),
        ("I hereby christen you Bartleby.", ("assistant", "name", "Bartleby")),
        ("I know Python and SQL", ("user", "knows", "Python and SQL")),
        ("I have a son, Eli, he's four.", ("user", "children", "a son, Eli")),
        ("bit of news - we completed on a house in Macclesfield on Friday", ("user", "lives_in", "Macclesfield")),
        ("Quote QT-2031 went to legal on Monday.", ("quote:QT-2031", "status", "went to legal on Monday")),
        ("Claim CL-7781: they're waiting for the assessor.",
         ("case:CL-7781", "status", "they're waiting for the assessor")),
        ("Purchase order 4417 got knocked back by finance", ("order:4417", "status", "knocked back by finance")),
    ],
)  # fmt: skip
def test_what_is_kept_of_words(told: Told, words: str, wanted: tuple[str, str, str]) -> None:
    told.say(words)
    assert wanted in told.current()


@pytest.mark.parametrize("words", ["In my D&D campaign I play a half-orc cleric who is allergic to silver."])
def test_a_game_is_no_life(told: Told, words: str) -> None:
    told.say(words)
    assert told.current() == set()


def confirmed(told: Told, problem: str, proposal: str, reply: str) -> list[Anchor]:
    told.say(problem)
    told.answer(proposal)
    return [a for a in told.say(reply).anchors if a.kind == "confirmation"]


@pytest.mark.parametrize(
    ("problem", "proposal", "reply"),
    [
        ("My Dell won't charge.", "Try unplugging it and holding the power button for 30 seconds.", "It's charging!"),
        ("What plan would suit us? Four people.", "I'd recommend the Family 20 for £32 a month.",
         "Let's go with Family 20 then"),
        ("When shall we hold the retro?", "How about Tuesday at three?", "Agreed, let's do that"),
        ("My soup is too salty.", "Add a peeled potato and simmer it for a while.", "Saved the soup, thank you!"),
    ],
)  # fmt: skip
def test_a_short_reply_takes_a_proposal_up(told: Told, problem: str, proposal: str, reply: str) -> None:
    (anchor,) = confirmed(told, problem, proposal, reply)
    assert anchor.text == proposal


@pytest.mark.parametrize(
    "reply",
    [
        "I'll try that tonight", "it's a Lenovo by the way", "Still black.", "which button is that?",
        "I live in Leeds, so it's a long drive to the shop", "sorted my washing, brb", "gotta run, see you",
    ],
)  # fmt: skip
def test_other_replies_take_up_nothing(told: Told, reply: str) -> None:
    proposal = "Hold the power button for fifteen seconds, then start it with the charger plugged in."
    assert confirmed(told, "The laptop screen stays black when I open the lid.", proposal, reply) == []


def test_what_ended_something_beside_the_store_is_an_anchor(told: Told) -> None:
    told.say("I use Evernote")
    told.later()
    seen = told.say("cancelled Evernote, never opened it")
    assert [a.text for a in seen.anchors if a.kind == "stated_fact"] == ["cancelled Evernote"]
    assert next(iter(told.memory.facts(user_id="u"))).is_positive is False
