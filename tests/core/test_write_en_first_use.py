"""What is over once the first day, night or lesson elsewhere is told, and what is gone back to in a word or two."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.test_write_en_kinds import Talk

BEGUN = [
    ("I work for the council, planning.", "So that was my first day with Arup. Head's spinning.", "council", "Arup"),
    ("I do shifts at the Royal Oak.", "First day at the new garage done, covered in oil.", "Royal Oak", "garage"),
    ("I work at Boots on the till.", "Did my first shift at Superdrug yesterday.", "Boots", "Superdrug"),
    ("My wife works for Barclays.", "My wife had her first day at Monzo today and loved it.", "Barclays", "Monzo"),
    ("My daughter Ella goes to Little Stars nursery.", "Ella's first morning at Oak Tree nursery, she ran in.",
     "Little Stars", "Oak Tree"),
    ("My son goes to Bishop Ramsey school.", "His first week at Highfield Academy done, blazer already lost.",
     "Ramsey", "Highfield"),
    ("I live in Leith with my sister.", "Spent our first night in our new place in Portobello, no curtains yet.",
     "Leith", "Portobello"),
    ("I live in Hove.", "Moved in with my girlfriend in Lewes.", "Hove", "Lewes"),
    ("I go to St Mary's for Mass.", "Our first service at the cathedral, that's our church from now on.",
     "Mary", "cathedral"),
    ("I'm on the day desk at the paper.", "They have put me on earlies.", "day desk", "earlies"),
    ("I work days at the mill.", "They've moved me to the night crew.", "days", "night crew"),
    ("Call me Doc.", "I've retired and it feels odd being Doc. Plain Martin is fine now.", "user Doc", "user Martin"),
]  # fmt: skip
STAYS = [
    ("I work at Boots.", "My first day at Glastonbury was muddy.", "Boots"),
    ("I work at Boots.", "My brother's first shift at Lidl was a disaster.", "Boots"),
    ("I work at Boots.", "Boyfriend's first week at the sorting office is done.", "Boots"),
    ("I work at Boots.", "I still remember my first day at Woolworths, I was sixteen.", "Boots"),
    ("I work at Boots.", "My first shift at the food bank as a volunteer was lovely.", "Boots"),
    ("I work at Boots.", "Is my first day at Superdrug going to be hard?", "Boots"),
    ("I work at Boots.", "My first week at Slimming World: lost 3 pounds.", "Boots"),
    ("I work at Boots.", "A friend of mine had her first day at Aldi.", "Boots"),
    ("I work for Tesco.", "My daughter's first day at Oakfield Primary, she loved it.", "Tesco"),
    ("My daughter Ella goes to Little Stars nursery.", "Ella's first day at ballet camp, she cried.", "Little Stars"),
    ("I live in Leith with my sister.", "First night in the new hotel, room stinks.", "Leith"),
    ("I live in Leith with my sister.", "My mum's first night in her new flat went fine.", "Leith"),
    ("I live in Leith.", "First night in Rome and I already ate two pizzas.", "Leith"),
    ("I'm on nights.", "My mate's been put on earlies.", "nights"),
]  # fmt: skip
BACK = [
    (["I live in Hove.", "Moved in with my girlfriend in Lewes.", "It didn't work out, so back in the Hove flat."],
     "Hove", "Lewes"),
    (["I send money home with Western Union.", "I moved to Wise for the money home.",
      "So again it is Western Union for us."], "Western Union", "Wise"),
    (["I do all my driving in a Volvo estate.", "The Volvo's gone, picked up a Saab on Monday.",
      "The dealer took it back and I'm in a Volvo again."], "Volvo", "Saab"),
]  # fmt: skip


def current(path: Path, *turns: str) -> set[str]:
    talk = Talk(path / "store", embedder="")
    held = talk.say(*turns).current()
    talk.memory.close()
    return held


@pytest.mark.parametrize(("before", "words", "gone", "holds"), BEGUN)
def test_the_first_time_there_ends_what_was_before(
    tmp_path: Path, before: str, words: str, gone: str, holds: str
) -> None:
    held = current(tmp_path, before, words)
    assert not any(gone in h for h in held), held
    assert any(holds in h for h in held), held


@pytest.mark.parametrize(("before", "words", "stays"), STAYS)
def test_a_first_time_of_another_or_elsewhere_leaves_it(tmp_path: Path, before: str, words: str, stays: str) -> None:
    held = current(tmp_path, before, words)
    assert any(stays in h for h in held), held


@pytest.mark.parametrize(("turns", "holds", "gone"), BACK)
def test_what_is_gone_back_to_is_named_alone(tmp_path: Path, turns: list[str], holds: str, gone: str) -> None:
    held = current(tmp_path, *turns)
    assert any(holds in h for h in held), held
    assert not any(gone in h for h in held), held


def test_a_visit_is_no_return(tmp_path: Path) -> None:
    turns = ("I live in Hove.", "Moved in with my girlfriend in Lewes.", "Back in Hove for the weekend.")
    assert any("Lewes" in h for h in current(tmp_path, *turns))
