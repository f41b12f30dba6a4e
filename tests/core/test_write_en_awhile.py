"""What English words tell as being for a while, and what says that it is over, beside what lasts all along."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.test_write_en_kinds import Talk


def held(path: Path, *turns: str, embedder: str = "") -> list[str]:
    """Relation and text of what is known in the end, a day between two turns."""
    talk = Talk(path / "store", embedder=embedder)
    for n, turn in enumerate(turns):
        talk.say(turn, session=f"s{n}")
    texts = [f"{f.relation} {f.text}" for f in talk.memory.facts(user_id="u") if f.is_positive]
    talk.memory.close()
    return texts


@pytest.mark.parametrize(
    ("turns", "gone"),
    [
        (["I've my brother's dog Sam here this week while he's in Rome.", "Sam went home on Sunday."], "Sam here"),
        (["My mother-in-law is staying with us for three weeks.", "She flew home yesterday."], "staying with us"),
        (["I'm in Lisbon for work until the end of the month.", "Home again from Lisbon."], "I'm in Lisbon"),
        (["I'm on light duties for a fortnight.", "Doctor says I'm fit for full duties again."], "light duties"),
        (["I sprained my ankle so I'm on crutches.", "The ankle's fine again, crutches have gone back."], "I'm on"),
        (["I'm using my old laptop while the new one is repaired.", "The new laptop came back from repair."],
         "old laptop"),
        (["I see a physio about my shoulder every week.", "I've been discharged, no more appointments."], "physio"),
    ],
)  # fmt: skip
def test_what_was_for_a_while_is_over(tmp_path: Path, turns: list[str], gone: str) -> None:
    texts = held(tmp_path, *turns)
    assert not any(gone in t for t in texts), texts


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        (["I drive a Yaris.", "mine is in the garage till Friday and they've lent me a Hyundai.",
          "got my own car back, drives like new."], "Yaris"),
        (["I work day shift at the Sasol plant.", "they've put me on nights until the shutdown is done.",
          "shutdown finished, on my normal 6 to 2 again."], "day shift"),
        (["I live in York.", "I'm in Lisbon until the end of the month.", "Home again from Lisbon."], "York"),
        (["I go to the gym on Tuesdays.", "I didn't go to the gym on Tuesday, I was knackered."], "gym"),
        (["I work at Deloitte.", "I've finished work for today."], "Deloitte"),
        (["My sister Ana lives in Hull.", "Ana went home on Sunday."], "Hull"),
        (["I have a dog called Sam.", "Sam went home with my sister for an hour."], "Sam"),
        (["We're in our flat in Ipswich.", "Kev went back to his own place."], "Ipswich"),
        (["I see a physio about my shoulder.", "I've been signed off sick for two weeks."], "physio"),
        (["I see a physio and a dietitian.", "No more appointments until June."], "physio"),
    ],
)  # fmt: skip
def test_what_lasts_is_not_touched_by_it(tmp_path: Path, turns: list[str], kept: str) -> None:
    texts = held(tmp_path, *turns)
    assert any(kept in t for t in texts), texts


@pytest.mark.parametrize(
    ("turns", "new", "old"),
    [
        (["I work nights at the mill.", "They've moved me onto days from this month."], "days", "nights"),
        (["I work nine to five.", "My hours are seven to three from this month."], "seven to three", "nine to five"),
        (["I live in Leeds.", "We've been in our new house in Whitby for a month now."], "Whitby", "Leeds"),
        (["We live on Mill Lane.", "We've been on Station Road since the summer."], "Station Road", "Mill Lane"),
        (["I'm doing keto.", "I changed to a Mediterranean diet in February."], "Mediterranean", "keto"),
        (["My name is Claire Dunn.", "I got married in June so it's Claire Abbott now."], "Abbott", "Dunn"),
        (["I'm Mrs Bell.", "It's Ms Frost from here on."], "Frost", "Bell"),
        (["We have two kids.", "Baby number three arrived on Sunday."], "number three", "two kids"),
        (["My boss is Karen.", "Karen's gone to another firm, so I report to Nikhil."], "Nikhil", "boss Karen"),
        (["My daughter goes to St Mary's primary.", "She started at Oakwood after Easter."], "Oakwood", "Mary"),
        (["My phone is a Pixel 6.", "Finally got a new phone, it's a Galaxy S24."], "Galaxy S24", "Pixel 6"),
    ],
)
def test_a_new_value_without_the_usual_verb(tmp_path: Path, turns: list[str], new: str, old: str) -> None:
    texts = held(tmp_path, *turns)
    assert any(new in t for t in texts), texts
    assert not any(old in t for t in texts), texts


@pytest.mark.parametrize(
    ("turns", "kept"),
    [
        (["I live in Leeds.", "We've been in the queue in Whitby for three weeks for a table."], "Leeds"),
        (["I live in Leeds.", "My sister's been in her new house in Whitby three weeks."], "Leeds"),
        (["My boyfriend is Callum.", "I'm seeing Joe for lunch at noon."], "Callum"),
        (["I'm with Octopus for gas.", "I'm with Anglian for water."], "Octopus"),
    ],
)
def test_no_new_value(tmp_path: Path, turns: list[str], kept: str) -> None:
    texts = held(tmp_path, *turns)
    assert any(kept in t for t in texts), texts
