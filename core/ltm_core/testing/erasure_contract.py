"""Erased means gone: from every byte of every file, from every process, for good, whichever way it was asked for.

class TestMine(ErasureContract):
    def opened(self, place, clock, new_id, **options) -> LongTermMemory: ...   # opens the memory of a place
    def files(self, place) -> list[Path]: ...                                  # where its bytes are
    def settle(self, memory) -> None: ...                                      # every index has heard of everything
    def finish(self, memory, is_clean) -> None: ...                            # what an erasure left for later

Vectors count as bytes of what was said: those of the erased words are looked for too, as a store and as an index
write them.
"""

from __future__ import annotations

import json
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_core.ids import new_uuid7
from ltm_core.memory import LongTermMemory
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder
from ltm_core.testing.isolation_contract import Opening
from ltm_core.types import Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SECRET = "Zqkestrelport"
ASKED = "Where do I live?"
T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
_OTHERS = 12


class Recording(HashEmbedder):
    """Keeps the vectors of every text that holds the secret."""

    def __init__(self) -> None:
        super().__init__()
        self.secret: list[NDArray[np.float32]] = []

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = super().embed_documents(texts)
        self.secret += [row for row, text in zip(rows, texts, strict=True) if SECRET in text]
        return rows


def tell(memory: LongTermMemory) -> None:
    """The user says the secret in every way there is; somebody else says other things."""
    memory.observe(
        user_id="ana",
        session_id="s1",
        messages=[
            Message(role="user", content=f"I live in {SECRET}.", id="m1"),
            Message(role="assistant", content=f"Noted: {SECRET}.", id="m2"),
        ],
        # More than a page holds.
        metadata={"seen": f"{SECRET} " * 400},
    )
    memory.set_slot("town", SECRET, user_id="ana", session_id="s1")
    memory.put_document(("notes",), "k", {"text": f"the bridge of {SECRET}"}, user_id="ana")
    memory.observe(user_id="ana", session_id="s2", user="My dog is called Rex.", message_id="m3")
    for i in range(_OTHERS):
        memory.observe(user_id="ben", session_id="s1", user=f"I live in Town{i}. I love tea number {i}.")


def _by_fact(memory: LongTermMemory, sources: Any) -> bool:
    (fact,) = memory.facts(user_id="ana", relation="lives_in")
    return memory.forget(fact.id, user_id="ana", sources=sources).bytes_clean


def _by_edit(memory: LongTermMemory) -> bool:
    for id, text in (("m1", "I live in Faro."), ("m2", "Noted.")):
        role: dict[str, Any] = {"user" if id == "m1" else "assistant": text}
        memory.observe(user_id="ana", session_id="s1", message_id=id, **role)
    return _by_rest(memory)


def _by_rest(memory: LongTermMemory) -> bool:
    """What an erasure of turns does not reach is asked for by name."""
    memory.forget_matching(SECRET, user_id="ana", dry_run=False)
    memory.set_slot("town", "none", user_id="ana", session_id="s1")
    memory.delete_document(("notes",), "k", user_id="ana")
    memory.maintain()
    return memory.stats().jobs == 0


def _by_messages(memory: LongTermMemory) -> bool:
    return memory.delete_messages(["m1", "m2"], user_id="ana", session_id="s1") == 2 and _by_rest(memory)


def _by_words(memory: LongTermMemory) -> bool:
    memory.observe(user_id="ana", session_id="s2", user=f"Please forget that I live in {SECRET}.")
    return _by_rest(memory)


WAYS: dict[str, Callable[[LongTermMemory], bool]] = {
    "a user": lambda memory: memory.forget_user("ana").bytes_clean,
    # Each part is done, whatever the one before said of bytes.
    "a session": lambda memory: all([memory.forget_session("s1", user_id="ana").bytes_clean, _by_rest(memory)]),
    "a fact and its sources": lambda memory: all([_by_fact(memory, "delete"), _by_rest(memory)]),
    "a fact, sources masked": lambda memory: all([_by_fact(memory, "redact"), _by_rest(memory)]),
    "words": lambda memory: _by_rest(memory),
    "messages": _by_messages,
    "an edit": _by_edit,
    "in the chat": _by_words,
}


