"""English corrections that name what was wrong or only give the right value, and look-alikes that correct nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.test_write_en_kinds import Talk


def known(path: Path, *turns: str) -> list[str]:
    """The texts of what is known after turns of one session; "A: …" is the assistant's."""
    talk = Talk(path / "store", embedder="")
    for turn in turns:
        if turn.startswith("A: "):
            talk.answer(turn.removeprefix("A: "))
        else:
            talk.say(turn)
    texts = [f"{f.object} | {f.text}" for f in talk.memory.facts(user_id="u") if f.is_positive]
    talk.memory.close()
    return texts


@pytest.mark.parametrize(
    ("turns", "right", "wrong"),
    [
        (["Our car is a Mazda.", "hang on, I looked. It's a Hyundai, no idea why I said Mazda"],
         "Hyundai", "Mazda"),
        (["My bike's a Giant.", "I've no idea why I wrote Giant, it's a Trek"], "Trek", "Giant"),
        (["I work at Deloitte.", "oh I put Deloitte, that's my sister. I'm at EY"], "EY", "Deloitte"),
        (["I work at Nokia.", "Did I say Nokia? I meant Ericsson"], "Ericsson", "Nokia"),
        (["I live in Bath. Well no, Bristol, to be exact."], "Bristol", "Bath"),
        (["My wife's a podiatrist.", "She's just corrected me. Chiropodist, she says, not podiatrist"],
         "Chiropodist", "podiatrist"),
        (["My husband is an electrician.", "He says he's an electrical engineer, not an electrician"],
         "an electrical engineer", "electrician"),
        (["I'm allergic to penicillin.", "Ignore what I said. It's sulfa drugs I'm allergic to. Penicillin is fine."],
         "sulfa", "enicillin"),
        (["My daughter's allergic to eggs.", "Correction, it's milk she's allergic to, eggs are ok"], "milk", "eggs"),
        (["I'm allergic to cats.", "Not cats, I got that wrong. It's dogs that set me off"], "dogs", "cats"),
        (["We have four hens.", "six hens, not four"], "six hens", "four"),
        (["I live on the second floor.", "Actually it's the third floor, I forgot to count the ground floor"],
         "third floor", "second"),
        (["I'm blood type A positive.", "Found my card, I'm A negative."], "A negative", "positive"),
        (["My dad is 81.", "A: I've put 81.", "83 please"], "83", "81"),
        (["My son is 7. No wait, he's 8 now."], "8", "7"),
        (["I'm 5 foot 9.", "Got measured, I'm actually 5 foot 8"], "5 foot 8", "5 foot 9"),
        (["My postcode is LS6 2AB.", "LS6 2BA, fat fingers"], "LS6 2BA", "LS6 2AB"),
        (["I have two brothers and a sister.", "Two sisters and a brother, what am I saying"],
         "Two sisters", "two brothers"),
        (["I studied at Leeds Beckett.", "Typo: I studied at Leeds Trinity"], "Trinity", "Beckett"),
        (["My mother's maiden name is Kowalska.", "Kowalczyk, I always get it wrong"], "Kowalczyk", "Kowalska"),
        (["We've eight goats up the hill.", "A: For sheep, a metre will do.", "goats, not sheep"], "goats", "sheep"),
    ],
)  # fmt: skip
def test_the_right_value_takes_the_place_of_the_wrong_one(
    tmp_path: Path, turns: list[str], right: str, wrong: str
) -> None:
    texts = known(tmp_path, *turns)
    assert any(right in t for t in texts), texts
    assert not any(wrong in t for t in texts), texts


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        (["I live in Bath.", "it's raining, not snowing"], "Bath"),
        (["My dad is 81.", "A: Would you like 2 or 3 examples?", "3 please"], "81"),
        (["I have four hens.", "six eggs, not four, came today"], "four hens"),
        (["I work at Deloitte.", "I wrote Deloitte a letter"], "Deloitte"),
        (["I'm allergic to cats.", "not cats again, the neighbour has five"], "cats"),
        (["My son is 7.", "no wait, let me finish"], "7"),
        (["Always answer in English.", "make it in Polish please"], "English"),
        (["I'm allergic to peanuts.", "Friday is fine"], "peanuts"),
        (["I drink oat milk.", "it's cold, not freezing"], "oat milk"),
        (["My surname is Kowalczyk.", "you've spelt it wrong. K-o-w-a-l-c-z-y-k"], "Kowalczyk"),
    ],
)
def test_what_corrects_nothing_leaves_things_as_they_are(tmp_path: Path, turns: list[str], kept: str) -> None:
    texts = known(tmp_path, *turns)
    assert any(kept in t for t in texts), texts
