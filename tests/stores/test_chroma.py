"""Chroma as an index: it answers as the store does, and is thrown away whenever it is in doubt."""

from __future__ import annotations

import platform
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("chromadb")

from ltm_core import ConfigError, LongTermMemory, UnavailableError
from ltm_core.cli import app
from ltm_core.store.sql.external import ExternalVectors
from ltm_core.store.sql.external_truth import page_of
from ltm_core.store.sqlite import SqliteStore
from ltm_core.testing.chroma import store_of
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder

pytestmark = pytest.mark.servers
CLOCK = Clock(datetime(2026, 3, 1, 9, tzinfo=UTC))
SOME = 40
"""Chunks from which a user is covered in these tests."""


# through the door -------------------------------------------------------------------------------------
def opened(path: Path, *, vectors: str = "chroma", at_least: int = SOME, **options: Any) -> LongTermMemory:
    given = {"embedder": HashEmbedder(), "timezone": "UTC", "clock": CLOCK, "external_vectors_from": at_least}
    return LongTermMemory.open(path, vectors=vectors, **{**given, **options})


def fill(memory: LongTermMemory, count: int = 60) -> None:
    for i in range(count):
        memory.observe(user_id="ana", session_id="s", user=f"Note {i}: the parcel {i * 37} stands at gate {i % 7}.")
    memory.observe(user_id="ben", session_id="s", user="I live in Porto.")


def covered(memory: LongTermMemory) -> list[int]:
    index = store_of(memory).core.attached.index
    assert isinstance(index, ExternalVectors)
    return sorted(index._open)


def settled(memory: LongTermMemory) -> LongTermMemory:
    """Nothing is left to tell, whoever told it."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with store_of(memory).connection() as conn:
            waiting = conn.execute("SELECT count(*) FROM outbox").fetchone()[0]
            large = conn.execute("SELECT count(*) FROM users WHERE chunk_count >= ?", (SOME,)).fetchone()[0]
        if not waiting and len(covered(memory)) == large:
            return memory
        time.sleep(0.01)
    raise AssertionError("the index never caught up")


def hits(memory: LongTermMemory, query: str = "parcel 740") -> list[Any]:
    return [(h.text, round(h.similarity or 0, 4)) for h in memory.search(query, user_id="ana", top_k=5)]


def vector_bytes(memory: LongTermMemory, words: str) -> bytes:
    """The float32 bytes of a stored turn's first vector, as an index holds them."""
    with store_of(memory).read("ana") as r:
        row = next(m for m in r.messages() if words in m.content)
        item = next(
            c for c, o in zip(r.snapshot().rows.item.tolist(), r.snapshot().rows.owner.tolist()) if o == row.item
        )
    with store_of(memory).connection() as conn:
        (blob,) = conn.execute("SELECT vector FROM vectors WHERE id & 4294967295 = ?", (item,)).fetchone()
    return np.frombuffer(blob, dtype="<f2").astype("<f4").tobytes()


def files_with(path: Path, data: bytes) -> list[str]:
    return [p.name for p in path.rglob("*") if p.is_file() and data in p.read_bytes()]


def test_a_large_user_is_found_as_by_exact_search_and_a_small_one_never_leaves_the_store(tmp_path: Path) -> None:
    with opened(tmp_path / "s") as memory:
        fill(memory)
        assert covered(settled(memory)) == [1]
        assert hits(memory) and memory.search("Where do I live?", user_id="ben")
        with store_of(memory).read("ana") as r:
            assert r.lean
        memory.observe(user_id="ana", session_id="s", user="The heron sleeps on the mast.")
        assert "heron" in memory.search("heron mast", user_id="ana")[0].text
        found = hits(memory, "parcel 741")
    with opened(tmp_path / "s", vectors="exact") as memory:
        assert hits(memory, "parcel 741") == found
    with opened(tmp_path / "s") as memory:
        assert covered(memory) == [1], "closed in order, opened again"
        assert "heron" in memory.search("heron mast", user_id="ana")[0].text
        assert memory.doctor().healthy


