"""A backup is whole or not there, and a restore brings nobody back."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import ConflictError, CorruptError, LongTermMemory, UnavailableError
from ltm_core.store.needles import variants
from ltm_core.store.sqlite import SqliteStore
from ltm_core.testing.builders import say
from ltm_core.testing.clock import Clock

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
SECRETS = {"ana": "KESTREL-ANA", "ben": "KESTREL-BEN", "cy": "KESTREL-CY", "dee": "KESTREL-DEE", "eve": "红隼七号"}


CLOCK = Clock(T0)
"""One for all: what is opened again is opened later."""


def opened(path: Path, **options: Any) -> LongTermMemory:
    return LongTermMemory.open(path, **{"embedder": "none", "timezone": "UTC", "clock": CLOCK, **options})


def store_of(memory: LongTermMemory) -> SqliteStore:
    store = memory._runtime.store
    assert isinstance(store, SqliteStore)
    return store


def held(path: Path) -> bytes:
    return b"".join(p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file())


def holds(path: Path, *words: str) -> list[str]:
    data = held(path)
    return [w for w in words if any(v in data for v in variants([w.encode()]))]


def fill(memory: LongTermMemory) -> None:
    for user, secret in SECRETS.items():
        memory.observe(user_id=user, session_id="s1", user=f"My passport is {secret}.", message_id="m1")
        memory.observe(user_id=user, session_id="s2", user="I live in Porto.", message_id="m1")
        memory.observe(user_id=user, session_id="s2", assistant="好的")
        memory.observe(user_id=user, session_id="s2", user="I play the oboe. 我住在上海。")
        memory.observe(user_id=user, session_id="s2", assistant="好的")
        memory.set_slot("pass", secret, user_id=user, session_id="s2", ttl=10**6)


def forget_all(memory: LongTermMemory) -> None:
    """Each user's secret is gone in another way; eve's stays."""
    memory.forget_user("ana")
    passport = next(f for f in memory.facts(user_id="ben") if SECRETS["ben"] in f.text)
    memory.forget(passport.id, user_id="ben")
    memory.forget_session("s1", user_id="cy")
    memory.forget_matching(SECRETS["cy"], user_id="cy", dry_run=False)
    memory.delete_messages(["m1"], user_id="dee", session_id="s1")
    memory.forget_matching(SECRETS["dee"], user_id="dee", dry_run=False)
    second = list(memory.messages(user_id="eve", session_id="s2"))[2]
    memory.forget(second.id, user_id="eve")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    with opened(tmp_path / "store") as memory:
        fill(memory)
        memory.backup(tmp_path / "copies" / "one")
    yield tmp_path


def said(memory: LongTermMemory, user: str) -> list[tuple[str, str]]:
    return [(m.session_id, m.content) for m in memory.messages(user_id=user)]


def facts(memory: LongTermMemory, user: str) -> list[str]:
    return [f.object for f in memory.facts(user_id=user)]


def test_a_backup_is_a_private_store_with_everything(place: Path) -> None:
    copy = place / "copies" / "one"
    assert copy.stat().st_mode & 0o777 == 0o700
    assert {p.name: p.stat().st_mode & 0o777 for p in copy.iterdir()} == {"memory.sqlite3": 0o600, "store.key": 0o600}
    with opened(place / "store") as one, opened(copy) as two:
        for user in SECRETS:
            assert list(one.export_user(user))[1:] == list(two.export_user(user))[1:]
        with pytest.raises(ConflictError):
            one.backup(copy)
        with pytest.raises(ConflictError):
            one.backup(place / "store")
    with opened(place / "store", read_only=True) as memory, pytest.raises(UnavailableError):
        memory.backup(place / "copies" / "two")
    assert sorted(p.name for p in (place / "copies").iterdir())[1:] == ["one"]


def test_a_backup_is_of_one_moment_while_others_write(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as memory:
        stop = threading.Event()
        written: list[int] = []

        def write() -> None:
            while not stop.is_set():
                n = len(written)
                with memory._runtime.store.write("ana") as w:
                    for part in ("a", "b"):
                        w.set_user(timezone="UTC") if n else w.ensure_user(now=T0)
                        say(w, f"{n}{part}", session_id="s", seed=None)  # type: ignore[arg-type]
                written.append(n)

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for n in range(4):
                while len(written) < 5 * (n + 1):
                    time.sleep(0.01)
                before = len(written)
                memory.backup(tmp_path / "copies" / str(n))
                with opened(tmp_path / "copies" / str(n)) as copy:
                    turns = copy.stats().messages
                assert turns % 2 == 0 and turns >= 2 * before
        finally:
            stop.set()
            thread.join()


@pytest.mark.parametrize("lost", [False, True], ids=["store", "list"])
def test_a_restore_brings_nobody_and_nothing_back(place: Path, lost: bool) -> None:
    with opened(place / "store") as memory:
        forget_all(memory)
        memory.observe(user_id="new", session_id="s", user="I came after the backup.")
        after = {u: (said(memory, u), facts(memory, u)) for u in SECRETS}
        refusing = memory._runtime.store.operations()
        assert refusing.list_erasures(now=T0 + timedelta(days=1)) == 0, "the list knows them already"
    if lost:
        shutil.rmtree(place / "store")
    report = LongTermMemory.restore_backup(place / "copies" / "one", place / "store", actor="op", reason="drill")
    assert report.erasures_from == ("list" if lost else "store") and report.users == 4 and report.counts["users"] == 1
    gone = [SECRETS[u] for u in ("ana", "ben", "cy", "dee")]
    assert holds(place / "store", *gone) == [] and holds(place / "store", SECRETS["eve"])
    assert "came after" not in held(place / "store").decode("utf-8", "ignore")
    with opened(place / "store") as memory:
        for user in SECRETS:
            assert facts(memory, user) == after[user][1]
            turns = said(memory, user)
            if lost and user == "ben":
                assert turns[0][1] == "█" * len("My passport is KESTREL-BEN.")
                assert turns[1:] == after[user][0][1:]
            else:
                assert turns == after[user][0]
        for user in ("ana", "ben", "cy", "dee"):
            secret = SECRETS[user]
            assert secret not in memory.context("passport", user_id=user).text
            if user != "ana" or not lost:
                words = f"My passport is {secret}."
                seen = memory.observe(user_id=user, session_id="s1", user=words, message_id="m1", at=T0)
                assert [m.status for m in seen.messages] == ["erased"]
        last = [e for e in memory.audit() if e.action == "restore"]
        assert [(e.actor, e.reason, e.target) for e in last] == [("op", "drill", report.erasures_from)]
        assert memory.observe(user_id="ana", session_id="s1", user="I live in Faro.").facts
    assert holds(place / "store", *gone) == []


NOTES = ("notes",)
DEEDS = {
    "deleted": "MERLIN-DEL",
    "words": "MERLIN-WORD",
    "key": "MERLIN-KEY",
    "older": "MERLIN-OLD",
    "again": "MERLIN-AG",
}


def put(memory: LongTermMemory, key: str, value: dict[str, Any], user: str = "ana") -> None:
    memory.put_document(NOTES, key, value, user_id=user)


def documents(memory: LongTermMemory, user: str = "ana") -> dict[str, Any]:
    return {d.key: d.value for d in memory.search_documents(user_id=user, limit=1000)}


def fill_documents(memory: LongTermMemory) -> None:
    for user in ("ana", "ben"):
        put(memory, "deleted", {"text": f"{DEEDS['deleted']}-{user}"}, user)
        put(memory, "again", {"text": f"{DEEDS['again']}-{user}"}, user)
        put(memory, "words", {"n": 1, "x": [f"a {DEEDS['words']} b", "stays"], DEEDS["words"]: "inside"}, user)
        # Broken by an invisible character: the words of a phrase do not find it.
        put(memory, "broken", {"text": "a MER\u200bLIN-WORD b", "stays": "yes"}, user)
        put(memory, f"about {DEEDS['key']}", {"text": "packing list"}, user)
        put(memory, "older", {"text": f"the first value names {DEEDS['older']}", "n": 2}, user)
        put(memory, "updated", {"text": "as it was"}, user)
        # No words at all: only the text itself is known.
        put(memory, "sign", {"text": "his sign is ☂☂☂"}, user)
        put(memory, "number 5", {"text": "5 apples"}, user)
    put(memory, "all", {"text": "MERLIN-CY"}, "cy")


def erase_documents(memory: LongTermMemory) -> None:
    memory.delete_document(NOTES, "deleted", user_id="ana")
    memory.delete_document(NOTES, "again", user_id="ana")
    put(memory, "again", {"text": "came after the backup"})
    put(memory, "older", {"text": f"now {DEEDS['older']} is named in another way"})
    put(memory, "updated", {"text": "came after the backup"})
    for words in (DEEDS["words"], DEEDS["key"], DEEDS["older"], "☂☂☂", "5"):
        memory.forget_matching(words, user_id="ana", dry_run=False)
    memory.forget_user("cy")


@pytest.mark.parametrize("lost", [False, True], ids=["store", "list"])
def test_a_restore_brings_no_document_back(tmp_path: Path, lost: bool) -> None:
    store, copy = tmp_path / "store", tmp_path / "copies" / "one"
    with opened(store) as memory:
        fill_documents(memory)
        memory.backup(copy)
        before = documents(memory)
        assert documents(memory, "ben") == before | {
            k: {"text": v["text"].replace("-ana", "-ben")} for k, v in before.items() if "ana" in str(v)
        }
        bens = documents(memory, "ben")
        erase_documents(memory)
        assert set(documents(memory)) == {"words", "broken", "sign", "older", "updated", "number 5", "again"}
        waiting = memory._runtime.store.operations().list_erasures(now=T0 + timedelta(days=1))
        assert waiting == 0, "the list knows them already"
    if lost:
        shutil.rmtree(store)
    report = LongTermMemory.restore_backup(copy, store)
    assert report.erasures_from == ("list" if lost else "store")
    assert report.counts == {"users": 1, "documents_deleted": 3, "documents_redacted": 4}
    gone = [f"{DEEDS[w]}-ana" for w in ("deleted", "again")]
    assert holds(store, *gone, "MERLIN-CY", "came after") == []
    filler = "█" * len(DEEDS["words"])
    with opened(store) as memory:
        left = documents(memory)
        if lost:
            assert left["words"] == {"n": 1, "x": ["█" * (4 + len(filler)), "stays"]}
            assert left["broken"] == {"text": "█" * (5 + len(filler)), "stays": "yes"}
        else:
            assert left["words"] == {"n": 1, "x": [f"a {filler} b", "stays"]}
            assert left["broken"] == {"text": f"a {filler}█ b", "stays": "yes"}
        assert left["sign"] == {"text": "█" * 15 if lost else "his sign is ███"}
        assert left["older"] == {"text": "█" * len(f"the first value names {DEEDS['older']}"), "n": 2}
        assert left["updated"] == {"text": "as it was"} and left["number 5"] == {"text": "5 apples"}
        assert set(left) == {"words", "broken", "sign", "older", "updated", "number 5"}
        assert documents(memory, "ben") == bens and documents(memory, "cy") == {}
        assert memory.doctor().healthy
        put(memory, "deleted", {"text": "a new life"})
        assert memory.get_document(NOTES, "deleted", user_id="ana") is not None
        memory.forget_user("ben")
        assert holds(store, *DEEDS.values()) == []


def test_documents_deleted_before_the_backup_and_put_again_stay(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as memory:
        put(memory, "k", {"text": "first"})
        put(memory, "words", {"text": "likes MERLIN-WORD"})
        memory.delete_document(NOTES, "k", user_id="ana")
        memory.forget_matching("MERLIN-WORD", user_id="ana", dry_run=False)
        put(memory, "k", {"text": "second"})
        put(memory, "words", {"text": "likes MERLIN-WORD"})
        kept = documents(memory)
        memory.backup(tmp_path / "copies" / "one")
        assert memory.forget_matching("nothing of this", user_id="ana", dry_run=False)
        memory.delete_document(NOTES, "never there", user_id="ana")
    assert LongTermMemory.restore_backup(tmp_path / "copies" / "one", tmp_path / "store").counts == {}
    with opened(tmp_path / "store") as memory:
        assert documents(memory) == kept == {"k": {"text": "second"}, "words": {"text": "likes MERLIN-WORD"}}


def test_a_restore_finds_documents_by_what_is_left_of_them(tmp_path: Path) -> None:
    options = {"embedder": None}
    with opened(tmp_path / "store", **options) as memory:
        put(memory, "k", {"text": "Ana lives in Lisbon, near the river", "tea": "green"})
        memory.backup(tmp_path / "copies" / "one")
        memory.forget_matching("Lisbon", user_id="ana", dry_run=False)
    LongTermMemory.restore_backup(tmp_path / "copies" / "one", tmp_path / "store")
    assert holds(tmp_path / "store", "Lisbon") == []
    with opened(tmp_path / "store", **options) as memory:
        memory.maintain()
        (found,) = memory.search_documents(user_id="ana", query="near the river")
        assert found.similarity is not None and found.value["text"] == "Ana lives in ██████, near the river"
        assert memory.maintain().embedded == 0 and memory.doctor().healthy


def test_the_list_of_erasures_names_no_document(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as memory:
        fill_documents(memory)
        memory.backup(tmp_path / "copies" / "one")
        erase_documents(memory)
        memory.put_document(NOTES, "k", {"a": 1}, user_id="dee", ttl=1e-4)
        assert not memory.delete_document(NOTES, "k", user_id="dee"), "it was over already"
        mac = memory._runtime.store.mac("dee")
    (listed,) = (tmp_path / "copies").glob("erasures-*.jsonl")
    text = listed.read_text()
    assert mac in text and "MERLIN" not in text and "notes" not in text and "ana" not in text


def test_a_restore_keeps_numbers_log_and_caches_right(place: Path) -> None:
    with opened(place / "store") as memory, opened(place / "store") as other:
        memory.forget_user("ana", actor="ana")
        before = list(memory.audit())
        last = [c.cursor for c in memory.changes()][-1]
        other.observe(user_id="eve", session_id="s9", user="I keep bees.")
        assert any("bees" in i.text for i in other.search("bees", user_id="eve"))
        LongTermMemory.restore_backup(place / "copies" / "one", place / "store")
        for m in (memory, other):
            assert not any("bees" in i.text for i in m.search("bees", user_id="eve"))
            assert said(m, "ana") == [] and "bees" not in m.context("bees", user_id="eve").text
        log = list(memory.audit())
        assert [e for e in log if e.action == "forget_user"] == [e for e in before if e.action == "forget_user"]
        other.observe(user_id="eve", session_id="s9", user="I keep goats.")
        assert int([c.cursor for c in memory.changes()][-1]) > int(last)
        assert any("goats" in i.text for i in memory.search("goats", user_id="eve"))
        with store_of(memory).connection() as conn:
            assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_was_erased_before_the_backup_and_taken_back_stays(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as memory:
        memory.observe(user_id="ana", session_id="s", user="I live in Porto.", message_id="m1")
        file = list(memory.export_user("ana"))
        memory.forget_user("ana")
        memory.import_user(file, user_id="ana", after_erasure="allow", trust=True)
        memory.backup(tmp_path / "copies" / "one")
    LongTermMemory.restore_backup(tmp_path / "copies" / "one", tmp_path / "store")
    with opened(tmp_path / "store") as memory:
        assert facts(memory, "ana") == ["Porto"]


def test_restores_that_are_refused(place: Path) -> None:
    with opened(place / "foreign") as memory:
        memory.set_slot("x", 1, user_id="u", session_id="s")
    with pytest.raises(ConflictError, match="another store"):
        LongTermMemory.restore_backup(place / "copies" / "one", place / "foreign")
    with pytest.raises(UnavailableError):
        LongTermMemory.restore_backup(place / "nothing", place / "new")
    (place / "full").mkdir()
    (place / "full" / "notes.txt").write_text("mine")
    with pytest.raises(ConflictError):
        LongTermMemory.restore_backup(place / "copies" / "one", place / "full")
    (listed,) = (place / "copies").glob("erasures-*.jsonl")
    text = listed.read_bytes()
    listed.unlink()
    with pytest.raises(UnavailableError, match="erasures="):
        LongTermMemory.restore_backup(place / "copies" / "one", place / "new")
    (place / "list").write_bytes(b"something else\n")
    with pytest.raises(CorruptError):
        LongTermMemory.restore_backup(place / "copies" / "one", place / "new", erasures=place / "list")
    (place / "list").write_bytes(text + b'{"user":"00')
    assert LongTermMemory.restore_backup(place / "copies" / "one", place / "new", erasures=place / "list").users == 5
    assert LongTermMemory.restore_backup(place / "copies" / "one", place / "also", erasures="none").users == 5
    assert sorted(p.name for p in place.iterdir() if p.name.startswith(".")) == []


def test_an_erasure_waits_for_a_list_that_cannot_be_reached(place: Path) -> None:
    copies, away = place / "copies", place / "away"
    with opened(place / "store") as memory:
        copies.rename(away)
        memory.forget_user("ana")
        later = T0 + timedelta(hours=1)
        assert memory.maintain(later).jobs_done == 0
        away.rename(copies)
        assert memory.maintain(later + timedelta(hours=1)).jobs_done == 1
        mac = memory._runtime.store.mac("ana")
    shutil.rmtree(place / "store")
    (listed,) = copies.glob("erasures-*.jsonl")
    assert mac in listed.read_text() and "ana" not in listed.read_text().replace(mac, "")
    assert LongTermMemory.restore_backup(copies / "one", place / "store").counts["users"] == 1


KILLED = """
import sys, os, time
from pathlib import Path
from ltm_core import LongTermMemory
what, place = sys.argv[1], Path(sys.argv[2])
print("go", flush=True)
if what == "backup":
    with LongTermMemory.open(place / "store", embedder="none", timezone="UTC") as memory:
        memory.backup(place / "copies" / "two")
