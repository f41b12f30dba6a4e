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
    ("I ride a Raleigh tourer", "I sold the old panniers off the Raleigh"),
    ("We have a parrot called Ziggy", "Got rid of Ziggy's old travelling cage now that he has a bigger one"),
    ("My tablet is a Galaxy Tab", "I've stopped using the stylus on my Galaxy Tab"),
    ("I run a card shop", "I've stopped selling candles in the card shop"),
    ("We get our coal from Rudd's", "Rudd's rang, order number 77 was cancelled by mistake"),
    ("I keep a log in a red notebook", "I filled the red notebook and began a new one just like it"),
    ("I have a pitch at the market hall", "The market hall closes at two on Mondays now"),
    ("I'm with Vodafone", "Vodafone has scrapped roaming charges"),
    ("I like spy novels", "I gave up on that spy novel my mum lent me"),
    ("I drive a Zoe", "The charger at the library is no longer free for the Zoe"),
    ("My best mate is Col", "Col and his wife have split up"),
    ("I use Strava", "I left a Strava group"),
    ("We spend Easter in Brittany", "I cancelled the sailing lesson in Brittany"),
    ("I have a subscription to MUBI", "I stopped watching that long drama on MUBI"),
    ("I own a cottage in Kerry", "We let go of the gardener for the Kerry cottage"),
    ("I keep my canoe in the barn", "I got rid of the broken mower in the barn"),
    ("My violin teacher is Mr Oke", "Mr Oke's dog died"),
    ("We foster greyhounds", "One of the greyhounds has gone to her new home"),
    ("I work at the library", "The library has changed its closing time to five"),
    ("I keep goats", "Sold the trailer, I've new ones for the goats"),
    ("I play darts with Gus", "Gus beat me and I said never again, we're on for next week as usual"),
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
    ("I ride a Raleigh tourer", "I sold the old Raleigh"),
    ("I run a card shop", "I've stopped doing business in the card shop"),
    ("We get our coal from Rudd's", "I've cancelled the account with Rudd's"),
    ("The library opens at ten", "The library now opens at nine"),
    ("I swim at the lido every Sunday", "The lido is closed on Sundays now"),
    ("I'm with Vodafone", "Vodafone dropped me"),
    ("I have two goats", "Both goats have gone to a new home"),
    ("I use Strava", "I deleted my Strava account"),
    ("I swim at the Lido", "I cancelled my membership at the Lido"),
    ("I have a stall at the market", "I gave up my stall at the market"),
    ("I play bass in a ska band", "I quit the band in June"),
]
SUCH = [
    ("diet", "vegan", "The vegan café by the station has closed down", True),
    ("diet", "gluten free", "The baker got rid of its gluten free shelf", True),
    ("diet", "vegan", "I gave up my vegan diet", False),
    ("speaks", "Welsh", "The Welsh programme on the radio has finished", True),
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


@pytest.mark.parametrize(("relation", "way", "said", "touches"), SUCH)
def test_a_way_of_eating_that_only_says_what_a_thing_is_like(
    relation: str, way: str, said: str, touches: bool
) -> None:
    fact = _Fact(way, relation=relation)
    assert only_touches(fact, said, default_lexicon()) is touches  # type: ignore[arg-type]


@pytest.mark.parametrize(("held", "said"), TELLS)
def test_tells_of_the_thing_itself(held: str, said: str) -> None:
    fact = _Fact(held, relation="drives" if "drive" in held else "about")
    assert not only_touches(fact, said, default_lexicon())  # type: ignore[arg-type]
    assert not tells_of_another(fact, said, default_lexicon())  # type: ignore[arg-type]
