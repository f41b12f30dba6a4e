"""English requests in the chat: to erase one thing, or not to bring it up again, in whatever words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.lexicon import default_lexicon
from ltm_core.types import Observation
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Analysis, Utterance

NOW = datetime(2026, 6, 17, 10, tzinfo=UTC)
LEXICON = default_lexicon()


def heard(words: str) -> Analysis:
    said = Utterance(message_id="m", role="user", content=words, at=NOW)
    return analyse(said, lexicon=LEXICON, fact_threshold=0.6)


class Kept:
    """A user's memory; every turn is a session of its own, nine days after the one before."""

    def __init__(self, path: Path) -> None:
        self.now = NOW
        self.memory = LongTermMemory.open(path, embedder="none", timezone="UTC", clock=lambda: self.now)

    def say(self, *turns: str) -> list[Observation]:
        seen = []
        for text in turns:
            self.now += timedelta(days=9)
            seen.append(self.memory.observe(user_id="u", session_id=str(self.now), user=text))
        return seen

    def current(self) -> set[str]:
        return {f.text for f in self.memory.facts(user_id="u")}

    def kept(self) -> set[str]:
        return {f.text for f in self.memory.facts(user_id="u", include_superseded=True)}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    made = Kept(tmp_path / "store")
    yield made
    made.memory.close()


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("Please get rid of everything you've stored about my back pain.", "back pain"),
        ("Could you scrub what I mentioned about the lawsuit?", "lawsuit"),
        ("I'd prefer it if you didn't hold on to my blood type.", "blood type"),
        ("I'd rather you forgot about my crush.", "crush"),
        ("Would you mind deleting the bit about my gambling?", "gambling"),
        ("Strike my nickname from your records.", "nickname"),
        ("Take my shoe size out of your notes, please.", "shoe size"),
        ("You no longer need to remember my Wi-Fi password.", "Wi-Fi password"),
        ("There's no need to keep my hat size.", "hat size"),
        ("Pretend I never told you about the affair.", "affair"),
        ("Act as if I had never mentioned my stammer.", "stammer"),
        ("Let's pretend I never told you that I failed my driving test.", "I failed my driving test"),
        ("My date of birth should be deleted.", "date of birth"),
        ("I want my passport number gone from your notes.", "passport number"),
        ("I'd like my email address deleted from what you know about me.", "email address"),
        ("Can you please remove my mother's maiden name from your memory?", "mother's maiden name"),
        ("About my eczema: please delete that.", "eczema"),
        ("My PIN, please forget it.", "PIN"),
        ("I told you about my sister's affair. Please erase that.", "sister's affair"),
        ("You still have my mate's number. Delete it.", "mate's number"),
        ("What I said about Priya? Forget it.", "Priya"),
        ("Leave my criminal record out of your memory.", "criminal record"),
        ("I don't want my diagnosis stored.", "diagnosis"),
        ("I don't want any record of my visa status kept.", "visa status"),
        ("Please lose the note about my ex.", "ex"),
        ("Make my weight disappear from your records.", "weight"),
        ("Throw out anything you have regarding my finances.", "finances"),
        ("On reflection, wipe whatever you hold about my faith.", "faith"),
        ("Kindly clear the entry concerning my knee.", "knee"),
        ("I don't want you to store anything on my arthritis, so remove it.", "arthritis"),
        ("Could you forget that my uncle is a croupier?", "my uncle is a croupier"),
        ("Discard my blood group, please.", "blood group"),
        ("Can you get rid of the combination of my bike lock?", "combination of my bike lock"),
        ("Could the penalty points be removed from your notes?", "penalty points"),
        ("Let my bonus be forgotten.", "bonus"),
        ("Would you be so kind as to forget my scar?", "scar"),
        ("Please make a point of forgetting my psychologist.", "psychologist"),
        ("I wish to withdraw my weight from your records.", "weight"),
        ("Erm, would you mind unlearning the door code?", "door code"),
        ("Never store my hat size any longer.", "hat size"),
        ("Scratch the bit about Ivo, I don't want it kept.", "Ivo"),
        ("You may forget the choir, but keep the rest.", "choir"),
        ("What I said about Otto was unkind; please forget it.", "Otto"),
        ("I don't feel comfortable with you having my income. Delete it.", "income"),
        ("He'd hate it if you knew about the stammer, so please forget it.", "stammer"),
        ("Ivo would rather you didn't know about his gout, so please delete that.", "his gout"),
        ("I'm not supposed to share the alarm code. Please erase it.", "alarm code"),
        ("Nobody should know about the bankruptcy yet. Wipe that, please.", "bankruptcy"),
        ("She wouldn't want her illness stored, so remove it from your notes.", "her illness"),
        ("Don't keep my politics on file: forget that I vote Labour.", "politics"),
    ],
)  # fmt: skip
def test_wishes_to_have_something_erased(words: str, target: str) -> None:
    seen = heard(words)
    assert {(r.mode, r.target) for r in seen.requests} == {("erase", target.removeprefix("my "))}
    assert (seen.candidates, seen.anchors) == ((), ())


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("Never mention my stammer again.", "stammer"),
        ("Quit going on about my bald patch.", "bald patch"),
        ("Can we never talk about the accident again, please?", "accident"),
        ("I'd be grateful if you stopped bringing up my mother-in-law.", "mother-in-law"),
        ("My miscarriage is off the table, okay?", "miscarriage"),
        ("My childhood is not up for discussion.", "childhood"),
        ("Please steer clear of the topic of my father.", "father"),
        ("Let's not talk about the eviction any more.", "eviction"),
        ("No more questions about my marriage, please.", "marriage"),
        ("No more football talk, please.", "football"),
        ("Not another word about the promotion.", "promotion"),
        ("Consider my love life off limits.", "love life"),
        ("I don't want to be reminded of the wedding.", "wedding"),
        ("I no longer wish to hear about the marathon.", "marathon"),
        ("My ex-wife's name must never come up again.", "ex-wife's name"),
        ("I'd prefer my height not to be mentioned.", "height"),
        ("After that row I don't want to see the flat come up in our chats again.", "flat"),
        ("Drop the topic of university.", "university"),
        ("Leave the visa topic alone from now on.", "visa"),
        ("Keep quiet about my surgery in future.", "surgery"),
        ("Let the redundancy rest, please.", "redundancy"),
        ("The car crash upsets me. Don't mention it again.", "car crash"),
        ("You keep bringing up my exam results. Please stop mentioning them.", "exam results"),
        ("You keep asking about my shoulder. Please drop that subject for good.", "shoulder"),
        ("It still hurts, so please don't bring up my dog's death.", "dog's death"),
        ("My stammer is a touchy subject, so leave it alone.", "stammer"),
        ("The rewrite stresses me out, so quit reminding me of it.", "rewrite"),
        ("I'm sick of hearing about the election. Don't mention it any more.", "election"),
        ("Please avoid any mention of my brother.", "brother"),
        ("I don't want the audition brought up any more.", "audition"),
        ("No, and don't raise my debts any more.", "debts"),
        ("Hush about my age from now on, would you?", "age"),
        ("The subject of Odile is closed, stop raising it with me.", "Odile"),
        ("Odile is a subject I don't want raised any more.", "Odile"),
        ("My weight isn't something I want to discuss.", "weight"),
        ("I'd be grateful if my father never came up in our conversations again.", "father"),
        ("Give the eviction a rest, please.", "eviction"),
        ("Steer conversations away from my uncle, please.", "uncle"),
        ("Could we please avoid Wendy as a topic?", "Wendy"),
        ("I won't have my lisp mentioned again.", "lisp"),
        ("I beg you not to mention the regatta any more.", "regatta"),
        ("Leave the redundancy out of all our chats from here on.", "redundancy"),
        ("You keep going on about my nose. Please stop doing that.", "nose"),
        ("I'm done with Danilo as a topic: not another word about him, please.", "Danilo"),
    ],
)  # fmt: skip
def test_wishes_not_to_be_reminded(words: str, target: str) -> None:
    seen = heard(words)
    assert {(r.mode, r.target) for r in seen.requests} == {("suppress", target)}
    assert (seen.candidates, seen.anchors) == ((), ())


