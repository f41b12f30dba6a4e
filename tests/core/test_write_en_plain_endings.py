"""What plain English words make over, in everyday slots: work, home, car, bank, health, clubs, prices, tools."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Message

BEGIN = datetime(2025, 3, 3, 9, tzinfo=UTC)


def goes_on(tmp_path: Path, encoder: Embedder, turns: Sequence[str]) -> bool:
    """Whether all that was known after the first turn is known after the last, each of a session of its own."""
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        known: list[set[str]] = []
        for n, words in enumerate(turns):
            said = Message(role="user", content=words, at=BEGIN + timedelta(days=10 * n))
            memory.observe(user_id="u", session_id=f"s{n}", messages=[said])
            known.append({f.id for f in memory.facts(user_id="u") if f.is_positive})
        assert known[0]
        return known[0] <= known[-1]


@pytest.mark.parametrize(
    ("state", "later"),
    [
        ("My phone is a Galaxy S9.", "I upgraded phones on Saturday and have a Pixel 9."),
        ("I commute by tram.", "Nowadays I cycle along the canal to work."),
        ("I work long days in intensive care.", "From this month I'm on permanent nights."),
        ("The choir I belong to rehearses in the town hall.", "Rehearsals have moved to the Masonic lodge."),
        ("My pension is 1,400 pounds a month.", "My pension comes to 1,455 now."),
        ("My laptop runs Windows.", "I formatted the laptop and put Ubuntu on it."),
        ("I'm learning Dutch.", "I got tired of Dutch and I'm doing Danish."),
        ("My mobile number is on Jio.", "We ported my number to Airtel yesterday."),
        ("I work out at Gold's Gym and have a membership there.", "I quit my gym last week."),
        ("I'm an electrician at Balfour Beatty.", "I landed a job as a lecturer at the local college."),
        ("I nurse on a children's ward.", "I got out of nursing in April."),
        ("I work as a chef.", "I took a job with the council as a planner."),
        ("I'm out of work.", "I've landed a job at the airport."),
        ("I work remotely for a startup.", "We're back in the office full-time."),
        ("I use Dropbox for my files.", "Proton Drive has replaced Dropbox for me."),
        ("I use YNAB as my budgeting app.", "Actual has taken over from my old budgeting app."),
        ("The editor I use is Emacs.", "I've moved to VS Code."),
        ("The club I play for is Redhill Athletic.", "I've signed for Crawley Green."),
        ("The car I have is an old Saab.", "I swapped my car for a Tesla."),
        ("The medicine I take is metformin.", "I've been put on gliclazide instead of metformin."),
        ("The broker I use is Degiro.", "I moved my portfolio to Trading 212."),
        ("I charge 60 euros an hour.", "I've put my rate up to 70 euros an hour."),
        ("Our twins attend Sunflower preschool.", "We pulled the twins out of Sunflower last month."),
        ("I play the oboe.", "I gave the oboe up at Christmas."),
        ("I eat meat.", "I've given meat up altogether."),
        ("I train at Fitness First.", "My gym membership has lapsed."),
        ("I'm the organiser of the pub quiz.", "I've handed the quiz over to Stella."),
        ("I run a newsletter about birds.", "I handed the newsletter on to a colleague for good."),
        ("I make soap and sell it at markets.", "I wound my soap business up."),
        ("We have a hot tub.", "We had the hot tub taken away."),
        ("I have a piano.", "I gave my piano away."),
        ("I need glasses for driving.", "I had laser eye surgery, so no more glasses."),
        ("My address is 8 Chapel Lane.", "My address is now 51 Dock Street."),
        ("My hair is short and black.", "I've had my hair bleached."),
        ("We rent a bungalow.", "We bought a house in Truro and moved in on Friday."),
        ("I go jogging before breakfast.", "I've swapped jogging for yoga."),
        ("I owe my brother 200 euros.", "I paid my brother back on Friday."),
        ("We have a direct debit to Oxfam.", "I stopped the Oxfam donation."),
        ("My daughter's ballet class is on Tuesdays.", "They've moved the ballet class to Fridays."),
        ("My desk is number D12.", "They've moved me to desk F3."),
        ("My wife works at Boots.", "She took a job with Superdrug."),
        ("We live in a rented cottage.", "We've completed on a bungalow and we're living there now."),
        ("I'm a librarian.", "I'm a beekeeper now."),
        ("My sport is squash.", "I've dropped squash for padel."),
        ("I work as a paralegal for a law firm.", "I changed careers and retrained as a paramedic."),
        ("The rent for my studio is 720 euros.", "My landlord charges more now: the rent is 785 euros."),
        ("My hair is dyed auburn.", "I had my hair redone and it's silver now."),
        ("I deliver the Herald every morning before school.", "I packed in my paper round."),
        ("I'm on the parents' council at Riverside.", "I stepped down from the parents' council in June."),
        ("Our lodger Yusuf has the upstairs bedroom.", "Yusuf has moved out, so we have no lodger."),
        ("My lodger Tobias rents the back bedroom.", "Tobias packed his bags and moved out on Saturday."),
        ("Our tenant Lena has the annexe.", "The tenant left last week."),
        ("Our band rehearses in the scout hut.", "Rehearsals have been moved for good to the pub."),
        ("I play left back for my school.", "The coach has made me the team's regular goalkeeper."),
        ("I'm allergic to kiwi.", "They tested me, and I've outgrown my only allergy."),
        ("I wear braces on my teeth.", "The orthodontist took off all the metalwork this morning!"),
        ("I go hiking with the Ramblers every other Sunday.", "My hips have put an end to hiking."),
        ("I see a therapist named Ruth every fortnight.", "Therapy has come to an end."),
        ("I've got a Saturday job at Greggs.", "I've worked my final shift this weekend."),
        ("We keep four hens in the garden.", "A fox got in last night and killed all the hens."),
        ("I drive a Vauxhall Corsa.", "The Corsa went in part exchange for a Skoda."),
        ("My trainer is called Lou.", "I train with Bea now."),
        ("My piano teacher is called Lou.", "I have lessons with Bea now."),
        ("We go to Holy Trinity.", "We've moved to St Mark's now."),
        ("I go to the Baptist church.", "I've started going to the Methodist church instead."),
        ("Dr Okafor has been our GP since the twins were born.", "Our GP is now Dr Lindqvist."),
        ("Anna Kowalska is my dentist.", "My dentist is Tom Bell now."),
        ("All my passwords are kept in LastPass.", "I've moved everything to Bitwarden as my password manager."),
        ("I have a candle stall on Bury Market.", "I wound up the business in May."),
        ("My daughter plays the violin.", "My daughter put the violin away for good."),
        ("My car is insured with Aviva.", "This year I went with Churchill for the car."),
        ("Our boiler cover is with HomeServe.", "British Gas took over the cover for our boiler."),
        ("I've got my savings in a Santander ISA.", "The entire ISA was transferred to the Coventry."),
        ("Metformin is what I take for my diabetes.", "The diabetic nurse swapped my tablets for Jardiance."),
        ("My brother Owen is going out with a nurse.", "Owen and his girlfriend aren't together any more."),
        ("My shift at the depot starts at 5 am.", "A new manager has us all clocking on at 8 am."),
        ("I work at the Copper Ladle.", "I was taken on by the Harbour Inn the following week."),
    ],
)
def test_what_is_told_makes_it_over(tmp_path: Path, encoder: Embedder, state: str, later: str) -> None:
    assert not goes_on(tmp_path, encoder, [state, later])


@pytest.mark.parametrize(
    ("state", "later"),
    [
        ("My phone is a Galaxy S9.", "I swapped phones with my sister for a joke."),
        ("I commute by tram.", "My wife cycles to work these days."),
        ("I work long days in intensive care.", "My colleague is on permanent nights."),
        ("The choir I belong to rehearses in the town hall.", "The band meets in the Masonic lodge."),
        ("My laptop runs Windows.", "I wiped the screen of the laptop."),
        ("I'm learning Dutch.", "I got tired of waiting and I'm off home."),
        ("My mobile number is on Jio.", "The invoice number was moved over to page two."),
        ("Our daughter Nora goes to Sunny Days Preschool.", "Ben next door just started kindergarten."),
        ("I'm an electrician at Balfour Beatty.", "My brother landed a job as a lecturer."),
        ("I'm an electrician at Balfour Beatty.", "I took a Saturday job at the market on the side."),
        ("I'm a nurse.", "I became a landlord last month."),
        ("I'm a nurse.", "I became an aunt."),
        ("I work as a chef.", "I left teaching years before that."),
        ("I use Dropbox for my files.", "My landlord has replaced the boiler."),
        ("I use Dropbox for my files.", "Martin has replaced Linda as chair."),
        ("I have a cat called Bo.", "Dave has taken over from Bo's vet."),
        ("I use VS Code.", "The plumber has replaced my old tap."),
        ("The dentist I see is Dr. Wu.", "The car I drive is a Saab."),
        ("The car I drive is a Saab.", "I traded my bike in."),
        ("My broker is Degiro.", "I transferred everything to the new laptop."),
        ("I charge 60 euros an hour.", "The plumber has put his rate up."),
        ("I play the oboe.", "My sister gave the flute up."),
        ("I play the oboe.", "I gave the oboe a good clean."),
        ("I train at Fitness First.", "I let my passport lapse."),
        ("I run a newsletter about birds.", "I handed the tickets over to Stella."),
        ("I run a newsletter about birds.", "I handed the phone over to Stella."),
        ("I sell candles on Etsy.", "I closed the candle stall down early for lunch."),
        ("We have a hot tub.", "We had the hedge taken away."),
        ("I have a piano.", "I gave my old books away."),
        ("My address is 8 Chapel Lane.", "The shop's address is 51 Dock Street."),
        ("My hair is short and black.", "My sister dyed her hair."),
        ("We rent a bungalow.", "My son bought a house in Truro and moved in on Friday."),
        ("I owe my brother 200 euros.", "I paid my sister back."),
        ("I owe my brother 200 euros.", "I paid the plumber."),
        ("My daughter's ballet class is on Tuesdays.", "They've moved the tap class to Fridays."),
        ("My desk is number D12.", "They've moved Paul to desk F3."),
        ("I work remotely for a startup.", "I called the office five times."),
        ("Our twins attend Sunflower preschool.", "We took the twins out for lunch."),
        ("I'm a member of the choir.", "I got a job as a baker."),
        ("I drive a taxi.", "The band I like is Muse."),
        ("I live in York.", "The address is 9 Quarry Street, can you find it?"),
        ("I use a Kindle.", "I gave the dog a bath."),
        ("We have a caravan in Skegness.", "We got rid of the awning for the caravan."),
        ("I have a gym membership.", "I've cancelled my gym class."),
        ("I go to the gym twice a week.", "I've cancelled my gym class."),
        ("I'm in sixth form doing physics and art.", "In Year 7 I used to be in a lunchtime chess club."),
        ("My rent is 650 pounds a month.", "Electricity has gone up to 90 pounds a month."),
        ("My pension is 900 pounds a month.", "My salary comes to 2,100 pounds a month."),
        ("I rent a garage on Mill Lane.", "We closed on a house last Friday."),
        ("My lodger Tobias rents the back bedroom.", "Tobias moved his car on Saturday."),
        ("My lodger Tobias rents the back bedroom.", "Carla packed her bags and moved out."),
        ("We have a gardener named Joe.", "The garden has come to an end of its best days."),
        ("We keep four hens in the garden.", "A fox got in and killed the neighbour's rabbits."),
        ("My trainer is called Lou.", "I had lunch with Bea."),
        ("We go to Holy Trinity.", "We walked past St Mark's school."),
        ("I go to the Baptist church.", "The Methodist church hall is being painted."),
        ("I'm allergic to kiwi.", "I've outgrown my old shoes."),
        ("I work as a paralegal for a law firm.", "My brother changed careers."),
        ("I have a candle stall on Bury Market.", "My cousin wound up his business in May."),
        ("My car is insured with Aviva.", "I went with Churchill for the house."),
        ("I've got my savings in a Santander ISA.", "My mortgage was moved to the Coventry."),
        ("I take metformin with breakfast.", "The doctor has put me on ramipril too, in the evenings."),
        ("My daughter plays the violin.", "My daughter put the violin away in its case."),
        ("My shift at the depot starts at 5 am.", "The shop opens at 8 am."),
        ("My brother Owen is going out with a nurse.", "My cousin and his girlfriend aren't together any more."),
        ("My nephew Joss studies law at Durham.", "Joss has swapped rooms, he's nearer the library now."),
        ("My sister Wren is a paramedic in Hull.", "Wren moved out of the shared house into a flat by the docks."),
        ("Our vet is Mill Road Animal Clinic.", "Dr Ames no longer works at Mill Road, we met the new vet there."),
        ("My cousin Bea works for the Post Office.", "Bea has left the Post Office choir."),
        ("Our surgery is the Mill Practice.", "Mr Desai has left the Mill Practice."),
        ("I sing tenor in the chorus.", "Two tenors have left the chorus."),
        ("I'm gluten free because of coeliac disease.", "The deli got rid of its gluten free shelf."),
        ("My best mate is Col.", "Col and his wife have split up."),
        ("My job application at Rolls-Royce is pending.", "My loan application was approved."),
        ("My sister's visa is being processed.", "My visa was granted."),
        ("Ticket 4471 about the printer is unassigned.", "Ticket 9902 has been closed."),
        ("My brother is in the army, he's at the depot in Catterick.", "My brother has passed his driving test."),
        ("My mother's hip referral is waiting for triage.", "The hospital accepted my aunt's referral."),
        ("Our planning application is under review.", "The neighbours' planning application was refused."),
    ],
)
def test_what_is_told_leaves_it(tmp_path: Path, encoder: Embedder, state: str, later: str) -> None:
    assert goes_on(tmp_path, encoder, [state, later])


def test_of_two_in_one_statement_the_other_goes_on(tmp_path: Path, encoder: Embedder) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder=encoder, timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="a", user="I suffer from migraine and also from hay fever.")
        memory.observe(user_id="u", session_id="b", user="The hay fever is gone completely, thank God.")
        held = [f.text for f in memory.facts(user_id="u") if f.is_positive]
    assert any("migraine" in text for text in held) and not any("hay fever" in text for text in held), held


@pytest.mark.parametrize(
    ("words", "kept"), [("I play the cello and the oboe.", True), ("Play the butler and I will be the guest.", False)]
)
def test_who_plays_two_instruments_plays_no_part(tmp_path: Path, encoder: Embedder, words: str, kept: bool) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder=encoder, timezone="UTC") as memory:
        memory.observe(user_id="u", session_id="a", user=words)
        assert bool(list(memory.facts(user_id="u"))) is kept
