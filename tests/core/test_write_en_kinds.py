"""English by kinds of sentence: what becomes a fact, what ends one, and what stays mere words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Analysis, Turn, Utterance

NOW = datetime(2026, 6, 17, 10, tzinfo=UTC)
LEXICON = default_lexicon()


def heard(*turns: str) -> Analysis:
    """The analysis of the last turn; "A: …" is the assistant's."""
    said = [Turn(id=f"m{i}", role="assistant" if t.startswith("A: ") else "user", content=t.removeprefix("A: "))
            for i, t in enumerate(turns)]  # fmt: skip
    last = Utterance(message_id="last", role="user", content=turns[-1], at=NOW, before=tuple(said[:-1]))
    return analyse(last, lexicon=LEXICON, fact_threshold=0.6)


def facts(*turns: str) -> list[tuple[str, str, str, bool]]:
    return [(c.subject, c.relation, c.object, c.is_positive) for c in heard(*turns).candidates]


class Talk:
    """A user's memory, a day between two things said."""

    def __init__(self, path: Path, embedder: str = "none") -> None:
        self.now = NOW
        self.memory = LongTermMemory.open(path, embedder=embedder or None, timezone="UTC", clock=lambda: self.now)

    def say(self, *words: str, session: str = "s") -> Talk:
        for text in words:
            self.now += timedelta(days=1)
            self.memory.observe(user_id="u", session_id=session, user=text)
        return self

    def answer(self, text: str) -> Talk:
        self.memory.observe(user_id="u", session_id="s", assistant=text)
        return self

    def current(self, subject: str | None = None) -> set[str]:
        rows = self.memory.facts(user_id="u", subject=subject)
        return {f"{f.relation} {f.object}" for f in rows if f.is_positive}


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    made = Talk(tmp_path / "store")
    yield made
    made.memory.close()


@pytest.mark.parametrize(
    "words",
    [
        "I'm so proud of us", "I trust your judgement", "I'm right behind you", "We haven't spoken in ages",
        "I'm keeping my head up", "I'm now snowed under with reviews", "We're soaring!", "I've been out of sorts",
        "my printer jams every few pages", "The line here is endless", "I'm getting timeouts",
        "Never stop dreaming", "always makes us laugh", "Always around to back you up", "Never mind then",
        "You always lift me up", "Keep it up", "Always trust your gut", "Don't ever change",
        "Everybody calls me that", "Don't tell my husband about the gift", "Never forget how strong you are",
        "Mia told me that she lives in Lima", "Leo mentioned I should live in Oslo",
        "I heard rents rise in Turin",
        "According to Tim, I am allergic to cats", "The wiki says 'I live in Turin'",
        "The page claims 'I have two kids and I work at Shell'",
        "My neighbour is a juggler, works at weddings", "Our CEO is a runner, lives in Zug",
        "My colleague Rita said the invoice INV-7731 was wrong", "my friend's order number is ORD-4410",
        "That ticket for my coworker is INC-5521", "Priya's order is ORD-7782",
        # what does not come out as it should
        "My soda bread keeps coming out dry.", "Our printer prints everything twice.",
        # what would be
        "In an ideal world we'd have four dogs and no neighbours.", "With a bigger garden I'd grow pumpkins.",
        "Should it ever happen that I win the pools, I would give half to the hospice.",
        "Money no object, I would retire to Madeira.", "In another life I'd keep bees and never own a phone.",
        "For argument's sake, I own three flats.", "Theoretically, my son is left-handed.",
        "Should my wife ever come into money, she would open a bakery.", "A villa in Tuscany would suit me.",
        "I daydream about running a vineyard.", "Were we to adopt, we'd have two girls.",
        # what is only quoted
        'The refrain goes "I left my home in Ohio, and I\'m never going back."',
        'The mug says "I\'m the best grandad in Wales."', '"I work for the king," says the messenger.',
        'The template starts "I am a customer of your bank and live in Poole."',
    ],
)  # fmt: skip
def test_is_no_fact(words: str) -> None:
    assert facts(words) == []


