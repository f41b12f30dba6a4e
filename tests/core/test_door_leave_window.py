"""Single turns that leave a session's window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ltm_core import LongTermMemory
from ltm_core.errors import InvalidInputError

S: dict[str, Any] = {"user_id": "ana", "session_id": "s"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path, embedder="none", timezone="UTC") as opened:
        yield opened


def window(memory: LongTermMemory, **who: str) -> list[str]:
    return [m.content for m in memory.messages(**{**S, **who}, window_only=True)]


def test_named_turns_leave_and_the_others_stay(memory: LongTermMemory) -> None:
    for n, text in enumerate(("I live in Porto.", "我是素食者。", "Hello.")):
        memory.observe(**S, user=text, message_id=f"m{n}")
    assert memory.clear_window(**S, message_ids=["m0", "m2", "no such id"]) == 2
    assert window(memory) == ["我是素食者。"]
    assert memory.clear_window(**S, message_ids=["m0"]) == 0
    assert memory.clear_window(**S, message_ids=[]) == 0
    assert len(memory.messages(user_id="ana")) == 3
    assert len(memory.facts(user_id="ana")) == 2
    assert memory.clear_window(**S) == 1


def test_turns_of_others_do_not_leave(memory: LongTermMemory) -> None:
    memory.observe(user_id="ana", session_id="t", user="Hello.", message_id="m")
    memory.observe(user_id="ben", session_id="s", user="Hello.", message_id="n")
    assert memory.clear_window(**S, message_ids=["m", "n"]) == 0
    assert window(memory, session_id="t") == ["Hello."]
    assert window(memory, user_id="ben") == ["Hello."]


@pytest.mark.parametrize("bad", ["m0", 7, [7], [None]])
def test_what_is_no_list_of_ids_is_refused(memory: LongTermMemory, bad: object) -> None:
    with pytest.raises(InvalidInputError):
        memory.clear_window(**S, message_ids=bad)  # type: ignore[arg-type]
