"""English clauses that say that something known, and replaced, is so again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm_core.embed.base import Embedder
from ltm_core.embed.resolve import resolve_embedder
from tests.core.test_write_en_old_stories import current


@pytest.fixture(scope="module")
def encoder() -> Embedder:
    return resolve_embedder(None)


@pytest.mark.parametrize(
    ("first", "then", "back", "holds", "over"),
    [
        (
            "Our package manager is pnpm.",
            "The team changed the package manager to Yarn.",
            "It didn't work out, so our package manager is pnpm again.",
            "pnpm",
            "Yarn",
        ),
        (
            "Choir practice is in the church hall.",
            "Choir practice has moved to the library.",
            "The repairs are done, so choir practice is in the church hall once more.",
            "church hall",
            "library",
        ),
        (
            "I'm a vegetarian.",
            "I eat meat these days.",
            "Right, I've gone back to being a vegetarian and intend to stay one.",
            "vegetarian",
            "eat meat",
        ),
        (
            "I'm on the annual plan.",
            "I changed my subscription to the month-to-month plan.",
            "You can see that I'm on the annual plan again.",
            "annual plan",
            "month-to-month",
        ),
        (
            "My standing desk is in the spare room.",
            "My standing desk is in the lounge now.",
            "My standing desk is in the spare room once more.",
            "spare room",
            "lounge",
        ),
        (
            "Our default branch is main.",
            "Our default branch is now trunk.",
            "Everyone grumbled, so our default branch is main again.",
            "main",
            "trunk",
        ),
        (
            "I walk to school.",
            "I take the bus to school now.",
            "The weather is better and I walk to school again.",
            "walk",
            "bus",
        ),
        (
            "I have tea in the morning.",
            "I have coffee in the morning now.",
            "I'm back to having tea in the morning.",
            "tea",
            "coffee",
        ),
    ],
)
def test_it_is_so_again(
    tmp_path: Path, encoder: Embedder, first: str, then: str, back: str, holds: str, over: str
) -> None:
    known = current(tmp_path, encoder, [first, then, back])
    assert holds in known
    assert over not in known


@pytest.mark.parametrize(
    ("first", "then", "words", "holds"),
    [
        (
            "Choir practice is in the church hall.",
            "Choir practice has moved to the library.",
            "I'd love it if choir practice were in the church hall again.",
            "library",
        ),
        (
            "Choir practice is in the church hall.",
            "Choir practice has moved to the library.",
            "Choir practice might be in the church hall again next year.",
            "library",
        ),
        (
            "Choir practice is in the church hall.",
            "Choir practice has moved to the library.",
            "Is choir practice in the church hall again?",
            "library",
        ),
        (
            "Choir practice is in the church hall.",
            "Choir practice has moved to the library.",
            "I walked past the church hall again.",
            "library",
        ),
        ("Our package manager is pnpm.", "Our package manager is Yarn now.", "Yarn is broken again.", "Yarn"),
        ("Our package manager is pnpm.", "Our package manager is Yarn now.", "I read about pnpm again.", "Yarn"),
        ("I live in Whitby.", "I've moved to Bristol.", "I was in Whitby again last week.", "Bristol"),
        ("I live in Whitby.", "I've moved to Bristol.", "I dreamt I lived in Whitby again.", "Bristol"),
        ("I'm a vegetarian.", "I eat meat these days.", "My sister is a vegetarian again.", "meat"),
        ("I'm a vegetarian.", "I eat meat these days.", "I won't be a vegetarian again.", "meat"),
        ("I walk to school.", "I take the bus to school now.", "He walks to school again.", "bus"),
        ("I walk to school.", "I take the bus to school now.", "I plan to walk to school again.", "bus"),
        (
            "My usual seat is by the window.",
            "My usual seat is by the door now.",
            "Someone broke the window by the door again.",
            "door",
        ),
        ("I work at Delta.", "I work at JetBlue now.", "I flew with Delta again.", "JetBlue"),
    ],
)
def test_what_is_only_thought_of_or_happens_once_more_is_not(
    tmp_path: Path, encoder: Embedder, first: str, then: str, words: str, holds: str
) -> None:
    assert holds in current(tmp_path, encoder, [first, then, words])
