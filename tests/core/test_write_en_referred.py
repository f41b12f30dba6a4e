"""English: an earlier conversation may be named in many ways, and the anchor names the thing that is referred to."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Utterance
from ltm_core.write.words.load import default_lexicon


def referred(words: str, *, stored: bool = True) -> list[str]:
    said = Utterance(
        message_id="m",
        role="user",
        content=words,
        at=datetime(2025, 3, 3, 9, tzinfo=UTC),
        said_earlier=lambda text: stored,
    )
    found = analyse(said, lexicon=default_lexicon(), fact_threshold=0.6)
    return [a.text for a in found.anchors if a.kind == "cross_session_reference"]


@pytest.mark.parametrize(
    ("words", "thing"),
    [
        ("In an earlier conversation I spoke of the coast path; which boots?", "coast path"),
        ("The pension came up in one of our last chats, so could you explain it?", "pension"),
        ("My eviction came up when we last spoke. What are my rights?", "eviction"),
        ("It's about the wardrobe I wrote to you about last week. Any news?", "wardrobe"),
        ("As I said before, there's that problem with the gutter. Who mends it?", "gutter"),
        ("As I mentioned in our last session, there's the orchard in Kent; what thrives there?", "orchard in Kent"),
        ("You may remember my fear of heights from our last talk.", "fear of heights"),
        ("As I mentioned in our previous chat, there's a christening coming up; what do I wear?", "christening"),
        ("As I told you last week, we have a leak in the loft; who fixes that?", "leak in the loft"),
        ("Let's pick up the dissertation where we left off last session.", "dissertation"),
        ("You'll remember from the other day that Pickle limps. Is rest enough?", "Pickle limps"),
        ("We touched on my dissertation last week. Which chapter first?", "dissertation"),
        ("I brought up my shoulder injury a few weeks ago. Can I row?", "shoulder injury"),
        ("A few chats ago you explained index funds. Could you repeat it?", "index funds"),
        ("Still on the subject of the eulogy from yesterday: how long?", "eulogy"),
        ("Once more about the loom: which yarn?", "loom"),
        ("I once told you about my tinnitus. Any new exercises?", "tinnitus"),
        ("Do you still know what I said about my gran and Welsh?", "gran and Welsh"),
    ],
)
def test_the_thing_is_named(words: str, thing: str) -> None:
    assert referred(words) == [thing]


@pytest.mark.parametrize(
    "words",
    [
        "I told my sister about the job last week.",
        "In our last lecture we discussed Kant.",
        "My boss mentioned the merger the other day.",
        "You should remember to water the ferns.",
        "The cat came up the stairs.",
    ],
)
def test_is_no_reference(words: str) -> None:
    assert referred(words) == []


@pytest.mark.parametrize(
    ("words", "thing"),
    [
        ("Some days ago you compared two mattresses for me. Which was firmer?", "two mattresses"),
        (
            "You and I went through my tenancy agreement the week before last. What was it?",
            "tenancy agreement",
        ),
        ("Before Christmas you wrote me a menu for the curry night.", "menu for the curry night"),
        ("Have another look at the cover letter we polished last Thursday, please.", "cover letter"),
        ("Is the budget sheet from our last session still there?", "budget sheet"),
        ("I consulted you about my damp wall a month ago. It has dried out now.", "damp wall"),
        ("Some time ago we had a conversation about my tax code. Can you remind me what you said?", "tax code"),
        ("My question about the bus pass from last week still stands. Where do I apply?", "bus pass"),
        ("I'm back with another question on the greenhouse you advised me about in March.", "greenhouse"),
        ("Where had we got to with the crossword clues last night?", "crossword clues"),
        ("Last session ended with us choosing paint for the hallway. Which shade was it?", "paint for the hallway"),
        ("We'd been comparing insurers the last time we chatted. Which one came out cheapest?", "insurers"),
        ("What did you tell me about pruning roses in our last chat?", "pruning roses"),
        ("Which film did you recommend last weekend?", "film"),
        ("Can you remind me what we decided about the loft ladder last week?", "loft ladder"),
        ("Did we get through the letter to the bank when we spoke last month?", "letter to the bank"),
        ("When we last talked, my bunion came up. Should I have it seen to?", "bunion"),
        ("When we last chatted, you were looking up ferries to Orkney. When do they leave?", "ferries to Orkney"),
        ("A fortnight ago we were working on a toast for my boss. How did it end?", "toast for my boss"),
        ("Concerning Olwen, whom I mentioned in a previous chat, what could I give her?", "Olwen"),
        ("It's about Rusty again, the pony I described last time. Is bran all right?", "Rusty"),
        ("You made a plan with me three weeks ago for the triathlon, what comes next?", "triathlon"),
    ],
)
@pytest.mark.parametrize("stored", [True, False])
def test_a_named_conversation_is_enough(words: str, thing: str, stored: bool) -> None:
    """Whatever the memory still holds of it."""
    assert referred(words, stored=stored) == [thing]


@pytest.mark.parametrize(
    "words",
    [
        "My doctor told me last week to cut out salt.",
        "My sister and I talked about Mum's flat last night.",
        "At the meeting on Monday we discussed the merger. How do I tell my team?",
        "We planned the wedding with my parents last weekend.",
        "Before Christmas we had a burst pipe.",
        "Two weeks ago I hurt my knee. Should I rest it?",
        "The plumber came back on Tuesday about the boiler.",
        "Yesterday we made a birdbox with the kids.",
        "I wrote a letter to the landlord last month.",
        "Which film won the Oscar last year?",
    ],
)
@pytest.mark.parametrize("stored", [True, False])
def test_a_day_gone_by_is_no_conversation(words: str, stored: bool) -> None:
    assert referred(words, stored=stored) == []
