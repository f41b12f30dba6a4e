"""What cannot be taken raises an error of the promised tree, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ltm_core import InvalidInputError, InvalidTimeError, LongTermMemory

U: dict[str, Any] = {"user_id": "ana"}
S: dict[str, Any] = {"user_id": "ana", "session_id": "s"}
DAWN = "0001-01-01T00:00:00+00:00"
DUSK = "9999-12-31T23:59:59+00:00"
LONG = "9" * 200
CALLS: list[tuple[str, Callable[[LongTermMemory], Any]]] = [
    ("observe ttl", lambda m: m.observe(**S, user="x", ttl=1e12)),
    ("observe ttl nan", lambda m: m.observe(**S, user="x", ttl=float("nan"))),
    ("observe ttl text", lambda m: m.observe(**S, user="x", ttl="60")),  # type: ignore[arg-type]
    ("slot ttl", lambda m: m.set_slot("n", 1, **S, ttl=1e12)),
    ("slot ttl far", lambda m: m.set_slot("n", 1, **S, ttl=2.52e11)),
    ("facts cursor", lambda m: m.facts(**U, cursor=LONG)),
    ("facts cursor 5", lambda m: m.facts(**U, cursor=5)),  # type: ignore[arg-type]
    ("facts cursor 2^63", lambda m: m.facts(**U, cursor=str(2**63 - 1))),
    ("messages cursor", lambda m: m.messages(**U, cursor=LONG)),
    ("messages cursor .", lambda m: m.messages(**U, cursor=f"1.{LONG}")),
    ("messages cursor 5", lambda m: m.messages(**U, cursor=5)),  # type: ignore[arg-type]
    ("changes since", lambda m: m.changes(**U, since=LONG)),
    ("changes since 5", lambda m: m.changes(**U, since=5)),  # type: ignore[arg-type]
    ("changes since digits", lambda m: m.changes(**U, since="٣")),
    ("sessions cursor 5", lambda m: m.sessions(**U, cursor=5)),  # type: ignore[arg-type]
    ("facts subject", lambda m: m.facts(**U, subject=5)),  # type: ignore[arg-type]
    ("history", lambda m: m.history(5, **U)),  # type: ignore[arg-type]
    ("history surrogate", lambda m: m.history("\ud800", **U)),
    ("restore", lambda m: m.restore(5, **U)),  # type: ignore[arg-type]
    ("suppress", lambda m: m.suppress(None, **U)),  # type: ignore[arg-type]
    ("unsuppress", lambda m: m.unsuppress(b"x", **U)),  # type: ignore[arg-type]
    ("correct right", lambda m: m.correct(**U, wrong="x", right=5)),  # type: ignore[arg-type]
    ("correct wrong", lambda m: m.correct(**U, wrong=5, right="x")),  # type: ignore[arg-type]
    ("correct fact_id", lambda m: m.correct(**U, fact_id=5, right="x")),  # type: ignore[arg-type]
    ("observe messages", lambda m: m.observe(**S, messages=5)),  # type: ignore[arg-type]
    ("replace_messages", lambda m: m.replace_messages(5, **S)),  # type: ignore[arg-type]
    ("delete_messages", lambda m: m.delete_messages("m1", **S)),
    ("delete_messages 5", lambda m: m.delete_messages([5], **S)),  # type: ignore[list-item]
    ("tags", lambda m: m.remember("I live in Porto.", **U, tags="abc")),
    ("tags 5", lambda m: m.remember("I live in Porto.", **U, tags=5)),  # type: ignore[arg-type]
    ("tags of numbers", lambda m: m.remember("I live in Porto.", **U, tags=[5])),  # type: ignore[list-item]
    ("assert_fact text", lambda m: m.assert_fact("a", "b", "c", **U, source="s", text=5)),  # type: ignore[arg-type]
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path_factory.mktemp("store"), embedder="none", timezone="UTC") as opened:
        yield opened


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[n for n, _ in CALLS])
def test_what_cannot_be_taken_is_refused(
    memory: LongTermMemory, name: str, call: Callable[[LongTermMemory], Any]
) -> None:
    with pytest.raises(InvalidInputError):
        call(memory)
    assert memory.stats().users == 0


@pytest.mark.parametrize("at", [DAWN, DUSK])
def test_the_ends_of_the_calendar_are_refused(memory: LongTermMemory, at: str) -> None:
    zone = "America/New_York" if at == DAWN else "Asia/Tokyo"
    calls: list[Callable[[], Any]] = [
        lambda: memory.observe(**S, user="I moved last year.", at=at, timezone=zone),
        lambda: memory.context("x", **U, at=at, timezone=zone),
        lambda: memory.search("x", **U, at=at, timezone=zone),
        lambda: memory.remember("I live in Porto.", **U, at=at, timezone=zone),
        lambda: memory.maintain(at),
    ]
    for call in calls:
        with pytest.raises(InvalidTimeError):
            call()
    assert memory.stats().users == 0


@pytest.mark.parametrize("at", ["0002-01-01T00:00:00+00:00", "9998-12-31T23:59:59+00:00"])
def test_far_times_inside_the_calendar_are_taken(tmp_path: Path, at: str) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder="none", timezone="America/New_York") as memory:
        memory.observe(**S, user="I moved to Porto last year and go to Rome next year.", at=at)
        memory.context("Where was I ten years ago?", **U, at=at)
        assert len(memory.messages(**U).items) == 1


def test_pages_still_follow_their_cursors(tmp_path: Path) -> None:
    with LongTermMemory.open(tmp_path / "s", embedder="none", timezone="UTC") as memory:
        for i in range(5):
            memory.observe(user_id="ana", session_id=f"s{i}", user=f"I like thing{i}.", at=f"19{60 + 3 * i}-05-01")
        for pages in (memory.facts(**U, limit=2), memory.messages(**U, limit=2), memory.changes(**U, limit=2)):
            assert len(list(pages)) == 5
        assert len(list(memory.sessions(**U, limit=2))) == 5
