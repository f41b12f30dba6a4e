"""A later sentence that only touches on what is known ends nothing: a part or a thing for it, another of its sort,
somebody else's, a passing event; what tells of the thing itself does."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ltm_core.write.endings.touching import only_touches, tells_of_another
from ltm_core.write.words.load import default_lexicon

TOUCHES = [
    ("We have a piano", "I sold the piano stool"),
    ("We have a wood burner", "I sold the wood burner tongs"),
    ("We have a rabbit", "We gave away the rabbit hutch"),
    ("I do yoga on Wednesdays", "I threw away my yoga mat"),
    ("I have a kayak", "The kayak paddle was stolen"),
    ("I play the violin", "My violin bow snapped and was thrown out"),
    ("I shop at Lidl", "The Lidl car park closed"),
    ("I work at Siemens", "Siemens sold its wind division"),
    ("I'm the treasurer of the bowls club", "The treasurer's report is done"),
    ("My manager is Dana", "Dana's assistant resigned"),
    ("Our vet is Green Lane Vets", "The nurse at Green Lane left"),
    ("My car insurance is with Admiral", "I switched my pet insurance to Aviva"),
    ("I have a student loan", "My car loan is paid off"),
    ("My thesis deadline is in May", "The library deadline was moved to Friday"),
    ("I'm doing an online course in Python", "I cancelled my online course in Excel"),
    ("I play the guitar", "My bandmate gave up the guitar"),
    ("I'm a nurse", "The nurse next door has retired"),
    ("We have a dog called Rex", "My mum's dog died"),
    ("I'm a member of the tennis club", "I left the tennis club at nine"),
    ("I run a small bakery", "I closed the bakery an hour early"),
    ("I volunteer at the food bank", "I stopped at the food bank on the way"),
    ("I'm working on the Helios project", "The first phase of the Helios project is done"),
    ("I collect stamps", "I sold three stamps"),
    ("I go to church every Sunday", "I left my umbrella in church"),
    ("My laptop is a ThinkPad", "My laptop needs a new battery"),
    ("I drive a Fiesta", "I traded my old bike in"),
    ("We have a caravan", "We got rid of the awning for the caravan"),
    ("I have a gym membership", "I cancelled my gym class"),
    ("I take sertraline 50 mg", "They raised my levothyroxine to 75 mcg"),
    ("I have a garden pond with koi", "A heron got one of my koi"),
    ("I have two guitars", "The old guitar was stolen"),
    ("I live in a house on Mill Lane", "The bakery on Mill Lane shut last week"),
    ("My boat is a Wayfarer", "I replaced the mast of the Wayfarer"),
    ("I see a physio called Anouk", "Anouk's husband has died"),
]
TELLS = [
    ("We have a piano", "I sold the piano"),
    ("I subscribe to Netflix", "I cancelled the Netflix subscription"),
    ("I drive a Fiesta", "I sold the Fiesta last week"),
    ("I go to the gym", "I let my gym membership lapse"),
    ("I work at Siemens", "I left Siemens in May"),
    ("I sing in a choir", "The choir folded"),
    ("I sing in a choir", "The choir's gone bust"),
    ("I have a student loan", "I paid off my student loan"),
    ("I'm studying for the bar", "I passed the bar exam"),
    ("I collect stamps", "I sold my stamp collection"),
    ("My laptop is a ThinkPad", "I sold the laptop"),
    ("Our front door is red", "I painted the front door green"),
    ("I take statins", "My statins were stopped by the new doctor"),
    ("I have a gym membership", "I cancelled my gym contract"),
    ("I take a pottery class", "I dropped the pottery class"),
    ("I'm on the parent council at Riverside", "I stepped down from the parent council in June"),
    ("I have two guitars", "Both guitars were stolen"),
    ("I have two rabbits", "My last rabbit died on Sunday"),
    ("I have a garden pond with koi", "We filled in the pond"),
    ("I rent a flat on Elm Street", "The lease on the flat has ended"),
    ("I shop at Lidl", "The Lidl shop on my road closed for good"),
    ("I work at the bakery on Mill Lane", "The bakery on Mill Lane has closed"),
    ("I share a flat with my friend Sam", "My friend moved out"),
]


@dataclass
class _Fact:
    text: str
    relation: str = "about"
    subject: str = "user"
    speaker: str | None = None

    @property
    def object(self) -> str:
        return self.text


@pytest.mark.parametrize(("held", "said"), TOUCHES)
def test_only_touches(held: str, said: str) -> None:
    fact = _Fact(held, relation="drives" if "drive" in held else "about")
    assert only_touches(fact, said, default_lexicon())  # type: ignore[arg-type]


@pytest.mark.parametrize(("held", "said"), TELLS)
def test_tells_of_the_thing_itself(held: str, said: str) -> None:
    fact = _Fact(held, relation="drives" if "drive" in held else "about")
    assert not only_touches(fact, said, default_lexicon())  # type: ignore[arg-type]
    assert not tells_of_another(fact, said, default_lexicon())  # type: ignore[arg-type]
