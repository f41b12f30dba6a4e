"""English: an earlier conversation may be named in many ways, and the anchor names the thing that is referred to."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ltm_core.write.analyse import analyse
from ltm_core.write.plan import Utterance
from ltm_core.write.words.load import default_lexicon


def referred(words: str) -> list[str]:
    said = Utterance(
        message_id="m",
        role="user",
        content=words,
        at=datetime(2025, 3, 3, 9, tzinfo=UTC),
        said_earlier=lambda text: True,
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