class ErasureContract:
    """Inherited by every kind of store and index."""

    def opened(self, place: Path, clock: Clock, new_id: Callable[[], str], /, **options: Any) -> LongTermMemory:
        """The default store, with an embedder that needs no model."""
        return default(place, clock, new_id, **options)

    def files(self, place: Path) -> list[Path]:
        """Folders of which no byte may tell."""
        return [place]

    def settle(self, memory: LongTermMemory) -> None:
        """Every index has heard of everything."""

    def finish(self, memory: LongTermMemory, is_clean: bool) -> None:
        """The erasure said whether every byte was overwritten; where that is for later, it is done now."""
        assert is_clean

    def _open(self, place: Path, embedder: HashEmbedder | None = None, later: int = 0) -> LongTermMemory:
        clock = Clock(T0 + timedelta(days=later), timedelta(seconds=1))
        return self.opened(place, clock, new_uuid7, embedder=embedder or HashEmbedder())

    @pytest.mark.parametrize("way", WAYS)
    def test_no_byte_is_left_then_or_after_a_restart(self, tmp_path: Path, way: str) -> None:
        place, embedder = tmp_path / "data", Recording()
        with self._open(place, embedder) as memory:
            tell(memory)
            self.settle(memory)
            needles = forms(embedder.secret)
            seen = found(self.files(place), needles)
            assert {"text", "float16"} <= seen, seen
            self.finish(memory, WAYS[way](memory))
            self.settle(memory)
            assert found(self.files(place), needles) == set()
            self._is_gone(memory)
            replay = memory.observe(user_id="ana", session_id="s1", user=f"I live in {SECRET}.", message_id="m1")
            assert way == "an edit" or [m.status for m in replay.messages] == ["erased"]
            if way != "an edit":
                self._is_gone(memory)
        assert way == "an edit" or found(self.files(place), needles) == set()
        with self._open(place, later=1) as memory:
            self.settle(memory)
            assert memory.doctor().healthy
            assert way == "an edit" or found(self.files(place), needles) == set()
            assert len(list(memory.messages(user_id="ben"))) == _OTHERS

    def test_a_process_that_was_open_all_along_sees_nothing(self, tmp_path: Path) -> None:
        place = tmp_path / "data"
        with self._open(place) as memory:
            tell(memory)
            self.settle(memory)
            context = multiprocessing.get_context("spawn")
            mine, theirs = context.Pipe()
            child = context.Process(target=ask_twice, args=(place, _pickled(self.opened), theirs))
            child.start()
            assert SECRET in mine.recv()
            memory.forget_user("ana")
            mine.send("again")
            assert SECRET not in mine.recv()
            child.join(60)
            assert child.exitcode == 0

    def _is_gone(self, memory: LongTermMemory) -> None:
        assert SECRET not in memory.context(ASKED, user_id="ana", session_id="s1").text
        assert not [h for h in memory.search(SECRET, user_id="ana") if SECRET in h.text]
        assert not [line for line in memory.export_user("ana") if SECRET in line]


def default(place: Path, clock: Clock, new_id: Callable[[], str], /, **options: Any) -> LongTermMemory:
    """The default store."""
    return LongTermMemory.open(place, **{"timezone": "UTC", **options}, clock=clock, new_id=new_id)


def ask_twice(place: Path, opened: bytes, pipe: Connection) -> None:
    """In a process of its own: what is recalled, and what after the other side has said something."""
    opener: Opening = pickle.loads(opened)
    with opener(place, Clock(T0 + timedelta(hours=1)), new_uuid7, embedder=HashEmbedder()) as memory:
        pipe.send(memory.context(ASKED, user_id="ana").text)
        pipe.recv()
        pipe.send(memory.context(ASKED, user_id="ana").text)


def _pickled(opened: Opening) -> bytes:
    return pickle.dumps(opened)


def forms(vectors: Sequence[NDArray[np.float32]]) -> dict[str, list[bytes]]:
    """The secret and its vectors in every form in which a file may hold them."""
    texts = (SECRET, SECRET.lower(), SECRET.upper())
    return {
        "text": [t.encode(c) for t in texts for c in ("utf-8", "utf-16-le", "utf-16-be")],
        "float16": [v.astype("<f2").tobytes() for v in vectors if v.any()],
        "float32": [v.astype("<f4").tobytes() for v in vectors if v.any()],
    }


def found(folders: Sequence[Path], needles: dict[str, list[bytes]]) -> set[str]:
    """The kinds of needles that some file holds, read by a process without locks to lose."""
    code = (
        "import json, pathlib, sys\n"
        "folders, needles = json.load(sys.stdin)\n"
        "data = [p.read_bytes() for f in folders for p in pathlib.Path(f).rglob('*') if p.is_file()]\n"
        "held = [k for k, n in needles.items() if any(bytes.fromhex(h) in d for h in n for d in data)]\n"
        "print(json.dumps(held))\n"
    )
    given = json.dumps([[str(f) for f in folders], {k: [n.hex() for n in ns] for k, ns in needles.items()}])
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


__all__ = ["SECRET", "ErasureContract", "ask_twice", "forms", "found"]