@pytest.mark.parametrize(
    "words",
    [
        "I'd spent ten years in Oslo before I moved to Bergen.", "With a new knee I walk five miles a day.",
        "I used to fantasise about farming and now I own four acres.",
        "Everyone calls my boat \"Wanderer\", and I live on it.",
        "I have had planning permission for the barn since May.", "In my world of model trains I go by Stoker.",
    ],
)  # fmt: skip
def test_what_only_sounds_like_a_wish_or_a_quotation_is_a_fact(tmp_path: Path, words: str) -> None:
    talk = Talk(tmp_path / "store", embedder="")
    held = talk.say(words).current()
    talk.memory.close()
    assert held


@pytest.mark.parametrize(
    ("words", "object"),
    [
        ("Always show me distances in miles", "Always show me distances in miles"),
        ("Please don't use bullet points in your replies", "Please don't use bullet points in your replies"),
        ("Stop apologising so often", "Stop apologising so often"),
    ],
)
def test_orders_to_the_assistant(words: str, object: str) -> None:
    assert [(s, o) for s, _, o, _ in facts(words)] == [("assistant", object)]


def test_no_calling_is_no_name() -> None:
    assert not any(r == "calls_user" for _, r, _, _ in facts("Stop calling me on weekends"))
    assert facts("Stop calling me Bobby")[0][1:] == ("calls_user", "Bobby", False)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("Always give me distances in miles.", "Always give me distances in kilometres from now on."),
        ("Always use British spelling.", "Always use American spelling from now on, please."),
    ],
)
def test_a_new_order_replaces_its_contrary(talk: Talk, first: str, then: str) -> None:
    talk.say("Always cite your sources.", first, then)
    held = " / ".join(talk.current("assistant"))
    assert "sources" in held and then.split(" from now")[0] in held and first.rstrip(".") not in held


@pytest.mark.parametrize(
    ("before", "words", "gone", "stays"),
    [
        ("I work at Tesco.", "I left Tesco in May.", "Tesco", ""),
        ("I work at Tesco.", "I got sacked from Tesco.", "Tesco", ""),
        ("I work at Tesco.", "I quit Tesco.", "Tesco", ""),
        ("I live in Hull.", "I left Hull, I'm in Bath these days.", "Hull", "lives_in Bath"),
        ("I'm a baker.", "I quit baking and became a nurse.", "baker", "occupation a nurse"),
        ("I play squash.", "I gave up squash and took up rowing.", "squash", "hobby rowing"),
        ("I use Trello.", "I ditched Trello and switched to Linear.", "Trello", "uses Linear"),
        ("I take warfarin every evening.", "I've come off warfarin for good.", "warfarin", ""),
        ("I love cod. I love fried squid. I love tea.", "I've gone off all seafood.", "cod", "likes tea"),
        ("I love shiraz. I love ginger tea.", "I don't drink alcohol anymore.", "shiraz", "likes ginger tea"),
        ("I'm vegetarian.", "I've gone fully vegan.", "vegetarian", "diet vegan"),
        ("I'm afraid of heights.", "I'm over my fear of heights.", "heights", ""),
        ("I'm afraid of spiders.", "I'm no longer scared of spiders.", "spiders", ""),
        ("I own a scooter.", "I sold my scooter.", "scooter", ""),
        ("I take loratadine.", "My doctor took me off loratadine.", "loratadine", ""),
    ],
)  # fmt: skip
def test_endings_close(talk: Talk, before: str, words: str, gone: str, stays: str) -> None:
    talk.say(before, words)
    held = talk.current("user")
    assert not any(gone in h for h in held)
    assert not stays or stays in held


def test_relatives_keep_their_subject(talk: Talk) -> None:
    talk.say("My brother Owen lives in Derby.", "Owen moved to Exeter.")
    assert talk.current("brother:Owen") == {"lives_in Exeter"}
    talk.say("My uncle lives in Crete.", "My uncle passed away last week.")
    assert talk.current("uncle") == {"died passed away"}


def test_a_promotion_keeps_the_employer(talk: Talk) -> None:
    talk.say("I work at Nimbus.", "I got promoted to team lead.")
    assert talk.current("user") == {"works_at Nimbus", "occupation team lead"}