def test_a_second_process_searches_exactly_and_its_writes_arrive(tmp_path: Path) -> None:
    code = (
        "import sys; from ltm_core import LongTermMemory; from ltm_core.testing.embedders import HashEmbedder\n"
        f"m = LongTermMemory.open({str(tmp_path / 's')!r}, embedder=HashEmbedder(),"
        " timezone='UTC', vectors='chroma')\n"
        "m.observe(user_id='ana', session_id='s', user='The heron sleeps on the mast.')\n"
        "print(m.search('heron mast', user_id='ana')[0].text, m._runtime.store.core.attached.index.owned); m.close()"
    )
    with opened(tmp_path / "s") as memory:
        fill(memory)
        settled(memory)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert "heron" in done.stdout and done.stdout.strip().endswith("False")
        assert "heron" in memory.search("heron mast", user_id="ana")[0].text
        memory.maintain()
        with store_of(memory).connection() as conn:
            assert conn.execute("SELECT count(*) FROM outbox").fetchone() == (0,)


def test_what_was_not_closed_in_order_is_never_opened_again(tmp_path: Path) -> None:
    code = (
        "import os, signal, time\n"
        "from ltm_core import LongTermMemory; from ltm_core.testing.embedders import HashEmbedder\n"
        f"m = LongTermMemory.open({str(tmp_path / 's')!r}, embedder=HashEmbedder(), timezone='UTC', vectors='chroma',"
        f" external_vectors_from={SOME})\n"
        "for i in range(60): m.observe(user_id='ana', session_id='s', user=f'Note {i}: parcel {i * 37} is here.')\n"
        "while not m._runtime.store.core.attached.index._open: time.sleep(0.01)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    (dirty,) = (tmp_path / "s" / "chroma").iterdir()
    with opened(tmp_path / "s") as memory:
        assert not dirty.exists()
        assert covered(settled(memory)) == [1]
        assert hits(memory) and memory.doctor().healthy
        with store_of(memory).connection() as conn:
            (vectors,) = conn.execute("SELECT count(*) FROM vectors WHERE id < 2 << 32").fetchone()
        index = store_of(memory).core.attached.index
        assert isinstance(index, ExternalVectors) and len(index._open[1][1].items()) == vectors


def test_forgetting_leaves_no_vector_in_a_file(tmp_path: Path) -> None:
    with opened(tmp_path / "s") as memory:
        fill(memory)
        memory.observe(user_id="ana", session_id="t", user="The heron sleeps on the mast.", message_id="h")
        settled(memory)
        secret, other = vector_bytes(memory, "heron"), vector_bytes(memory, "Note 5:")
        assert files_with(tmp_path / "s" / "chroma", secret), "Chroma keeps vectors in its files"
        memory.forget_session("t", user_id="ana")
        assert files_with(tmp_path / "s" / "chroma", secret) == []
        settled(memory)
        assert files_with(tmp_path / "s" / "chroma", other) and files_with(tmp_path / "s" / "chroma", secret) == []
        assert all("heron" not in t for t, _ in hits(memory, "heron mast"))
        receipt = memory.forget_user("ana")
        assert receipt.bytes_clean and files_with(tmp_path / "s" / "chroma", other) == []
        assert list((tmp_path / "s" / "chroma").iterdir()) == [] and covered(memory) == []


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="tells another C library nothing")
def test_memory_that_was_freed_does_not_stand_in_the_files_of_a_new_index(tmp_path: Path) -> None:
    """The graph library writes what it allocated and has not filled."""
    code = (
        "import ctypes, sys, numpy as np\n"
        "from pathlib import Path; from ltm_core.store.chroma import LocalChroma\n"
        "ctypes.CDLL(None).mallopt(-3, 1 << 25)  # large blocks too come from what was freed\n"
        "ctypes.CDLL(None).mallopt(-6, 0x5A)  # which is filled with a byte that can be told\n"
        "made = LocalChroma(Path(sys.argv[1])).create('one')\n"
        "made.upsert([7, 8], np.eye(2, 64, dtype='f4')); print(made.query(np.eye(2, 64, dtype='f4')[1], 1))\n"
        "files = [p for p in Path(sys.argv[1]).rglob('*.bin') if p.name in ('data_level0.bin', 'length.bin')]\n"
        "print(len(files), sum(any(p.read_bytes()) for p in files)); made.close()"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[8]", "2", "0"]


def test_an_erasure_by_who_does_not_use_the_index_reaches_it(tmp_path: Path) -> None:
    with opened(tmp_path / "s") as memory:
        fill(memory)
        other = vector_bytes(settled(memory), "Note 5:")
    assert files_with(tmp_path / "s" / "chroma", other)
    with opened(tmp_path / "s", vectors="exact") as memory:
        memory.forget_user("ana")
    assert files_with(tmp_path / "s", other) == []


def test_an_index_that_nobody_opens_any_more_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path / "s") as memory:
        fill(memory)
        found = hits(settled(memory))
    with opened(tmp_path / "s", vectors="exact") as memory:
        memory.observe(user_id="ben", session_id="s", user="I play the oboe. My dog is called Kestrel.")
        with store_of(memory).connection() as conn:
            assert conn.execute("SELECT count(*) FROM outbox").fetchone()[0] > 1
        memory.maintain()
        assert list((tmp_path / "s" / "chroma").iterdir())
        monkeypatch.setattr("ltm_core.store.sql.external_rest.UNHEARD", 2)
        memory.maintain()
        assert list((tmp_path / "s" / "chroma").iterdir()) == []
        memory.observe(user_id="ben", session_id="s", user="I live in Oslo.")
        with store_of(memory).connection() as conn:
            assert conn.execute("SELECT count(*) FROM outbox").fetchone() == (0,)
    with opened(tmp_path / "s") as memory:
        assert hits(settled(memory)) == found and memory.doctor().healthy