@pytest.mark.parametrize(
    "words",
    [
        "Delete my account.",
        "How do I delete my birthday from Facebook?",
        "Did you forget my name?",
        "Can you forget things?",
        "I never talk about my job.",
        "I never mention my salary to anyone.",
        "My therapist told me to stop talking about my ex.",
        "She asked me never to mention her diet again.",
        "Don't mention my pregnancy to my boss.",
        "In the cover letter, don't mention my divorce.",
        "When you write the toast, don't bring up his first wife.",
        "Don't talk about politics right now.",
        "Sugar is off limits for my son.",
        "The garden shed is off limits to the kids.",
        "I forgot my keys.",
        "I'll never forget my first car.",
        "I want my tattoo removed.",
        "I'd like to have my wisdom teeth removed.",
        "I deleted my Instagram account.",
        "I want to forget my ex.",
        "I need to get rid of my sofa.",
        "I don't want to keep my car.",
        "I'm sick of hearing about the election.",
        "Don't raise my rent.",
        "Drop me a line.",
        "Take my coat off the hook.",
        "Take my name off the mailing list.",
        "Keep the milk out of the sun.",
        "Leave me alone.",
        "My salary must be paid by Friday.",
        "If I ever move, forget my address.",
        "If I die, I'd like my data deleted.",
        "Pretend you are my mother. Delete my address.",
        "Enough about me, how are you?",
        "Get rid of my red dress.",
        "Can the branch be deleted?",
        "Could my bike be fixed?",
        "Give the boat a wash.",
        "The discussion about the rent is over.",
        "My dog is sore. Don't do that again.",
        "I'd rather you didn't forget his gout.",
        "She doesn't want me to know about the party. Forget it.",
        "If he asks, I'd rather you forgot my name.",
        "Throw away the story about the dragon and write a new one.",
        "Could you delete everything and start over?",
        "Nobody needs my weight on the form, so lose the form.",
        "It was funny of me to say that Gladys is a hoarder.",
        "If I moved to Rome, mum would be cross, so forget the bit about Rome.",
        "Pretend I never met Elliot and write a poem.",
    ],
)
def test_what_asks_for_neither(words: str) -> None:
    assert heard(words).requests == ()