@pytest.mark.parametrize(
    ("before", "words", "held"),
    [
        ("I live in Hull.", "Actually I meant Halifax.", "lives_in Halifax"),
        ("I work at Lloyds.", "Sorry, I meant Barclays.", "works_at Barclays"),
        ("My birthday is June 3.", "Correction: it's June 4, not June 3.", "birthday June 4"),
        ("My birthday is May 14.", "May 15, not May 14.", "birthday May 15"),
        ("I work at Mercy Hospital.", "I'm at Mercy West, not Mercy Hospital.", "works_at Mercy West"),
        ("I'm allergic to almonds.", "Actually, it's cashews, not almonds.", "allergic_to cashews"),
    ],
)
def test_corrections_take_their_place(talk: Talk, before: str, words: str, held: str) -> None:
    talk.say(before, words)
    assert talk.current("user") == {held}
    assert any(f.retracted_at for f in talk.memory.facts(user_id="u", include_superseded=True))


@pytest.mark.parametrize("words", ["It's raining, not snowing", "I meant the blue one", "It's nice here"])
def test_what_corrects_nothing_changes_nothing(talk: Talk, words: str) -> None:
    assert talk.say("I live in Hull.", words).current("user") == {"lives_in Hull"}


def test_a_delivery_has_one_status(talk: Talk) -> None:
    talk.say("Order MB-7719 is delayed.", "Order MB-7720 is delayed.", "Order MB-7719 arrived today.")
    assert talk.current("order:MB-7719") == {"status arrived"}
    assert talk.current("order:MB-7720") == {"status delayed"}
    assert talk.current("user") == {"order MB-7719", "order MB-7720"}


@pytest.mark.parametrize("refusal", ["no, still slow", "that didn't help", "nope", "Same error"])
@pytest.mark.parametrize("thanks", ["Yes! that was it", "that did the trick", "works now, thanks"])
def test_the_proposal_that_helped_is_kept(refusal: str, thanks: str) -> None:
    (found,) = heard(
        "my wifi keeps dropping", "A: Try another channel.", refusal, "A: Update the router's firmware.", thanks
    ).candidates  # fmt: skip
    assert (found.subject, found.object) == (
        "topic:my wifi keeps dropping", "Update the router's firmware.",
    )  # fmt: skip


def test_a_refuted_proposal_is_never_confirmed() -> None:
    assert facts("my wifi keeps dropping", "A: Try another channel.", "nope", "A: Sorry to hear.", "works now") == []


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("Forget my son's allergy", "son's allergy"),
        ("Don't store that I'm learning Greek", "learning Greek"),
        ("Please don't keep my medical details", "medical details"),
        ("Scratch that about the dog", "dog"),
        ("Strike what I said about my boss", "boss"),
    ],
)
def test_wishes_to_forget(words: str, target: str) -> None:
    seen = heard(words)
    assert ([r.target for r in seen.requests], seen.candidates) == ([target], ())


@pytest.mark.parametrize("words", ["Forget tea for now, what about the bus?", "Can you forget insulin?"])
def test_no_wish_to_forget(words: str) -> None:
    assert heard(words).requests == ()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("I'm now logistics manager at Oakfield", {"works_at Oakfield", "occupation logistics manager"}),
        ("I'm a senior nurse at Mercy West", {"works_at Mercy West", "occupation senior nurse"}),
        ("I'm training as a pilot now", {"studies pilot"}),
        ("As I said, I live in Galway", {"lives_in Galway"}),
        ("Like I said, I work at Nimbus", {"works_at Nimbus"}),
        ("Cashews give me an allergic reaction", {"allergic_to Cashews"}),
        ("My home is in Galway", {"lives_in Galway"}),
        ("I'm head of sales", {"occupation head of sales"}),
    ],
)
def test_jobs_and_homes(words: str, wanted: set[str]) -> None:
    assert {f"{r} {o}" for _, r, o, _ in facts(words)} == wanted


def test_a_job_to_come_begins_then(talk: Talk) -> None:
    talk.say("I work at Nimbus.", "I'm starting at Mercy Hospital in July.")
    assert talk.current("user") == {"works_at Nimbus"}
    talk.now = datetime(2026, 7, 5, tzinfo=UTC)
    assert talk.current("user") == {"works_at Mercy Hospital"}


