"""What has one value at a time, told with another one in other words: who does it, what it costs, where."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm_core.write.known.values import values
from tests.core.test_write_en_kinds import Talk

REPLACED = [
    ("Our GP is Dr Mensah.", "We've been moved onto Dr Kowalczyk's list, she sees the whole family.", "Mensah"),
    ("My dentist is Mr Lal.", "The surgery has handed all of his patients to a Ms Ferreira.", "Lal"),
    ("Mr Okoro is my line manager.", "Since the merger I answer to a woman called Denise.", "Okoro"),
    ("Our vet is Dr Strand.", "The practice got bought out and Dr Amari looks after the dogs these days.", "Strand"),
    ("My piano teacher is Mrs Bell.", "A student called Ravi teaches me on Thursdays now.", "Bell"),
    ("The captain of our team is Leroy.", "They voted Hamid in as captain at the dinner.", "Leroy"),
    ("Our head teacher is Mrs Stone.", "Mr Adeyemi took over as head teacher after the holidays.", "Stone"),
    ("My solicitor is Mr Grant.", "A Miss Thorne has taken over my case.", "Grant"),
    ("Our gardener is old Ted.", "Ted hung up his shears and a lad called Kyle mows our lawn.", "gardener is"),
    ("My hairdresser is Paula.", "I had such a bad cut in May that Yusuf does my hair from now on.", "Paula"),
    ("Our accountant is Mr Finch.", "We asked Bright Ledger to do our books from April.", "Finch"),
    ("I cycle to work.", "They've closed the towpath, so the tram takes me to the office every day.", "cycle"),
    ("I take the bus to college.", "My uncle gave me his old Micra and I drive in every morning.", "bus"),
    ("My rent is 640 a month.", "The landlord has raised the rent to 690.", "640"),
    ("Our gas bill is 80 pounds a month.", "The supplier put our gas bill up to 95 pounds a month.", "80"),
    ("Nursery costs us 900 a month.", "From September the nursery charges 980 a month.", "900"),
    ("My yoga class is on Mondays.", "The studio has put yoga on Thursdays from this month.", "Mondays"),
    ("Choir starts at seven.", "The conductor has moved choir to half past seven.", "at seven"),
    ("The kids go to bed at eight.", "We've pushed bedtime back to half past eight for the kids.", "at eight"),
    ("I see my therapist every week.", "Fortnightly is enough, so I see my therapist every other week from here on.",
     "every week"),
    ("Our classroom is on the ground floor.", "They swapped our classroom for one on the second floor.", "ground"),
    ("I work nights at the depot.", "The depot has moved me onto days.", "work nights"),
    ("We bank with Lloyds.", "All our accounts went across to Nationwide in spring.", "Lloyds"),
    ("Our home insurance is with Aviva.", "LV insures the house since the renewal.", "Aviva"),
    ("Our broadband is with TalkTalk.", "A man from Hyperoptic came and connected us on Tuesday.", "TalkTalk"),
    ("We live in Derby.", "The boxes are unpacked and we're at home in Lincoln.", "Derby"),
    ("Grandad lives alone in his bungalow.", "Grandad was moved into a nursing home after the fall.", "bungalow"),
    ("My son goes to Oakfield Primary.", "He got a place at Riverside and started there on Monday.", "Oakfield"),
    ("We go to St Paul's church.", "Since the closure we worship at Holy Trinity.", "Paul"),
    ("Our cat eats Felix.", "The vet put the cat on a kidney diet.", "Felix"),
    ("I take 50 mg of sertraline.", "The psychiatrist raised my sertraline to 100 mg.", "50 mg"),
    ("I play in goal.", "The coach has moved me up front and it suits me.", "in goal"),
    ("My daughter wants to be a dentist.", "She has set her heart on being a pilot instead.", "dentist"),
    ("Our front door is red.", "We painted the front door green at the weekend.", "red"),
    ("I'm in group B for swimming.", "The coach moved me to group C.", "group B"),
    ("Our rabbi is Rabbi Stern.", "The congregation appointed Rabbi Levin as its rabbi in the autumn.", "Stern"),
    ("I earn 14 pounds an hour.", "They've put us all on 15.20 an hour.", "14 pounds"),
    ("The spare key is under the flowerpot.", "We've put the spare key in the shed.", "flowerpot"),
    ("I keep my stamps in the hall cupboard.", "The whole lot lives in a trunk under the bed instead.", "cupboard"),
    ("My username on the chess site is bluefin.", "I had to sign up afresh, so look for me as redfin.", "bluefin"),
    ("Our band is called Dry Dock.", "The rebrand is done: Low Tide, with a new logo and all.", "Dry Dock"),
    ("I sit next to Amir.", "The teacher rearranged us and I sit next to Jonas now.", "Amir"),
    ("I work out of our Leeds branch.", "The transfer came through and I reported for duty in York.", "Leeds"),
    ("My 10k best is 52:10.", "Ran 50:41 in Bath, a minute and a half off my best!", "52:10"),
    ("I'm a bus driver.", "I've retrained and become a tram driver.", "bus driver"),
    ("I sleep on a firm mattress.", "My wife talked me into a water bed.", "firm"),
]  # fmt: skip
STAYS = [
    ("Our GP is Dr Mensah.", "Dr Kowalczyk is my sister's GP and she thinks the world of him.", "Mensah"),
    ("Our GP is Dr Mensah.", "Dr Mensah has a new receptionist called Bridget.", "Mensah"),
    ("Our GP is Dr Mensah.", "Dr Patel looked after me when Dr Mensah was on holiday.", "Mensah"),
    ("My dentist is Mr Lal.", "My husband has a new dentist, Ms Ferreira.", "Lal"),
    ("Mr Okoro is my line manager.", "Denise from accounts has a new manager called Gareth.", "Okoro"),
    ("My piano teacher is Mrs Bell.", "I've started guitar too, Ravi teaches me guitar now.", "Bell"),
    ("The captain of our team is Leroy.", "The other team's captain is called Hamid.", "Leroy"),
    ("My solicitor is Mr Grant.", "Miss Thorne has taken over my neighbour's case.", "solicitor"),
    ("My hairdresser is Paula.", "Yusuf does my daughter's hair now.", "Paula"),
    ("I cycle to work.", "I got a bus to work this morning because of the rain.", "cycle"),
    ("I cycle to work.", "My wife drives to work these days.", "cycle"),
    ("My rent is 640 a month.", "My sister's rent has gone up to 690.", "640"),
    ("My rent is 640 a month.", "The council tax has gone up to 150 a month.", "640"),
    ("My gym costs 25 euros a month.", "The personal trainer at the gym charges 40 euros an hour now.", "25"),
    ("My yoga class is on Mondays.", "I've added a second yoga class on Thursdays.", "Mondays"),
    ("My yoga class is on Mondays.", "This week's yoga was moved to Wednesday because of the holiday.", "Mondays"),
    ("I get up at six.", "My husband gets up at half past four now.", "at six"),
    ("My desk is on the third floor.", "The canteen has moved to the sixth floor.", "third"),
    ("I see my therapist every week.", "My therapist has a cat that sees the vet every month now.", "therapist"),
    ("We bank with Lloyds.", "My parents moved everything over to Nationwide.", "Lloyds"),
    ("We live in Derby.", "We spent the weekend at home in Lincoln with my in-laws.", "Derby"),
    ("My son goes to Oakfield Primary.", "My daughter has started at Riverside.", "Oakfield"),
    ("Our cat eats Felix.", "The vet put the dog on a kidney diet.", "Felix"),
    ("I take sertraline.", "The doctor has put my mum on fluoxetine.", "sertraline"),
    ("My son plays the trumpet.", "He has taken up the drums as well.", "trumpet"),
    ("Our front door is red.", "The neighbours painted their front door green.", "red"),
    ("Our front door is red.", "We painted the back door green at the weekend.", "red"),
    ("My phone contract is with EE.", "I joined Slimming World last week.", "EE"),
    ("I keep my medicines in the bathroom cabinet.", "I've put the towels in the airing cupboard now.", "cabinet"),
    ("The spare key is under the flowerpot.", "We've put the garden chairs in the shed.", "flowerpot"),
    ("I earn 14 pounds an hour.", "My sister gets 15.20 an hour now.", "14 pounds"),
    ("My therapist is Anna.", "I was referred to a surgeon called Mr Blake for my knee.", "Anna"),
    ("I'm a bus driver.", "My brother has retrained and become a tram driver.", "bus driver"),
    ("I sleep on a firm mattress.", "We bought a new bed for the guest room.", "firm mattress"),
    ("Our company is called Bright & Daughter.", "Our main customer was renamed Solvex.", "Bright"),
    ("My username is bluefin.", "My friend changed his username to redfin.", "bluefin"),
    ("The wifi password is rainbow77.", "I changed the alarm code to 4812.", "rainbow77"),
]  # fmt: skip


def current(tmp_path: Path, before: str, words: str) -> list[str]:
    talk = Talk(tmp_path / "store", embedder="")
    held = list(talk.say(before, words).current())
    talk.memory.close()
    return held


@pytest.mark.parametrize(("before", "words", "gone"), REPLACED)
def test_another_value_takes_the_place(tmp_path: Path, before: str, words: str, gone: str) -> None:
    held = current(tmp_path, before, words)
    assert not any(gone in h for h in held), held


@pytest.mark.parametrize(("before", "words", "stays"), STAYS)
def test_what_is_told_of_another_leaves_it(tmp_path: Path, before: str, words: str, stays: str) -> None:
    held = current(tmp_path, before, words)
    assert any(stays in h for h in held), held


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("at half past seven", "time", {"7:30"}),
        ("from ten thirty on", "time", {"10:30"}),
        ("a quarter to nine", "time", {"8:45"}),
        ("the 8:05 bus", "time", {"8:05"}),
        ("from three to half past six", "time", {"3:00", "6:30"}),
        ("a hundred and five each Friday", "amount", {"105"}),
        ("up to five thousand", "amount", {"5000"}),
        ("£1,250 since 2024", "amount", {"1250"}),
        ("at nine o'clock", "amount", set()),
        ("every other week", "often", {"fortnight"}),
        ("I cycle there", "mode", {"bike"}),
    ],
)
def test_values_in_one_form(text: str, kind: str, told: set[str]) -> None:
    assert values(text, kind) == told


@pytest.mark.parametrize(
    ("turns", "holds", "gone"),
    [
        (["My hair is dyed copper.", "I've had it all done platinum.",
          "The hairdresser turned my hair copper again yesterday."], "copper", "platinum"),
        (["I vote in the Weston ward.", "Because of the boundary review I belong to the Eastfield ward.",
          "The review was overturned, which puts me in the Weston ward again."], "Weston", "Eastfield"),
    ],
)  # fmt: skip
def test_what_was_so_before_is_so_again(tmp_path: Path, turns: list[str], holds: str, gone: str) -> None:
    talk = Talk(tmp_path / "store", embedder="")
    held = list(talk.say(*turns).current())
    talk.memory.close()
    assert any(holds in h for h in held), held
    assert not any(gone in h for h in held), held
