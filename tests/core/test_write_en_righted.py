"""English corrections that give the right value without the wrong one, and look-alikes that put nothing right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.test_write_en_restated import known


@pytest.mark.parametrize(
    ("turns", "right", "wrong"),
    [
        (["My flight to Denver leaves on the 14th.", "I mixed up the dates. It leaves on the 16th."], "16th", "14th"),
        (["My rent is $950 a month.", "A: $950 it is.", "That's wrong, the rent is $975."], "$975", "$950"),
        (["Our house has four bedrooms.", "Let me correct that: it has three bedrooms."], "three", "four"),
        (["Our neighbour Yusuf is an optician.", "Correction: Yusuf is a barber."], "barber", "optician"),
        (["The boiler in our house is a Vaillant.", "I had it wrong: our boiler is a Worcester."],
         "Worcester", "Vaillant"),
        (["My sister's name is Kristen.", "Oops, typo. Her name is Kirsten."], "Kirsten", "Kristen"),
        (["We deploy to us-east-1.", "Wait, that was wrong. Our region is us-west-2."], "us-west-2", "us-east-1"),
        (["The service runs on Node 18.2.", "I misread that. It runs on Node 20.4."], "20.4", "18.2"),
        (["I'm learning Dutch at the library.", "Autocorrect changed that. The language I'm learning is Danish."],
         "Danish", "Dutch"),
        (["My gym days are Monday and Thursday.", "Scratch that, they are Tuesday and Friday."],
         "Tuesday and Friday", "Monday"),
        (["My blood group is A positive.", "I misremembered my blood group, the donor card says O negative."],
         "O negative", "A positive"),
        (["I bought the kettle in June.", "I found the receipt, and I actually bought the kettle in April."],
         "April", "June"),
        (["I've got three nephews.", "Actually, four nephews, I forgot the baby."], "four", "three"),
        (["My mum's birthday is 3 April.", "I gave you the wrong date before: Mum's birthday is 30 April."],
         "30 April", "is 3 April"),
        (["My dentist is called Dr Marlow.", "Oh, I typed that wrong, my dentist is called Dr Barlow."],
         "Barlow", "Marlow"),
        (["We've got a gas boiler.", "Let me correct myself: my wife says the boiler is electric."],
         "electric", "gas"),
        (["Our cat is a Siamese.", "My wife has just corrected me: the cat is a Burmese."], "Burmese", "Siamese"),
        (["I'm allergic to walnuts.", "Let me set that straight. I'm allergic to hazelnuts."],
         "hazelnuts", "walnuts"),
        (["My sister works for Barclays.", "That's not right, she works for Lloyds."], "Lloyds", "Barclays"),
        (["I studied in Leeds.", "Slip of the keyboard, I studied in Leicester."], "Leicester", "Leeds"),
        (["The plumber is coming on Thursday.", "Looking at my diary, the plumber is coming on Friday."],
         "Friday", "Thursday"),
        (["Our anniversary is on 3 July.", "My husband is shaking his head: our anniversary is on 5 July."],
         "5 July", "3 July"),
        (["My blood type is B positive.", "I checked my card, it's B negative."], "B negative", "B positive"),
        (["Our holiday starts on 2 August.",
          "I was looking at last year's booking. Our holiday starts on 9 August."], "9 August", "2 August"),
        (["The vet's name is Mrs Galloway.", "No, Gallagher, I mixed that up."], "Gallagher", "Galloway"),
        (["My mother was born in Cork.",
          "I have to put something right: my mother was born in Kerry, not Cork."], "Kerry", "Cork"),
        (["Our neighbour Rosa keeps alpacas behind her house.", "Correction: Rosa's animals are llamas."],
         "llamas", "alpacas"),
        (["My father is a retired naval officer.",
          "Actually, what I should have said is that he's a retired RAF officer."], "RAF", "naval"),
        (["My niece works as a nurse.", "I told you something wrong about my niece: she works as a vet."],
         "vet", "nurse"),
        (["Our choir rehearses in the library.", "I misinformed you: our choir rehearses in the town hall."],
         "town hall", "library"),
        (["My passport expires in May.", "You've got the wrong month for my passport, it should be June."],
         "June", "May"),
        (["My mum's birthday is 4 March.", "You have the wrong date for Mum's birthday, the right one is 9 March."],
         "9 March", "4 March"),
        (["We have four cats.", "What am I on about, we have five cats!"], "five", "four"),
        (["My waist is 34 inches.", "I had my measurements muddled, it's 36 inches."], "36", "34"),
        (["My teacher is called Mrs Catchpole.", "I misspelled my teacher's name, it's Mrs Catchpool."],
         "Catchpool", "Catchpole"),
        (["My rent is 700 pounds a month.", "Hang on, I've just looked at the lease and my rent is 720 pounds."],
         "720", "700"),
        (["Our gardener Phil comes on Tuesdays.", "Silly me, I'm mixing up my days. Phil comes on Thursdays."],
         "Thursdays", "Tuesdays"),
        (["I'm doing a certificate in elderly care.", "I should have said child care."], "child care", "elderly"),
        (["We bank with Lloyds.", "My wife says I told you a fib, because our accounts are with Halifax."],
         "Halifax", "Lloyds"),
        (["The tree by our gate is an oak.", "A gardener set us straight. It's a lime and always was."],
         "a lime", "oak"),
        (["My grandfather came from Cork.", "Grandad actually came from Kerry, we'd all had it wrong."],
         "Kerry", "Cork"),
    ],
)  # fmt: skip
def test_the_right_value_takes_the_place_of_the_wrong_one(
    turns: list[str], right: str, wrong: str, tmp_path: Path
) -> None:
    held = known(tmp_path, *turns)
    assert any(right in text for text in held), held
    assert not any(wrong in text for text in held), held


@pytest.mark.parametrize(
    ("turns", "stays"),
    [
        (["My son is 7.", "I made a mistake at work. The report is due on the 12th."], "7"),
        (["We've got a gas boiler.", "The plumber told me off because the boiler is dirty."], "gas boiler"),
        (["I live at 12 Elm Road.", "According to my mother, the shop is at 40 Oak Street."], "12 Elm"),
        (["I study law in Leeds.", "The spell checker changed my essay, it's in Dutch now."], "Leeds"),
        (["I'm allergic to walnuts.", "According to the packet, the bar is made of almonds."], "walnuts"),
        (["My salary is 3,000.", "I was looking at the wrong shelf, the jam is 4 euros."], "3,000"),
        (["My flight is on 3 May.", "My husband says the concert is on 5 May."], "3 May"),
        (["I play the viola.", "I always mix up the notes."], "viola"),
        (["We meet at 6pm.", "The bus driver got it wrong, so I was home at 8pm."], "6pm"),
        (["I live in Leeds.", "The map on that website is wrong. Where is York?"], "Leeds"),
        (["I work at Acme.", "If I had it wrong and the answer is Initech, what then?"], "Acme"),
        (["My dog is called Rex.", "I misheard the vet, she meant my neighbour's dog."], "Rex"),
        (["I have two cats.", "Typo in the essay: it should have been 'three ships'. Can you fix it?"], "two cats"),
        (["My sister lives in Cork.", "She told me the wrong time, so I missed the bus on the 4th."], "Cork"),
        (["My shoe size is 39.", "What am I saying, that soup needs salt!"], "39"),
        (["My dog is called Bertie.", "I misspelt a word in my essay; it's rhythm."], "Bertie"),
        (["The tree by our gate is an oak.", "My sister set us straight. It's a nightmare and always was."], "oak"),
        (["I live in Leeds.", "My words came out wrong and everybody laughed at me in Bradford."], "Leeds"),
        (["Our house number is 12.", "They sent me another patient's letter and it has 4 pages."], "12"),
    ],
)
def test_what_was_wrong_elsewhere_puts_nothing_right(turns: list[str], stays: str, tmp_path: Path) -> None:
    held = known(tmp_path, *turns)
    assert any(stays in text for text in held), held