@pytest.mark.parametrize(
    ("words", "dated"),
    [
        ("The deadline moved to April 9", "2027-04-09"),
        ("The new ship date is March 12", "2027-03-12"),
        ("The standup moved to Friday", "2026-06-19"),
        ("My birthday is May 14", ""),
        ("I'm free on Thursday evenings", ""),
    ],
)
def test_dates_ahead_and_days_that_return(words: str, dated: str) -> None:
    (found,) = heard(words).candidates
    assert found.valid_from == NOW
    assert found.text == (f"{words} ({dated})" if dated else words)


@pytest.mark.parametrize(
    ("before", "words", "gone", "stays"),
    [
        ("My personal trainer is Callum.", "My trainer is a guy named Bastian these days.", "Callum", "Bastian"),
        ("My piano teacher is Mrs Ostrow.", "I've got a new piano teacher, Mr Lind.", "Ostrow", "Lind"),
        ("My phone contract is with Giffgaff.", "I've gone over to Voxi for my phone contract.", "Giffgaff", "Voxi"),
        ("My home insurance is with Aviva.", "Moved the home insurance to Churchill.", "Aviva", "Churchill"),
        ("We're on the Basic plan.", "We bumped ourselves up to the Enterprise plan.", "Basic", "Enterprise"),
        ("I'm on the Silver membership.", "Upgraded to Gold membership today.", "Silver", "Gold"),
        ("My dentist is Dr Pham.", "Dr Quill is my dentist now.", "Pham", "Quill"),
        ("I'm majoring in biology.", "I changed my major to linguistics.", "biology", "linguistics"),
        ("I drive a Honda Civic.", "Traded the Civic in for a Kia Niro.", "Honda", "Niro"),
        ("My boss is Helen.", "Helen moved abroad, so my boss is Raj now.", "Helen", "Raj"),
        ("My appointment is on Tuesday.", "They moved my appointment to Thursday.", "Tuesday", "Thursday"),
        ("My interview is at 10am.", "The interview got pushed to 2pm.", "10am", "2pm"),
        ("Our standup is at 9.", "Standup's been pushed back to 11.", "at 9", "11"),
        ("My therapist is Wendy.", "Started seeing a new therapist, her name is Odile.", "Wendy", "Odile"),
        ("I own a canoe.", "The canoe's gone, sold it to a neighbour.", "canoe", ""),
        ("I have a caravan in Wales.", "Sadly the caravan got sold last week.", "caravan", ""),
        ("I'm in a book club with Ruth.", "The book club's over.", "book club", ""),
        ("I play the cello.", "Haven't touched the cello in years, I've given it up.", "cello", ""),
        ("I love brie. I love jazz.", "Gone completely dairy-free.", "brie", "likes jazz"),
        ("I love stout. I love jazz.", "I've gone alcohol-free since spring.", "stout", "likes jazz"),
        ("I take the bus to work.", "I walk to work now.", "bus", "walk"),
    ],
)  # fmt: skip
def test_another_value_or_an_ending_under_other_words(
    tmp_path: Path, before: str, words: str, gone: str, stays: str
) -> None:
    talk = Talk(tmp_path / "store", embedder="")
    held = talk.say(before, words).current()
    talk.memory.close()
    assert not any(gone in h for h in held), held
    assert any(stays in h for h in held) or not stays, held


@pytest.mark.parametrize(
    ("before", "words", "kept"),
    [
        ("My running coach is Yusuf.", "My swim coach is Ingrid now.", "Yusuf"),
        ("My dentist is Dr Pham.", "Dr Quill is my sister's dentist now.", "Pham"),
        ("My car insurance is with Admiral.", "I went over to Aviva's office for a quote.", "Admiral"),
        ("I drive a Honda Civic.", "My sister's new car is a Kia Niro.", "Civic"),
        ("I own a canoe.", "My neighbour sold his kayak.", "canoe"),
        ("I own a canoe.", "Nearly sold the canoe but couldn't do it.", "canoe"),
        ("I play the cello.", "My cello lesson is over in ten minutes.", "cello"),
        ("I love brie.", "The supermarket was out of brie.", "brie"),
        ("I like lamb kebabs.", "My brother doesn't eat meat anymore.", "lamb"),
        ("My surname is Macleod.", "It's Macleod, M-A-C.", "Macleod"),
        ("My son goes to Oakwood School.", "My daughter goes to Fernhill Academy now.", "Oakwood"),
    ],
)  # fmt: skip
def test_what_resembles_a_change_ends_nothing(talk: Talk, before: str, words: str, kept: str) -> None:
    assert any(kept in h for h in talk.say(before, words).current())


