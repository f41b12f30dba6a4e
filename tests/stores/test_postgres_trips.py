"""How often a call waits for the server: between two machines that is what a call takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory

pytest.importorskip("psycopg")
from ltm_core.store.postgres.session import Line

pytestmark = pytest.mark.servers


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often answers were waited for so far, on all connections."""
    lines: list[Line] = []
    begin = Line.begin_pipeline

    def begun(self: Line) -> None:
        lines.append(self)
        begin(self)

    monkeypatch.setattr(Line, "begin_pipeline", begun)
    return lambda: sum(line.waits for line in lines)


@pytest.fixture
def memory(waited: Any, postgres_url: str, tmp_path: Path) -> Iterator[LongTermMemory]:
    place = f"{postgres_url}?partitions=2&key_file={tmp_path / 'store.key'}"
    with LongTermMemory.open(place, embedder="none", timezone="UTC") as memory:
        for number in range(3):
            memory.observe(user_id="ana", session_id="s", user=f"I love tea number {number}.", assistant="Fine.")
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.")
        yield memory


def said(memory: LongTermMemory, text: str) -> Any:
    return memory.observe(user_id="ana", session_id="s", user=text)


def asked(memory: LongTermMemory) -> Any:
    return memory.context("Where do I live?", user_id="ana", session_id="s")


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (lambda m: said(m, "The train was late again this morning."), 9),
        (lambda m: said(m, "I work at Acme."), 14),
        (lambda m: said(m, "My sister is called Marta."), 16),
        (lambda m: said(m, "I moved to Lisbon."), 15),
        (asked, 13),
        (lambda m: (asked(m), asked(m))[1], 14),
        (lambda m: m.search("tea", user_id="ana"), 11),
    ],
    ids=[
        "a turn",
        "with a fact",
        "with one about a relative",
        "that changes one",
        "a question",
        "the question again",
        "a search",
    ],
)
def test_a_call_waits_a_few_times(
    memory: LongTermMemory, waited: Callable[[], int], call: Callable[[LongTermMemory], Any], most: int
) -> None:
    before = waited()
    call(memory)
    assert 0 < waited() - before <= most


def test_a_read_does_not_wait_for_its_end_and_a_write_once_for_all_it_writes(
    memory: LongTermMemory, waited: Callable[[], int]
) -> None:
    store = memory._runtime.store
    before = waited()
    with store.read("ana") as reader:
        assert reader.user() is not None
    assert waited() - before == 1
    with store.write("ana") as writer:
        writer.set_user(timezone="Europe/Lisbon")
        writer.set_user(timezone="UTC")
    assert waited() - before == 3
