"""English stories of a time long gone: what was so then is past, and ends nothing that holds now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Message

BEGIN = datetime(2025, 3, 3, 9, tzinfo=UTC)


def current(tmp_path: Path, encoder: Embedder, turns: Sequence[str]) -> str:
    """The words of what is current after the turns, each of a session of its own."""
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        for n, words in enumerate(turns):
            said = Message(role="user", content=words, at=BEGIN + timedelta(days=10 * n))
            memory.observe(user_id="u", session_id=f"s{n}", messages=[said])
        return "\n".join(f"{f.text} {f.object}" for f in memory.facts(user_id="u"))


@pytest.mark.parametrize(
    ("now", "story", "holds", "was"),
    [
        (
            "My best friend is Owain.",
            "At junior school, my best friend had been a boy called Emrys.",
            "Owain",
            "Emrys",
        ),
        ("I write Go for a bank.", "Back in 2003 I wrote Fortran at an observatory.", "Go", "Fortran"),
        ("My team tracks issues in Linear.", "A decade ago my team kept everything in Trac.", "Linear", "Trac"),
        ("I drive a Volvo.", "When I was eighteen I drove a clapped-out Lada.", "Volvo", "Lada"),
        ("I play the cello.", "My gran loves to tell how I once took bagpipe lessons.", "cello", "bagpipe"),
        (
            "The alarm in our house is a ProGuard system.",
            "Yonks ago we had an alarm from Chubb.",
            "ProGuard",
            "Chubb",
        ),
        ("My hair is grey.", "At university I dyed my hair purple.", "grey", "purple"),
        ("I rent a flat in Leith.", "Once upon a time I rented a room above a bakery.", "Leith", "bakery"),
        ("We use Postgres.", "Twelve years ago the whole site ran on Access.", "Postgres", "Access"),
        ("I'm a plumber.", "In a previous life I sold conservatories.", "plumber", "conservatories"),
        ("My phone is a Pixel.", "My very first phone was a Siemens C25.", "Pixel", "Siemens"),
        ("I take the train to work.", "For years my commute was by moped.", "train", "moped"),
        ("I smoke a pipe.", "At sixteen I smoked roll-ups behind the gym.", "pipe", "roll-ups"),
        ("My favourite food is dal.", "As kids, our favourite food was fish fingers.", "dal", "fish fingers"),
        ("I study law.", "Between school and uni I picked olives in Crete.", "law", "Crete"),
        ("I drive a Honda.", "Back then, in college, I drove a rusty Pontiac.", "Honda", "Pontiac"),
        ("I study at McGill.", "Long before that, I went to a tiny school in Wakefield.", "McGill", "Wakefield"),
        ("My hair is grey.", "At my graduation, decades back, I had purple hair.", "grey", "purple"),
        ("I play the cello.", "In those days, at my nan's house, I played the banjo.", "cello", "banjo"),
        ("I drive a Corsa.", "The very first car I ever owned was a Hillman Imp.", "Corsa", "Hillman"),
        ("My phone is a Motorola.", "I fondly remember the Ericsson I had in 1999.", "Motorola", "Ericsson"),
        ("I wear a hearing aid.", "Throughout my forties I wore bifocals.", "hearing aid", "bifocals"),
        ("Our hall is painted cream.", "The hall was dark purple when we bought the place.", "cream", "purple"),
        ("My best friend is Nell.", "My best friend in primary school was a boy named Kit.", "Nell", "Kit"),
        (
            "My office is in Bootle.",
            "When the firm was founded, in 1998, we all worked in a shed in Widnes.",
            "Bootle",
            "Widnes",
        ),
    ],
)
def test_a_time_long_gone_is_past(
    tmp_path: Path, encoder: Embedder, now: str, story: str, holds: str, was: str
) -> None:
    known = current(tmp_path, encoder, [now, story])
    assert holds in known
    assert was not in known


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("At sixteen I was diagnosed with epilepsy.", "epilepsy"),
        ("Years ago we bought a cottage in Wales.", "Wales"),
        ("A decade ago I married Tom.", "Tom"),
        ("I've played the violin since I was six.", "violin"),
        ("In 2015 we adopted a girl called May.", "May"),
        ("Since the nineties we've lived in Hull.", "Hull"),
        ("When I was ten I was bitten by a dog and I'm scared of dogs.", "scared of dogs"),
        ("A year ago I gave up smoking and I run a bakery now.", "bakery"),
        ("My first language is Welsh.", "Welsh"),
        ("At work I use Jira.", "Jira"),
        ("At school my son is in year four.", "year four"),
        ("I learned to swim when I was four and I still swim every day.", "swim every day"),
    ],
)
def test_what_began_long_ago_may_hold_on(tmp_path: Path, encoder: Embedder, words: str, value: str) -> None:
    assert value in current(tmp_path, encoder, [words])