else:
    LongTermMemory.restore_backup(place / "copies" / "one", place / "store")
print("done", flush=True)
"""


def big(place: Path) -> None:
    with opened(place / "store") as memory:
        fill(memory)
        with memory._runtime.store.write("bulk") as w:
            for n in range(40):
                say(w, f"m{n}", f"{n} " + "words and more words " * 3000, seed=None)  # type: ignore[arg-type]
        memory.backup(place / "copies" / "one")
        memory.forget_user("ana")
        memory.observe(user_id="eve", session_id="s9", user="I keep bees.")


def test_a_kill_leaves_the_old_store_or_the_new_one(tmp_path: Path) -> None:
    big(tmp_path)
    with opened(tmp_path / "store") as memory:
        old = list(memory.export_user("eve"))[1:]
    outcomes = set()
    for n, wait in enumerate((0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, None)):
        what = ("backup", "restore")[n % 2]
        run = subprocess.Popen([sys.executable, "-c", KILLED, what, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert run.stdout is not None and run.stdout.readline() == "go\n"
        if wait is not None:
            time.sleep(wait)
            run.send_signal(signal.SIGKILL)
        run.communicate()
        with opened(tmp_path / "store") as memory:
            now = list(memory.export_user("eve"))[1:]
            assert said(memory, "ana") == [] and len(said(memory, "bulk")) == 40
            with store_of(memory).connection() as conn:
                assert conn.execute("PRAGMA quick_check").fetchone() == ("ok",)
        outcomes.add(now == old)
        assert now == old or "bees" not in "".join(now)
        if (tmp_path / "copies" / "two").exists():
            with opened(tmp_path / "copies" / "two") as memory:
                assert len(said(memory, "bulk")) == 40
            shutil.rmtree(tmp_path / "copies" / "two")
    LongTermMemory.restore_backup(tmp_path / "copies" / "one", tmp_path / "store")
    with opened(tmp_path / "store") as memory:
        memory.backup(tmp_path / "copies" / "two")
    assert [p.name for d in (tmp_path, tmp_path / "copies") for p in d.iterdir() if p.name.startswith(".")] == []
    assert outcomes, "the last run was not killed"


def test_a_backup_that_fails_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    with opened(place / "store") as memory:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(UnavailableError):
            memory.backup(place / "copies" / "two")
        monkeypatch.setattr(os, "fsync", real)
        assert not (place / "copies" / "two").exists()
        assert [p for p in (place / "copies").iterdir() if p.name.startswith(".")] == []
        memory.backup(place / "copies" / "two")


def test_a_damaged_backup_is_refused_and_the_store_stays(place: Path) -> None:
    database = place / "copies" / "one" / "memory.sqlite3"
    with sqlite3.connect(database) as conn:
        (size,) = conn.execute("PRAGMA page_size").fetchone()
    data = bytearray(database.read_bytes())
    for page in range(3, len(data) // size, 2):
        data[page * size : page * size + 200] = b"\xff" * 200
    database.write_bytes(bytes(data))
    with opened(place / "store") as memory:
        before = {u: said(memory, u) for u in SECRETS}
    with pytest.raises(CorruptError):
        LongTermMemory.restore_backup(place / "copies" / "one", place / "store")
    with opened(place / "store") as memory:
        assert {u: said(memory, u) for u in SECRETS} == before