def test_encrypting_a_store_removes_what_an_index_holds(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    with opened(tmp_path / "s") as memory:
        fill(memory)
        plain = vector_bytes(settled(memory), "Note 5:")
        with pytest.raises(UnavailableError, match="vector index"):
            LongTermMemory.encrypt(tmp_path / "s", key_provider=b"k" * 32)
    assert LongTermMemory.encrypt(tmp_path / "s", key_provider=b"k" * 32).users == 2
    assert files_with(tmp_path / "s", plain) == []
    with opened(tmp_path / "s", vectors="exact", key_provider=b"k" * 32) as memory:
        assert hits(memory)


def test_from_the_command_line_and_for_reading_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltm_core.embed.resolve._built_in", HashEmbedder)
    for name, value in (("LTM_EXTERNAL_VECTORS_FROM", str(SOME)), ("LTM_STORE", str(tmp_path / "s"))):
        monkeypatch.setenv(name, value)
    with opened(tmp_path / "s") as memory:
        fill(memory)
        index = store_of(settled(memory)).core.attached.index
        assert isinstance(index, ExternalVectors)
        index._open[1][1].delete([int(i) for i in list(index._open[1][1].items())[:2]])
    done = CliRunner().invoke(app, ["doctor", "--vectors", "chroma"])
    assert done.exit_code == 1 and "external" in done.output
    assert CliRunner().invoke(app, ["doctor", "--vectors", "chroma", "--repair"]).exit_code == 1
    assert CliRunner().invoke(app, ["doctor", "--vectors", "chroma"]).exit_code == 0
    with opened(tmp_path / "s", read_only=True) as memory:
        assert hits(memory)


def test_an_erasure_does_not_wait_for_a_collection_that_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "s", vectors="exact") as memory:
        fill(memory)
    monkeypatch.setattr("ltm_core.store.sql.external_truth.PAGE", 1)
    with opened(tmp_path / "s") as memory:
        store = store_of(memory)
        pages: list[int] = []

        def slow(store: SqliteStore, no: int, last: int) -> Any:
            pages.append(last)
            time.sleep(0.05)
            return page_of(store, no, last)

        monkeypatch.setattr("ltm_core.store.sql.external.page_of", slow)
        store.on_index_change()
        while len(pages) < 2:
            time.sleep(0.005)
        memory.forget_user("ben")
        assert len(pages) < 30
        monkeypatch.setattr("ltm_core.store.sql.external.page_of", page_of)
        assert hits(settled(memory))


