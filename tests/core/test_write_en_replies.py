"""English replies: what is a proposal, which words confirm it, and which only thank, promise, suppose or excuse."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm_core import LongTermMemory, Message
from ltm_core.embed.base import Embedder
from ltm_core.lexicon import default_lexicon
from ltm_core.types import Role
from ltm_core.write.anchors.proposals import is_proposal

BEGIN = datetime(2025, 3, 3, 9, tzinfo=UTC)
RADIATOR = (
    "My radiator in the hall is stone cold at the top",
    "Bleed it with the key until water comes out, then top up the system pressure.",
)
WATCHER = (
    "VS Code keeps freezing when I open our monorepo",
    "Exclude node_modules and dist from the file watcher in settings.",
)
GNOCCHI = (
    "my gnocchi turn to mush in the water",
    "Use floury potatoes, let them steam dry, and only add as much flour as you need.",
)
KEYBOARD = (
    "Bluetooth keyboard types double letters",
    "Move the dongle to a front port away from the USB 3 drive.",
)
PHONE = ("Mum can't hear me on the phone", "Ask her to switch on speaker and turn the call volume up.")
DOOR = ("the door doesn't close properly since it rained", "Plane a little off the top edge.")
STARTER = ("sourdough starter isn't rising", "Feed it twice a day with rye and keep it at 26 degrees.")
CAT = (
    "Our cat scratches the sofa arms to bits.",
    "Put a sisal post right beside the sofa and double sided tape on the arms.",
)


def kinds(tmp_path: Path, encoder: Embedder, talk: tuple[str, str], replies: Sequence[str]) -> list[list[str]]:
    """The kinds of the anchors of each reply; "|" begins a session nine days later, "<" what the assistant says."""
    session = 0
    found: list[list[str]] = []
    with LongTermMemory.open(tmp_path / "store", embedder=encoder, timezone="UTC") as memory:
        for n, words in enumerate((talk[0], f"<{talk[1]}", *replies)):
            if words == "|":
                session += 1
                continue
            role: Role = "assistant" if words.startswith("<") else "user"
            at = BEGIN + timedelta(days=9 * session, minutes=n)
            said = Message(role=role, content=words.removeprefix("<"), at=at)
            seen = memory.observe(user_id="u", session_id=f"s{session}", messages=[said])
            if n > 1 and role == "user":
                found.append([str(a.kind) for a in seen.anchors])
    return found


@pytest.mark.parametrize(
    "words",
    [
        "Puff some graphite powder into the keyway rather than oil.",
        "Ping the app every 20 minutes.",
        "Declutter first, then dust from the top down.",
        "If the edge is wet, sand it once it is dry.",
        "Don't water it so often.",
        "White noise often helps.",
        "A new gasket should fix that.",
        "Let the dough rise longer in a warm place.",
        "A wool ball in the drum would keep the duvet from clumping.",
        "A pan of lentil soup would stretch to twelve.",
        "The best fix is a drop of oil on the hinge.",
        "One option is to freeze the dough in portions.",
    ],
)
def test_an_order_or_a_remedy_is_a_proposal(words: str) -> None:
    assert is_proposal(words, default_lexicon())


@pytest.mark.parametrize(
    "words",
    [
        "Got it, thanks for telling me.",
        "Lovely, what breed is she?",
        "Congratulations to both of you!",
        "Noted, Ms Bello.",
    ],
)
def test_small_talk_of_the_assistant_is_none(words: str) -> None:
    assert not is_proposal(words, default_lexicon())


@pytest.mark.parametrize(
    ("talk", "replies"),
    [
        (RADIATOR, ["bled it, red hot now"]),
        (RADIATOR, ["Result! It's warm top to bottom"]),
        (RADIATOR, ["Job done, ta"]),
        (WATCHER, ["excluded them and it flies now"]),
        (WATCHER, ["working like a dream"]),
        (GNOCCHI, ["They came out like little pillows!"]),
        (GNOCCHI, ["|", "made them again tonight, letting them steam dry was the key"]),
        (KEYBOARD, ["moved it. no more double letters"]),
        (PHONE, ["she can hear me!"]),
        (DOOR, ["it closes now"]),
        (STARTER, ["will try", "<Let me know.", "|", "starter doubled, twice a day with rye is perfect"]),
        (CAT, ["|", "Cat update: she only uses the post now, hasn't touched the sofa."]),
        (CAT, ["|", "That sorted it, thank you so much"]),
        (CAT, ["|", "The sisal post idea is genius. No scratches four nights running"]),
        # settled on, or praised for what came of it
        (GNOCCHI, ["Perfect, that's the one we'll use."]),
        (CAT, ["Agreed, we'll do it exactly like that."]),
        (CAT, ["Deal, that's how I'll do it."]),
        (GNOCCHI, ["I like it, let's take that one."]),
        (DOOR, ["Your hunch was spot on!"]),
        (CAT, ["Fine by me, go ahead with that."]),
        (
            RADIATOR,
            ["ok", "<Mind your hands, don't touch the pipe.", "|", "bled it with the key like you said, warm again"],
        ),
    ],
)
def test_what_came_of_a_proposal_confirms_it(
    tmp_path: Path, encoder: Embedder, talk: tuple[str, str], replies: list[str]
) -> None:
    assert "confirmation" in kinds(tmp_path, encoder, talk, replies)[-1]


@pytest.mark.parametrize(
    ("talk", "reply"),
    [
        # thanks and praise, before anything was tried
        (RADIATOR, "good shout, cheers"),
        (RADIATOR, "Gotcha, that's useful to know"),
        (RADIATOR, "Ah right, that'd explain it"),
        (RADIATOR, "lovely, thanks for the help"),
        (WATCHER, "Thanks, you're a star"),
        (WATCHER, "nice one, never knew that about watchers"),
        (GNOCCHI, "yum, sounds good"),
        # it did not help
        (RADIATOR, "No change I'm afraid"),
        (GNOCCHI, "mush again, sigh"),
        (STARTER, "I followed your advice and it got worse."),
        (CAT, "That's what I was afraid of."),
        (CAT, "That's an option, I suppose."),
        (WATCHER, "Done, still hangs"),
        # what is promised, supposed or not there
        (CAT, "ooh clever, I'll find a post"),
        (CAT, "haha that cat of mine would eat the tape"),
        (KEYBOARD, "there's no front port on this one"),
        # what did not go goes elsewhere, or did before
        (PHONE, "she could hear me on the last one though"),
        (DOOR, "should I sand it after"),
    ],
)
def test_thanks_promises_and_failures_confirm_nothing(
    tmp_path: Path, encoder: Embedder, talk: tuple[str, str], reply: str
) -> None:
    assert kinds(tmp_path, encoder, talk, [reply]) == [[]]


def test_praise_of_an_offer_to_choose_is_a_yes(tmp_path: Path, encoder: Embedder) -> None:
    offer = ("When could we meet about the roof?", "How about Thursday at 3 in the small meeting room?")
    assert "confirmation" in kinds(tmp_path, encoder, offer, ["Perfect, that works for us."])[0]


def test_news_of_another_day_is_no_reply(tmp_path: Path, encoder: Embedder) -> None:
    phone = ("my phone is a Nokia G42, it keeps hanging", "Clearing the cache may help a bit.")
    said = kinds(tmp_path, encoder, phone, ["|", "The Nokia finally died. Dad gave me a Pixel so I'm using that."])
    assert "confirmation" not in said[0]