@pytest.mark.parametrize(
    ("told", "request_", "gone", "stays"),
    [
        (["My ex-husband Leo lives in Cork.", "My husband Tom bakes bread."],
         "Would you delete what I told you about my ex-husband?", "Leo", "Tom"),
        (["My husband Tom bakes bread.", "My ex-husband Leo lives in Cork."],
         "Forget what I told you about my husband.", "Tom", "Leo"),
        (["My brother Dale is in rehab.", "My brother Owen is a welder."],
         "Wipe whatever you hold about Dale.", "Dale", "Owen"),
        (["I earn £38,500 a year.", "My brother earns 30k."], "Take my salary out of your memory.", "38,500", "30k"),
        (["I filed for bankruptcy in 2019.", "I have a stall at the market."],
         "Delete everything about the bankruptcy.", "bankrupt", "stall"),
        (["I had a hip replacement.", "I play the harp."],
         "Kindly clear the note regarding my hip.", "hip", "harp"),
        (["Our staging server is called bluebird.", "Our production server is called condor."],
         "Delete the name of the staging server from your memory.", "bluebird", "condor"),
        (["My boss is called Ed Rowe.", "I have a boat called Swift."],
         "I'd rather you forgot my boss's name.", "Ed", "Swift"),
        (["I'm scared of heights.", "I'm scared of dogs."],
         "Please erase what I said about my fear of heights.", "heights", "dogs"),
        (["I have asthma.", "My mother has arthritis."],
         "Delete what you know about my health.", "asthma", "arthritis"),
        (["I take Lexapro for anxiety.", "I do yoga on Mondays."],
         "You can forget about my medication.", "Lexapro", "yoga"),
        (["I've applied for a post at Siemens.", "I have two cats."],
         "Please erase my application to Siemens.", "Siemens", "cats"),
        (["I'm a paid-up member of the Socialist Party.", "I'm a member of the angling club."],
         "Remove my party membership.", "Socialist", "angling"),
        (["I owe my brother 900 euros.", "My brother is a welder."],
         "Forget that I owe my brother money.", "900", "welder"),
        (["I was born in Gdansk.", "I live in Sopot."], "Please remove my birthplace.", "Gdansk", "Sopot"),
        (["I wear a size 18.", "I take size 6 shoes."], "Delete my dress size.", "18", "shoes"),
        (["My sister Ana is pregnant.", "My cousin Lena sings."],
         "Nobody else should know about the pregnancy, so delete it.", "pregnant", "sings"),
        (["My mother has Parkinson's.", "My mother lives in Ludlow."],
         "She wouldn't want her illness stored, so remove it from your notes.", "Parkinson", "Ludlow"),
        (["I'm three months behind with the rent.", "I'm learning Welsh."],
         "I'd rather you lost the information that I'm in arrears.", "rent", "Welsh"),
    ],
)  # fmt: skip
def test_what_is_erased_and_what_stays(kept: Kept, told: list[str], request_: str, gone: str, stays: str) -> None:
    kept.say(*told)
    before = kept.kept()
    assert any(gone in t for t in before) and any(stays in t for t in before)
    kept.say(request_)
    assert not any(gone in t for t in kept.kept())
    assert any(stays in t for t in kept.current()) and len(kept.current()) == len(before) - 1