def test_drift_is_found_and_mended(tmp_path: Path) -> None:
    with opened(tmp_path / "s") as memory:
        fill(memory)
        settled(memory)
        index = store_of(memory).core.attached.index
        assert isinstance(index, ExternalVectors)
        collection = index._open[1][1]
        collection.delete(sorted(collection.items())[:3])
        collection.upsert([10**6], np.ones((1, 64), dtype=np.float32))
        assert [(p.kind, p.user_id, p.count) for p in memory.doctor().problems] == [("external", "ana", 4)]
        assert hits(memory)
        memory.doctor(repair=True)
        settled(memory)
        assert memory.doctor().healthy


def test_an_index_that_fails_is_done_without_and_made_again(tmp_path: Path) -> None:
    with opened(tmp_path / "s", recall_cache_entries=0) as memory:
        fill(memory)
        found = hits(settled(memory))
        index = store_of(memory).core.attached.index
        assert isinstance(index, ExternalVectors)
        name, collection = index._open[1]
        collection._collection = None  # type: ignore[attr-defined]
        assert hits(memory) == found and index._broken == {1: name}
        memory.maintain()
        assert hits(settled(memory)) == found and index._open[1][0] != name and not index._broken


def test_a_restored_backup_and_another_embedder_make_it_anew(tmp_path: Path) -> None:
    with opened(tmp_path / "s") as memory:
        fill(memory)
        memory.backup(tmp_path / "copies" / "one")
        memory.forget_session("s", user_id="ana")
    LongTermMemory.restore_backup(tmp_path / "copies" / "one", tmp_path / "s", clock=CLOCK, erasures="none")
    with opened(tmp_path / "s") as memory:
        fill(memory)
        assert len(hits(settled(memory))) == 5 and memory.doctor().healthy
        memory.reembed(HashEmbedder(96, name="hash/2"))
        memory.maintain()
        assert hits(memory)
    with opened(tmp_path / "s", embedder=HashEmbedder(96, name="hash/2")) as memory:
        assert hits(settled(memory)) and memory.doctor().healthy


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    for wrong in ("faiss", "chroma:", "chroma://nowhere", "chroma://host:port"):
        with pytest.raises(ConfigError, match="vectors="):
            opened(tmp_path / "s", vectors=wrong)
    with pytest.raises(UnavailableError, match="server"):
        opened(tmp_path / "s", vectors="chroma://127.0.0.1:1")
    pytest.importorskip("cryptography")
    with pytest.raises(ConfigError, match="allow_external_vectors"):
        opened(tmp_path / "e", key_provider=b"k" * 32)
    with opened(tmp_path / "e", key_provider=b"k" * 32, allow_external_vectors=True) as memory:
        fill(memory)
        assert hits(settled(memory)) and memory.doctor().healthy


def test_a_server_holds_the_index_too(tmp_path: Path, chroma_url: str) -> None:
    with opened(tmp_path / "s", vectors=chroma_url) as memory:
        fill(memory)
        found = hits(settled(memory))
        assert found and not (tmp_path / "s" / "chroma").exists()
    with opened(tmp_path / "s", vectors=chroma_url) as memory:
        assert covered(memory) == [1] and hits(memory) == found and memory.doctor().healthy
        memory.observe(user_id="ana", session_id="s", user="The heron sleeps on the mast.")
        assert "heron" in hits(settled(memory), "heron mast")[0][0]
        memory.forget_user("ana")
        index = store_of(memory).core.attached.index
        assert isinstance(index, ExternalVectors) and index.host.names() == set()
    with opened(tmp_path / "s", vectors="exact") as memory:
        fill(memory)
        assert hits(memory) == found
