"""An edited message: what its old words had changed is as before, and it takes what came with the new words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory
from ltm_core.testing.clock import Clock

START = datetime(2025, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "store", embedder="none", clock=clock, timezone="UTC") as opened:
        yield opened


def say(memory: LongTermMemory, words: str, id: str | None = None, **options: Any) -> list[str]:
    seen = memory.observe(user_id="ana", session_id="s", user=words, message_id=id, **options)
    return [c.op for c in seen.changes]


def current(memory: LongTermMemory, as_of: datetime | None = None) -> list[str]:
    return [f.object for f in memory.facts(user_id="ana", as_of=as_of)]


def test_a_withdrawn_change_is_undone(memory: LongTermMemory) -> None:
    say(memory, "I live in Leeds.")
    say(memory, "I moved to Porto.", "m")
    assert say(memory, "I want to see Porto.", "m") == ["retract", "restore"]
    assert current(memory) == ["Leeds"]
    (leeds,) = memory.facts(user_id="ana")
    assert leeds.valid_to is None and leeds.superseded_by is None


def test_a_changed_change_closes_the_first_value_again(memory: LongTermMemory) -> None:
    say(memory, "I live in Leeds.")
    say(memory, "I moved to Porto.", "m")
    say(memory, "I moved to Lisbon.", "m")
    assert current(memory) == ["Lisbon"]
    lisbon = memory.facts(user_id="ana").items[0]
    assert [f.object for f in memory.history(lisbon.id, user_id="ana")] == ["Leeds", "Lisbon"]


def test_a_withdrawn_change_in_the_middle_leaves_no_gap(memory: LongTermMemory, clock: Clock) -> None:
    say(memory, "I live in Leeds.")
    say(memory, "I moved to Porto.", "m")
    middle = clock.now
    clock.now += timedelta(days=1)
    say(memory, "I moved to Oslo.")
    say(memory, "I want to see Porto.", "m")
    assert current(memory) == ["Oslo"] and current(memory, middle) == ["Leeds"]


def test_a_withdrawn_correction_is_undone(memory: LongTermMemory) -> None:
    say(memory, "My name is Anna.")
    say(memory, "Correction: my name is Ana.", "m")
    assert current(memory) == ["Ana"]
    say(memory, "Where is Rome?", "m")
    assert current(memory) == ["Anna"]


def test_a_correction_by_hand_stays(memory: LongTermMemory) -> None:
    say(memory, "I like coffee.")
    say(memory, "I like tea.", "m")
    memory.correct(wrong="coffee", right="tea", user_id="ana")
    say(memory, "Where is Rome?", "m")
    assert "coffee" not in current(memory)


def test_an_edit_takes_what_comes_with_it(memory: LongTermMemory, clock: Clock) -> None:
    say(memory, "I like tea.", "m", metadata={"a": 1}, doc_type="note")
    say(memory, "I like tea. I live in Porto.", "m", metadata={"a": 2}, doc_type="minutes", ttl=60)
    (row,) = memory.messages(user_id="ana")
    assert (row.metadata, row.doc_type) == ({"a": 2}, "minutes")
    facts = list(memory.facts(user_id="ana"))
    assert [(f.object, f.metadata, f.doc_type) for f in facts] == [
        ("tea", {"a": 2}, "minutes"), ("Porto", {"a": 2}, "minutes")
    ]  # fmt: skip
    clock.now += timedelta(seconds=61)
    assert current(memory) == [] and memory.maintain().items_expired == 3


def test_an_edit_without_them_keeps_what_there_was(memory: LongTermMemory, clock: Clock) -> None:
    say(memory, "I like tea.", "m", metadata={"a": 1}, doc_type="note", ttl=60)
    say(memory, "I live in Porto.", "m")
    (row,) = memory.messages(user_id="ana")
    assert (row.metadata, row.doc_type) == ({"a": 1}, "note")
    assert current(memory) == ["Porto"] and memory.facts(user_id="ana").items[0].doc_type == "note"
    clock.now += timedelta(seconds=61)
    assert current(memory) == []
    memory.maintain()
    assert list(memory.messages(user_id="ana")) == []