@pytest.mark.parametrize(
    ("told", "request_", "gone"),
    [
        (["I filed for bankruptcy in 2019.", "I have a stall at the market."],
         "I no longer wish to hear about the bankruptcy.", "bankrupt"),
        (["I'm scared of flying.", "I speak Swahili."], "Don't raise my fear of flying any more.", "flying"),
        (["I support Leeds United.", "I live in Leeds."], "I never want to hear about football again.", "United"),
        (["My mother has dementia.", "My mother plays bridge."],
         "Leave my mother's illness out of our talks.", "dementia"),
        (["I owe the taxman 4,000 pounds.", "I live in Hull."], "Give the tax debt a rest, please.", "4,000"),
        (["I'm turning eighty in November.", "I live in Hull."], "Shush about my eightieth from now on.", "eighty"),
        (["My stepson Jordan is in prison.", "My stepson Luke is a baker."],
         "Never refer to Jordan's prison sentence again.", "prison"),
        (["I own some Dogecoin.", "I own a kayak."], "Never raise the topic of crypto with me again.", "Dogecoin"),
        (["I have a spaniel called Rex.", "I have a boat."], "Never mention the dog again.", "spaniel"),
        (["I weigh 104 kilos.", "I am 62 years old."], "My weight is off limits from here on.", "104"),
        (["I failed the bar exam in May.", "I work at a bar."], "Don't bring up my exam results again.", "failed"),
    ],
)  # fmt: skip
def test_a_topic_is_hidden_whatever_it_is_called(kept: Kept, told: list[str], request_: str, gone: str) -> None:
    kept.say(*told)
    assert any(gone in t for t in kept.current())
    *_, seen = kept.say(request_)
    assert seen.anchors == ()
    assert not any(gone in t for t in kept.current()) and len(kept.current()) == len(told) - 1
    assert any(gone in t for t in kept.kept())


def test_keeping_quiet_is_no_fact_of_its_own(kept: Kept) -> None:
    kept.say("I'm wearing hearing aids these days.", "I do shift work at a paper mill.")
    *_, seen = kept.say("The hearing aids are a sore subject; keep quiet about them in future.")
    assert seen.anchors == () and kept.current() == {"I do shift work at a paper mill"}


@pytest.mark.parametrize(
    ("told", "request_"),
    [
        (["My birthday is 9 August.", "I have 3 cats."], "Forget the date."),
        (["My PIN is 1234.", "I weigh 104 kilos."], "Forget the number."),
        (["My dog is called Rex.", "My boss is called Ed."], "Forget my name."),
        (["My brother is a vet.", "My sister has a van."], "Forget my sister's job."),
        (["I play on a tennis court.", "I work in a legal office."], "Forget the lawsuit."),
        (["My mother has cancer.", "I have a boat."], "Forget my diagnosis."),
        (["I was born in Galway.", "I have 3 cats."], "Delete my birthday."),
        (["I'm a speech therapist.", "I live on Church Street."], "Erase everything about my religion."),
        (["I run a crane at the docks.", "I work late shifts."], "Forget my operation."),
        (["My sister Ana is pregnant.", "I live in Hull."], "Forget my pregnancy."),
        (["My sister Ana is pregnant.", "My cousin Lena is pregnant."], "Forget the pregnancy."),
        (["I wear size 10 shoes.", "I sing in a choir."], "Forget my dress size."),
        (["My dog is called Rex.", "I live in Hull."], "Forget my username."),
        (["I have a speeding fine.", "I live in Hull."], "Forget the opera tickets."),
    ],
)
def test_what_is_only_near_the_words_is_not_erased(kept: Kept, told: list[str], request_: str) -> None:
    kept.say(*told)
    before = kept.kept()
    assert len(before) == len(told)
    kept.say(request_)
    assert kept.kept() == before


