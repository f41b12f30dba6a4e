"""English requests to remember, in many wordings: what is asked is kept, and the fact is read out of the request."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Analysis, Utterance

NOW = datetime(2026, 6, 17, 10, tzinfo=UTC)
LEXICON = default_lexicon()


def heard(words: str) -> Analysis:
    said = Utterance(message_id="m", role="user", content=words, at=NOW)
    return analyse(said, lexicon=LEXICON, fact_threshold=0.6)


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("Can you save the fact that Aunt Wilma takes her tea with honey?", "Aunt Wilma takes her tea with honey"),
        ("It's vital that you retain one thing about me: I have an insulin pump.", "I have an insulin pump"),
        ("Commit this to memory, will you? Dad's favourite song was \"Moon River.\"",
         "Dad's favourite song was \"Moon River"),
        ("Okay, and bear in mind from now on that I share the car with my wife.", "I share the car with my wife"),
        ("For future reference, write down that our quota is 80 parcels a day.", "our quota is 80 parcels a day"),
        ("You should know this for next time, so store it: I faint at blood.", "I faint at blood"),
        ("Please put on record that I never signed the lease.", "I never signed the lease"),
        ("Could you add that I'm colour-blind to your notes?", "I'm colour-blind"),
        ("Please be aware that I can't eat after six.", "I can't eat after six"),
        ("One thing to remember about me: I hate surprises.", "I hate surprises"),
        ("What you need to remember is that my daughter is deaf in one ear.", "my daughter is deaf in one ear"),
        ("The thing to remember about me is that I work nights.", "I work nights"),
        ("For your notes: the cat only eats pâté.", "the cat only eats pâté"),
        ("Mental note: Mrs Ahmed prefers email.", "Mrs Ahmed prefers email"),
        ("Save to memory that I write all invoices in euros.", "I write all invoices in euros"),
        ("It'd help if you took note of this: my new knee is the left one.", "my new knee is the left one"),
        ("There is one thing you should always bear in mind: I'm colour-blind.", "I'm colour-blind"),
        ("Please store in your memory that our cat is diabetic.", "our cat is diabetic"),
        ("You'd do well to remember that my boss hates phone calls.", "my boss hates phone calls"),
        ("This is worth keeping: my aunt moves in May.", "my aunt moves in May"),
        ("Take this down: the dog's name is Bosco.", "the dog's name is Bosco"),
        ("Here is a detail to store: my ring size is 54.", "my ring size is 54"),
        ("I'm counting on you to remember that I'm off sugar.", "I'm off sugar"),
        ("Jot this down for me: Caspian is the lead in the school play.", "Caspian is the lead in the school play"),
        ("Let it be noted that I take the stairs.", "I take the stairs"),
        ("Would you be so kind as to note that I sleep until ten?", "I sleep until ten"),
        ("I need this remembered: the spare fuse is behind the meter.", "the spare fuse is behind the meter"),
        ("Please file away that my shoe size is 46.", "my shoe size is 46"),
        ("Keep hold of this for me: our wifi is called Badger.", "our wifi is called Badger"),
        ("Don't let this slip your mind: the rent is due on the first.", "the rent is due on the first"),
        ("I'd like this on record: I resigned in writing.", "I resigned in writing"),
        ("Can I ask you to remember that my son stammers?", "my son stammers"),
        ("Hang on to this: the garage code is 9921.", "the garage code is 9921"),
        ("Here's a fact to keep: my father was born in Galway.", "my father was born in Galway"),
        ("I'm telling you this so you'll remember it: my ex is called Gavin.", "my ex is called Gavin"),
        ("Could you keep track of the fact that I've paid the deposit?", "I've paid the deposit"),
        ("Please save my t-shirt size: medium.", "my t-shirt size: medium"),
        ("Save this info: the plumber is called Reg.", "the plumber is called Reg"),
        ("It would help if you remembered that I'm dyslexic.", "I'm dyslexic"),
        ("Keep in mind that this shop closes at noon.", "this shop closes at noon"),
    ],
)  # fmt: skip
def test_what_is_asked_to_be_kept(words: str, kept: str) -> None:
    seen = heard(words)
    assert [a.text for a in seen.anchors if a.kind == "explicit_request"] == [kept]
    assert any(c.text in (kept, words) or kept in c.text for c in seen.candidates)


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ("You mustn't forget that I'm allergic to latex.", ("user", "allergic_to", "latex")),
        ("Try not to forget that I am vegetarian.", ("user", "diet", "vegetarian")),
        ("Please keep on file that I'm a wheelchair user.", ("user", "is_a", "wheelchair user")),
        ("Let me give you something to store: my blood type is O negative.", ("user", "blood_type", "O negative")),
        ("Lock this in: our anniversary is on 4 May.", ("user", "attribute:anniversary", "4 May")),
        ("Make sure you remember that my brother lives in Oslo.", ("brother", "lives_in", "Oslo")),
        ("It is important that you remember my wife is allergic to kiwi.", ("wife", "allergic_to", "kiwi")),
    ],
)
def test_the_fact_is_read_out_of_the_request(words: str, fact: tuple[str, str, str]) -> None:
    assert fact in [(c.subject, c.relation, c.object) for c in heard(words).candidates]


@pytest.mark.parametrize(
    "words",
    [
        "Save the file.",
        "Keep this simple.",
        "Keep that in your pocket.",
        "Store the milk in the fridge.",
        "Record the meeting.",
        "Put this in a table: apples, pears.",
        "Take this down to five sentences.",
        "Register that domain for me.",
        "You mustn't forget your umbrella.",
        "You must not forget to lock up.",
        "Can you keep a secret?",
        "Can you keep track of time?",
        "What do I need to remember?",
        "The thing to remember about Rome is the heat.",
        "Make sure you don't forget to water the plants.",
        "It's important that you drink enough water.",
        "How do I commit this to memory?",
        "Did you note that I'm vegan?",
        "Is it important that you remember my birthday?",
        "Translate this: remember that I'm left-handed.",
        "Let me tell you something: I was shocked.",
    ],
)
def test_what_asks_to_keep_nothing(words: str) -> None:
    assert not [a for a in heard(words).anchors if a.kind == "explicit_request"]
