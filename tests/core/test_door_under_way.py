"""What is still being written when something is erased, paused or replaced."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ltm_core import ConflictError, LongTermMemory
from ltm_core.testing.clock import Clock

START, TICK = datetime(2025, 6, 2, 10, tzinfo=UTC), timedelta(microseconds=10)
WHO: dict[str, Any] = {"user_id": "ana", "session_id": "s"}


class Gated:
    """An embedder that can be held while something else happens."""

    name, dimension, max_tokens = "gated", 8, 100

    def __init__(self) -> None:
        self.hold = False
        self.reached, self.go = threading.Event(), threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.hold and threading.current_thread() is not threading.main_thread():
            self.reached.set()
            assert self.go.wait(10)
        rows: NDArray[np.float32] = np.full((len(texts), 8), 8**-0.5, dtype=np.float32)
        return rows

    def embed_query(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.embed_documents([text])[0]
        return row


def turns(memory: LongTermMemory) -> list[str]:
    return [m.content for m in memory.messages(user_id="ana")]


def objects(memory: LongTermMemory) -> set[str]:
    return {f.object for f in memory.facts(user_id="ana")}


FORGET: dict[str, Callable[[LongTermMemory], Any]] = {
    "user": lambda m: m.forget_user("ana"),
    "session": lambda m: m.forget_session("s", user_id="ana"),
    "matching": lambda m: m.forget_matching("oboe-xyz", user_id="ana", dry_run=False),
}


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("what", FORGET)
def test_what_is_under_way_is_refused_and_a_new_call_is_stored(tmp_path: Path, what: str, frozen: bool) -> None:
    embedder, clock = Gated(), Clock(START, TICK)
    with LongTermMemory.open(tmp_path / "s", embedder=embedder, clock=clock, timezone="UTC") as memory:
        memory.observe(**WHO, user="hello")
        if frozen:
            clock.step = timedelta(0)
        embedder.hold = True
        late = threading.Thread(target=lambda: memory.observe(**WHO, user="My secret is OBOE-XYZ."))
        late.start()
        assert embedder.reached.wait(10)
        FORGET[what](memory)
        embedder.go.set()
        late.join()
        assert turns(memory) == (["hello"] if what == "matching" else [])
        memory.observe(**WHO, user="My secret is OBOE-XYZ.")
        assert turns(memory)[-1] == "My secret is OBOE-XYZ."


def test_other_words_under_way_are_kept(tmp_path: Path) -> None:
    embedder = Gated()
    with LongTermMemory.open(tmp_path / "s", embedder=embedder, clock=Clock(START, TICK), timezone="UTC") as memory:
        memory.observe(**WHO, user="I play the oboe.")
        embedder.hold = True
        late = threading.Thread(target=lambda: memory.observe(**WHO, user="I live in Porto."))
        late.start()
        assert embedder.reached.wait(10)
        memory.forget_matching("oboe", user_id="ana", dry_run=False)
        embedder.go.set()
        late.join()
        assert objects(memory) == {"Porto"} and turns(memory)[-1] == "I live in Porto."


def test_a_note_under_way_is_refused(tmp_path: Path) -> None:
    embedder, errors = Gated(), list[Exception]()
    with LongTermMemory.open(tmp_path / "s", embedder=embedder, clock=Clock(START, TICK), timezone="UTC") as memory:
        memory.observe(**WHO, user="hello")
        embedder.hold = True

        def remember() -> None:
            try:
                memory.remember("the kestrel flies at noon", user_id="ana")
            except ConflictError as e:
                errors.append(e)

        late = threading.Thread(target=remember)
        late.start()
        assert embedder.reached.wait(10)
        memory.forget_user("ana")
        embedder.go.set()
        late.join()
        assert len(errors) == 1 and "kestrel" not in str(errors[0]) and objects(memory) == set()


TALK = [
    {"role": role, "content": words}
    for role, words in (("user", "hello"), ("assistant", "hi"), ("user", "weather?"), ("assistant", "sunny"))
]


def test_a_pause_stops_what_is_under_way(tmp_path: Path) -> None:
    embedder = Gated()
    with LongTermMemory.open(tmp_path / "s", embedder=embedder, clock=Clock(START, TICK), timezone="UTC") as memory:
        embedder.hold = True
        late = threading.Thread(target=lambda: memory.observe(**WHO, user="I live in Porto."))
        late.start()
        assert embedder.reached.wait(10)
        memory.pause("ana")
        embedder.go.set()
        late.join()
        assert turns(memory) == []


def test_replacing_keeps_a_turn_that_arrived_meanwhile(tmp_path: Path) -> None:
    embedder = Gated()
    with LongTermMemory.open(tmp_path / "s", embedder=embedder, clock=Clock(START, TICK), timezone="UTC") as memory:
        memory.observe(**WHO, messages=TALK)
        embedder.hold = True
        late = threading.Thread(
            target=lambda: memory.replace_messages([*TALK[:2], {"role": "user", "content": "next"}], **WHO)
        )
        late.start()
        assert embedder.reached.wait(10)
        memory.observe(**WHO, user="meanwhile")
        embedder.go.set()
        late.join()
        shown = {m.content for m in memory.messages(**WHO, window_only=True)}
        assert shown == {"hello", "hi", "next", "meanwhile"}