@pytest.mark.parametrize(
    ("told", "request_", "gone"),
    [
        (["My sister Tilda is pregnant.", "My sister Greta is a vet."],
         "It's a secret that Tilda is pregnant, so erase it.", "Tilda"),
        (["My doctor is Dr Mensah.", "My dentist is Dr Quist."],
         "Remove my doctor's name from the things you know.", "Mensah"),
        (["My therapist is Ingrid.", "I live in Hull."],
         "I'd be happier if you didn't know about my therapist.", "Ingrid"),
        (["My partner Noor has MS.", "I live in Hull."], "Please erase Noor's illness from memory.", "Noor"),
        (["Our wedding is on 9 August.", "Our venue is a barn."], "Forget the date of the wedding.", "August"),
        (["My office is in York.", "I live in Hull."], "Take the location of my office out of your notes.", "York"),
        (["I take the 47 bus.", "I live in Hull."], "Forget which bus I take.", "47"),
        (["My ex Callum lives in Perth.", "I live in Hull."],
         "I'm over Callum. Never bring his name up again.", "Callum"),
        (["I support Aston Villa.", "I live in Hull."], "Spare me any talk of Villa from now on.", "Villa"),
        (["I lost my job at the brewery.", "I live in Hull."], "Can we not talk about me losing my job?", "brewery"),
        (["I have a peanut allergy.", "I live in Hull."],
         "You don't need my allergy on record any longer, take it off.", "peanut"),
        (["My blood pressure is 150 over 95.", "I live in Hull."],
         "Would you remove my blood pressure reading?", "150"),
        (["My childhood nickname was Piglet.", "I live in Hull."],
         "Delete that nickname, it's embarrassing.", "Piglet"),
        (["I got a D in maths.", "I live in Hull."],
         "My maths grade is something I never want to hear about again.", "maths"),
        (["I've been single for six years.", "I live in Hull."], "Quit reminding me that I'm single.", "single"),
        (["I have some debts.", "I live in Hull."], "No longer keep anything about my debts.", "debts"),
        (["My landlord is called Vincent.", "I live in Hull."],
         "Would you erase anything to do with Vincent?", "Vincent"),
        (["I'm a Virgo.", "I live in Hull."], "There's no need to know my zodiac sign, delete it.", "Virgo"),
        (["My PIN hint is the year 1966.", "I live in Hull."],
         "Wipe the PIN hint, that was careless of me.", "1966"),
        (["My neighbour Tony is a drunk.", "I live in Hull."],
         "It was mean of me to say that Tony is a drunk, please delete that.", "drunk"),
        (["I'm a lapsed Catholic.", "I live in Hull."],
         "Take my religion out of what you know about me, would you?", "Catholic"),
        (["I have a crush on Elliot.", "I live in Hull."],
         "Oh no, pretend I never said that about Elliot, forget it!", "Elliot"),
        (["My nickname is Beanpole.", "I live in Hull."],
         "The nickname Beanpole should be deleted, it makes me cringe.", "Beanpole"),
        (["My weight is 96 kilos.", "I live in Hull."], "Nobody needs my weight written down, so lose it.", "96"),
        (["My mum is an alcoholic.", "I live in Hull."],
         "Telling you that my mum is an alcoholic was disloyal; take it back out.", "alcoholic"),
        (["I have a tattoo of a swan.", "I live in Hull."], "Can you wipe what you've got about the tattoo?", "swan"),
        (["My daughter Lena failed her exam.", "I live in Hull."],
         "Lena would be furious, so remove the part about her exam.", "failed"),
    ],
)  # fmt: skip
def test_what_is_meant_by_other_words(kept: Kept, told: list[str], request_: str, gone: str) -> None:
    kept.say(*told)
    *_, seen = kept.say(request_)
    assert seen.anchors == ()
    assert not any(gone in t for t in kept.current()) and len(kept.current()) == 1


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("My landlord is a Mr Pettigrew.", "Mr Pettigrew"),
        ("Our midwife is a Mrs Okoro.", "Mrs Okoro"),
        ("I'm going through a messy divorce.", "a messy divorce"),
        ("I'm on your rewards program.", "your rewards program"),
        ("We're part of the Harrods loyalty scheme.", "the Harrods loyalty scheme"),
    ],
)
def test_what_may_be_asked_to_be_forgotten_is_known_first(words: str, value: str) -> None:
    assert value in [c.object for c in heard(words).candidates]


@pytest.mark.parametrize("words", ["I'm going through a tunnel.", "I'm on the bus.", "My landlord is a Scot."])
def test_what_only_looks_like_it(words: str) -> None:
    told = {c.relation for c in heard(words).candidates}
    assert told.isdisjoint({"membership", "marital_status", "single:landlord"})