@pytest.mark.parametrize(
    "thanks",
    [
        "Blooming it first worked a treat, thank you", "sorted, cheers", "yep, fixed it",
        "Text format was the answer",
        "brilliant, that's cracked it", "ha, that was the culprit", "and we're back in business",
        "That fixed my dough",
        "Tried it and it rises every time now", "It's behaving itself now, thank you", "Numbers look right now",
    ],
)  # fmt: skip
def test_ways_to_say_that_it_worked(thanks: str) -> None:
    seen = heard("My dough never rises.", "A: Bloom the yeast in warm water first.", thanks)
    assert [a.kind for a in seen.anchors] == ["confirmation"]
    assert seen.candidates[0].object == "Bloom the yeast in warm water first."


@pytest.mark.parametrize(
    "words",
    [
        "sounds good, will try", "It would be great if that worked", "that worked for my sister but not for me",
        "sorted my laundry, brb", "My day worked out great", "my brother helped", "the weather is fine now",
        "I worked late", "Still flat.", "that is nice of you",
    ],
)  # fmt: skip
def test_what_confirms_no_proposal(words: str) -> None:
    seen = heard("My dough never rises.", "A: Bloom the yeast in warm water first.", words)
    assert "confirmation" not in [a.kind for a in seen.anchors]


@pytest.mark.parametrize(
    "words",
    [
        "No way, John! That's really cool.", "Oh no, Sarah! What happened?", "No worries, John. Happy to help.",
        "No problem, Anna!", "No kidding, Mike!", "Sorry, John! I forgot to call.", "No thanks, Dave.",
        "Wait, Caroline, did you say Tuesday?", "Oops, Melanie! I sent it twice.", "Sorry Joanna, missed that",
    ],
)  # fmt: skip
def test_a_name_that_is_called_corrects_nothing(talk: Talk, words: str) -> None:
    talk.say("I live in Porto.", words)
    assert "lives_in Porto" in talk.current()


@pytest.mark.parametrize(
    "words", ["No, Braga!", "Sorry, Braga.", "Hold on, Braga", "Sorry, Braga! Not Porto.", "Oops, Braga. Typo!"]
)
def test_a_name_that_stands_alone_corrects_the_place(talk: Talk, words: str) -> None:
    assert "lives_in Braga" in talk.say("I live in Porto.", words).current()


@pytest.mark.parametrize(
    "words",
    [
        "Yeah, working with passionate people like you is really motivating.",
        "It's great to be here and work with such passionate people.", "Work with influencers for bigger reach.",
        "I've been working on it for a while, such a relief to have it all done!", "I work with horses.",
        "I worked for hours on that.",
    ],
)  # fmt: skip
def test_whom_one_works_with_is_no_employer(talk: Talk, words: str) -> None:
    assert "works_at the city hospital" in talk.say("I work at the city hospital.", words).current()


@pytest.mark.parametrize(
    ("words", "employer"),
    [
        ("I work with Deloitte.", "Deloitte"), ("I work with a small studio in Leeds.", "a small studio in Leeds"),
        ("I'm working with children at a hospice.", "a hospice"), ("I work for Habitat.", "Habitat"),
    ],
)  # fmt: skip
def test_for_whom_one_works(words: str, employer: str) -> None:
    assert ("user", "works_at", employer, True) in facts(words)


def test_what_is_cooked_is_nobodys_diet(talk: Talk) -> None:
    talk.say("I'm a vegetarian.", "I love making this lately - it's creamy, rich, dairy-free and a new recipe!")
    assert {c for c in talk.current() if c.startswith("diet")} == {"diet vegetarian"}
    assert ("user", "diet", "gluten-free", True) in facts("I've been gluten-free for years.")
