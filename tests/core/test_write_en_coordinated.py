"""Several things of one form in one English clause: each is a fact of its own, and ends alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ltm_core.types import Fact
from ltm_core.write.extract.coordinated import things
from ltm_core.write.words.load import default_lexicon


@pytest.mark.parametrize(
    ("clause", "found"),
    [
        ("I have a house in Leeds and a flat in York", ["a house in Leeds", "a flat in York"]),
        ("I've got an account with Barclays and a loan with Zopa", ["an account with Barclays", "a loan with Zopa"]),
        ("I do yoga on Mondays and Pilates on Thursdays", ["yoga on Mondays", "Pilates on Thursdays"]),
        ("I row on Tuesdays and lift weights on Fridays", ["row on Tuesdays", "lift weights on Fridays"]),
        ("I take the dog to Ann's for a wash and to Paws for a trim", ["to Ann's for a wash", "to Paws for a trim"]),
        ("I'm on ramipril for blood pressure and metformin for diabetes",
         ["ramipril for blood pressure", "metformin for diabetes"]),
        ("I've a locker at the pool and a bench at the studio", ["a locker at the pool", "a bench at the studio"]),
        ("I buy bread from the mill and veg from the market", ["bread from the mill", "veg from the market"]),
        # one thing, or one said of both
        ("I play squash with Tom and Jerry on Fridays", []),
        ("I love fish and chips with mushy peas", []),
        ("I drive to Leeds on Mondays and Fridays", []),
        ("I have two brothers and a sister in Leeds", []),
        ("I work in sales and marketing at a bank", []),
        ("I walk between the house and the office on Mondays", []),
        ("I have a degree in maths and physics from Durham", []),
        ("I have a meeting at nine and at ten", []),
    ],
)  # fmt: skip
def test_things_of_one_form(clause: str, found: Sequence[str]) -> None:
    assert [clause[a:b] for a, b in things(clause, 1, default_lexicon().rules("en"))] == found


@pytest.mark.parametrize(
    ("turns", "kept", "over"),
    [
        (["I've got an overdraft with Barclays and a car loan with Zopa.", "The car loan is paid off at last."],
         "overdraft with Barclays", "Zopa"),
        (["We have a caravan in Whitby and a beach hut in Filey.", "We sold the beach hut."], "Whitby", "Filey"),
        (["I'm on ramipril for blood pressure and metformin for diabetes.", "The doctor has stopped the metformin."],
         "ramipril", "metformin"),
        (["I have piano lessons on Mondays and a book club on Thursdays.", "The book club has folded."],
         "piano lessons", "book club"),
        (["I buy bread from the mill and veg from the market.", "The mill has closed for good."], "market", "mill"),
        (["I rent a garage on Mill Lane and a lock-up on Dock Street.", "Gave up the lock-up, it flooded."],
         "Mill Lane", "Dock Street"),
        (["I volunteer at the hospice on Wednesdays and help at the library on Saturdays.",
          "The library let all its helpers go. The hospice carries on."], "hospice on Wednesdays", "library"),
    ],
)  # fmt: skip
def test_the_end_of_one_leaves_the_other(
    current_after: Callable[[Sequence[str]], list[Fact]], turns: Sequence[str], kept: str, over: str
) -> None:
    facts = current_after(turns)
    assert any(kept in f.text for f in facts), facts
    assert not any(over in f.text for f in facts), facts
