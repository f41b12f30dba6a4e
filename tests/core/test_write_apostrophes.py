"""Apostrophes that were not typed are read as if they had been, and every place is one of the message as typed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_core.lexicon import default_lexicon
from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Analysis, Utterance
from ltm_core.write.words.apostrophes import spelled

NOW = datetime(2025, 3, 3, 9, tzinfo=UTC)


def seen(text: str) -> Analysis:
    return analyse(
        Utterance(message_id="m", role="user", content=text, at=NOW), lexicon=default_lexicon(), fact_threshold=0.6
    )


def corrected(text: str) -> str:
    as_meant = spelled(text, default_lexicon().contractions)
    return as_meant.text if as_meant is not None else text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("im a plumber and ive two kids", "i'm a plumber and i've two kids"),
        ("Dont use emojis, theyre annoying", "Don't use emojis, they're annoying"),
        ("its a Skoda, id like it cleaned", "it's a Skoda, i'd like it cleaned"),
        ("were based in Hull", "we're based in Hull"),
        ("well be in Hull. lets start", "we'll be in Hull. let's start"),
        ("i cant, it wont open", "i can't, it won't open"),
    ],
)
def test_a_missing_apostrophe_is_put_in(typed: str, meant: str) -> None:
    assert corrected(typed) == meant


@pytest.mark.parametrize(
    "text",
    [
        "the kettle lost its lid",
        "we were in Hull last year",
        "were you using it then?",
        "my id is 4711, and my ill aunt lives well",
        "IM me when you can",
        "ich bin im Urlaub und komme Montag",
        "see docs/dont.md and user@its.example and foo.im/bar",
        "she lets the flat to students",
        "I'm fine, it's done, don't worry",
    ],
)
def test_other_words_stay_as_they_are(text: str) -> None:
    assert corrected(text) == text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hiya, im a florist at Bloomfields", "hiya, I'm a florist at Bloomfields"),
        ("im allergic to kiwi and dont eat pork", "I'm allergic to kiwi and don't eat pork"),
        ("weve got a beagle called Otto", "We've got a beagle called Otto"),
        ("ive moved to Cork, thats where i work too", "I've moved to Cork, that's where I work too"),
    ],
)
def test_what_is_known_is_the_same(typed: str, meant: str) -> None:
    facts = [(c.relation, c.object_normalized, c.is_positive) for c in seen(typed).candidates]
    assert facts == [(c.relation, c.object_normalized, c.is_positive) for c in seen(meant).candidates]
    assert facts


def test_the_evidence_is_what_was_typed() -> None:
    typed = "dont forget: im vegan. by the way theyre moving me to Lyon, and order 4711-88213 isnt here"
    found = seen(typed)
    assert found.anchors
    for anchor in found.anchors:
        assert anchor.text in typed
        assert anchor.text in typed[anchor.evidence.start : anchor.evidence.end]
    assert any("im vegan" in typed[e.start : e.end] for c in found.candidates for e in c.evidence)


@given(
    st.lists(
        st.sampled_from(["im", "dont", "its a", "I", "we", "were", "sad", ",", ".", "奶奶", "Lyon"]), max_size=12
    )
)
def test_places_stay_inside_the_message(words: list[str]) -> None:
    typed = " ".join(words)
    found = seen(typed)
    spans = [a.evidence for a in found.anchors] + [e for c in (*found.candidates, *found.news) for e in c.evidence]
    assert all(0 <= e.start < e.end <= len(typed) for e in spans)
    as_meant = spelled(typed, default_lexicon().contractions)
    if as_meant is not None:
        assert as_meant.text.replace("'", "") == typed
