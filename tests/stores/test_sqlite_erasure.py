"""Erased means gone: from every table, from every byte, from every cache."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ltm_core.config import Config
from ltm_core.store.base import Job, SlotRow
from ltm_core.store.needles import variants
from ltm_core.store.sql.layout import key_range, row_range
from ltm_core.store.sql.tables import (
    FACT_RANGE_TABLES,
    ID_RANGE_TABLES,
    KEY_RANGE_TABLES,
    STORE_TABLES,
    SUMMARY_RANGE_TABLES,
    USER_NO_TABLES,
    USER_TABLES,
)
from ltm_core.store.sqlite import SqliteStore, files, open_store, scrub
from ltm_core.store.sqlite.scrub import scan
from ltm_core.testing.builders import DIMENSION, T0, at, fact, say, vector
from ltm_core.testing.contract_life import fill

CONFIG = Config.make()
SECRET = "ZQ-7741-Kestrel鹰"


def opened(path: Path, config: Config = CONFIG) -> SqliteStore:
    store = open_store(path, config=config)
    store.operations().set_embedder_identity("e", dimension=DIMENSION, now=T0)
    return store


def tables(store: SqliteStore) -> dict[str, list[str]]:
    with store.connection() as conn:
        names = conn.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        return {n: [c[1] for c in conn.execute(f"PRAGMA table_info({n})").fetchall()] for (n,) in names}


def left(store: SqliteStore, user_no: int) -> dict[str, int]:
    """Rows of the user per table, by every column that could name the user."""
    (low, high), (first, end) = row_range(user_no), key_range(user_no)
    found = {}
    with store.connection() as conn:
        for table, columns in tables(store).items():
            for column in ("id", "fact", "owner", "target", "document", "summary"):
                if column in columns and table not in ("state", "receipts", "changes", "jobs", "audit", "outbox"):
                    sql = f"SELECT count(*) FROM {table} WHERE {column} > ? AND {column} < ?"
                    found[f"{table}.{column}"] = conn.execute(sql, (low, high)).fetchone()[0]
            if "user_no" in columns:
                sql = f"SELECT count(*) FROM {table} WHERE user_no = ?"
                found[f"{table}.user_no"] = conn.execute(sql, (user_no,)).fetchone()[0]
            if table == "postings":
                sql = "SELECT count(*) FROM postings WHERE key >= ? AND key < ?"
                found["postings.key"] = conn.execute(sql, (first, end)).fetchone()[0]
    return {k: n for k, n in found.items() if n}


def test_every_table_is_erased_or_named_as_the_stores_own(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "data")) as store:
        found = tables(store)
    assert set(found) == set(USER_TABLES) | set(STORE_TABLES)
    assert not set(USER_TABLES) & set(STORE_TABLES)
    for table in STORE_TABLES:
        assert not {"user_no", "user_id", "body"} & set(found[table]), table
    for group, column in (
        (ID_RANGE_TABLES, "id"),
        (FACT_RANGE_TABLES, "fact"),
        (SUMMARY_RANGE_TABLES, "summary"),
        (KEY_RANGE_TABLES, "key"),
        (USER_NO_TABLES, "user_no"),
    ):
        assert all(column in found[t] for t in group)


def test_no_row_of_the_user_is_left_in_any_table(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "data")) as store:
        store.operations().set_outbox(True)
        for user in ("ana", "ben"):
            fill(store, user, SECRET)
            with store.connection(write=True) as conn:
                no = conn.execute("SELECT max(user_no) FROM users").fetchone()[0]
                conn.execute("INSERT INTO user_keys VALUES (?, 'm', x'00', 0)", (no,))
                conn.execute("INSERT INTO second_vectors VALUES ((? << 32) | 9, 1, 0, x'00')", (no,))
                conn.execute("INSERT INTO external_vectors VALUES (?, 'x', 0, 0, 0)", (no,))
        before = {table.split(".")[0] for table in left(store, 1)}
        assert before == set(USER_TABLES), "the test fills every table that holds a user's data"
        with store.write("ana") as w:
            counts = w.erase_user(now=at(1))
        assert set(counts) == set(USER_TABLES) and min(counts.values()) >= 1
        assert left(store, 1) == {}
        assert {table.split(".")[0] for table in left(store, 2)} == set(USER_TABLES)
        with store.connection() as conn:
            low, high = row_range(1)
            assert conn.execute("SELECT op, target FROM outbox WHERE op = 2").fetchall() == [(2, 1)]
            rest = conn.execute("SELECT count(*) FROM outbox WHERE op < 2 AND target > ? AND target < ?", (low, high))
            assert rest.fetchone() == (0,)
        fill(store, "ana", "new")
        with store.connection() as conn:
            assert conn.execute("SELECT user_no FROM users WHERE user_id = 'ana'").fetchone() == (3,)


def test_the_outbox_follows_vectors_in_the_same_transaction(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "data")) as store:

        def outbox() -> list[tuple[int, int]]:
            with store.connection() as conn:
                return conn.execute("SELECT op, target FROM outbox ORDER BY id").fetchall()

        with store.write("ana") as w:
            say(w, "m0")
        assert outbox() == []
        store.operations().set_outbox(True)
        with store.write("ana") as w:
            row = say(w, "m1")
        with pytest.raises(RuntimeError), store.write("ana") as w:
            say(w, "m2")
            raise RuntimeError
        assert [op for op, _ in outbox()] == [0]
        with store.write("ana") as w:
            w.delete_messages([row.item])
        assert [op for op, _ in outbox()] == [0, 1] and outbox()[0][1] == outbox()[1][1]
        store.operations().set_outbox(False)
        assert outbox() == []


def in_another_process(path: Path, needles: list[bytes]) -> list[str]:
    """Files that hold a needle, read by a process without locks to lose."""
    code = (
        "import sys, pathlib, json\nneedles = [bytes.fromhex(h) for h in json.loads(sys.argv[2])]\n"
        "for p in sorted(pathlib.Path(sys.argv[1]).rglob('*')):\n"
        "    d = p.read_bytes()\n    if any(n in d for n in needles): print(p.name)\n"
    )
    given = json.dumps([n.hex() for n in needles])
    return subprocess.run(
        [sys.executable, "-c", code, str(path), given], capture_output=True, text=True, check=True
    ).stdout.split()


def test_no_byte_of_an_erased_user_is_on_disk_then_or_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "data"
    half = vector(77).astype("<f2").tobytes()
    needles = [*variants([SECRET.encode(), b"erased-user-id"]), half]
    with closing(opened(path)) as store:
        for i in range(30):
            with store.write("erased-user-id") as w:
                say(w, f"m{i}", f"my passport is {SECRET} {i}", seed=77)
                w.add_fact(fact(f"f{i}", SECRET, metadata={"k": SECRET}))
                w.set_slot("s1", SlotRow(name=SECRET, value=SECRET, set_at=T0, expires_at=None))
                w.add_job(Job(kind="k", user_id="erased-user-id", payload={"ref": SECRET}, run_after=T0))
                w.audit("observe", now=T0, actor=SECRET)
            with store.write("ben") as w:
                say(w, f"m{i}", f"I like tea {i}")
        ops = store.operations()
        assert in_another_process(path, needles)
        with store.write("erased-user-id") as w:
            w.add_tombstones([("content", SECRET)], now=at(1))
            w.erase_user(now=at(1))
        assert ops.scrub(needles=[SECRET.encode(), half], wait_seconds=5) == (True, 5)
        assert in_another_process(path, needles) == []
        with store.read("ben") as r:
            assert len(r.messages()) == 30
        with store.connection() as conn:
            assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert in_another_process(path, needles) == []
    with closing(open_store(path, config=CONFIG)) as store, store.write("ben") as w:
        say(w, "again")
    assert in_another_process(path, needles) == []


def test_overwritten_and_deleted_words_leave_no_bytes_either(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with closing(opened(path)) as store:
        with store.write("ana") as w:
            a = say(w, "m1", f"{SECRET} " * 40)
            b = say(w, "m2", f"{SECRET} long " * 400)
            w.add_fact(fact("f1", SECRET))
        with store.write("ana") as w:
            from dataclasses import replace

            w.update_message(replace(a, content="[erased]", redacted_at=at(1)))
            w.delete_messages([b.item])
            w.update_fact(fact("f1", "[erased]"), now=at(1))
        assert store.operations().scrub(needles=[SECRET.encode()], wait_seconds=5)[0] is True
        assert in_another_process(path, variants([SECRET.encode()])) == []


def test_a_reader_delays_the_scrub_for_a_bounded_time(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "data")) as store:
        fill(store, "ana", SECRET)
        with store.read("ana") as r:
            assert len(r.messages()) == 1
            with store.write("ana") as w:
                w.erase_user(now=at(1))
            began = time.monotonic()
            clean, _ = store.operations().scrub(needles=[SECRET.encode()], wait_seconds=0.4)
            assert not clean and 0.3 < time.monotonic() - began < 3
            with store.write("ben") as w:
                say(w, "m1")
            assert len(r.messages()) == 1, "a reader keeps its moment"
        assert store.operations().scrub(needles=[SECRET.encode()], wait_seconds=5)[0] is True


def test_erasing_a_thousand_memories_is_quick(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "data")) as store:
        for user in ("ana", "ben"):
            with store.write(user) as w:
                for i in range(1000):
                    say(w, f"m{i}", " ".join(f"w{i * k % 997}" for k in range(1, 25)), seed=i)
        began = time.monotonic()
        with store.write("ana") as w:
            w.erase_user(now=at(1))
        assert time.monotonic() - began < 0.5


def test_the_scan_finds_every_form(tmp_path: Path) -> None:
    forms = [
        SECRET.encode(),
        SECRET.lower().encode("utf-16-le"),
        SECRET.upper().encode("utf-16-be"),
        json.dumps(SECRET).encode(),
        json.dumps(SECRET).encode().replace(b"\\u9e70", b"\\u9E70"),
    ]
    for i, form in enumerate(forms):
        file = tmp_path / "sub" / f"f{i}"
        file.parent.mkdir(exist_ok=True)
        # Across the border of two pieces as well.
        file.write_bytes(b"\0" * (4 * 1024 * 1024 - 3) + form + b"\0" * 10)
        found, files = scan(tmp_path, variants([SECRET.encode()]))
        assert found and files == 1
        file.unlink()
    assert scan(tmp_path, [SECRET.encode(), b"", b"\xff\xfe"]) == (set(), 0)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="locks are listed on Linux only")
def test_the_scan_does_not_drop_sqlites_locks(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "data")) as store:
        fill(store, "ana", SECRET)
        inode = (store.directory / files.DATABASE).stat().st_ino

        def held() -> int:
            lines = Path("/proc/locks").read_text().splitlines()
            mine = [line.split() for line in lines if f" {os.getpid()} " in line]
            return sum(1 for f in mine if f[1] == "POSIX" and f[5].endswith(f":{inode}"))

        before = held()
        if not before:
            pytest.skip("this kernel does not list the locks of this process")
        for _ in range(2):
            store.operations().scrub(needles=[b"nothing"], wait_seconds=1)
        assert held() == before


def test_secure_delete_is_on_in_the_file_library() -> None:
    with closing(sqlite3.connect(":memory:")) as conn:
        assert conn.execute("PRAGMA secure_delete = ON").fetchone() == (1,)


def test_a_word_that_our_tables_are_made_of_does_not_keep_an_erasure_pending(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "data")) as store:
        with store.write("ana") as w:
            say(w, "m1", "nothing", session_id="messages")
            w.erase_user(now=T0)
        assert store.operations().scrub(needles=[b"messages", b"namespace"], wait_seconds=5)[0]


def asked_at_once(directory: Path, wanted: list[bytes]) -> list[Any]:
    """What threads hear that all ask while the files are being read for somebody else."""
    with ThreadPoolExecutor(len(wanted)) as pool:
        with scrub._reading:
            answers = [pool.submit(scan, directory, [w]) for w in wanted]
            while len(scrub._waiting.get(directory, ())) < len(wanted):
                time.sleep(0.001)
        return [a.exception() or a.result() for a in answers]


def test_erasures_that_wait_share_one_reading_and_each_hears_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"xx one of the secrets xx another secret xx")
    wanted = [b"one of the secrets", b"another secret", b"nowhere to be found", b"one of the secrets"]
    read: list[int] = []
    reading = scrub._scan

    def counted(directory: Path, strings: Sequence[bytes]) -> tuple[set[bytes], int]:
        read.append(len(strings))
        return reading(directory, strings)

    monkeypatch.setattr(scrub, "_scan", counted)
    assert asked_at_once(tmp_path, wanted) == [({w} if w != b"nowhere to be found" else set(), 1) for w in wanted]
    assert read == [4]
    # What came after a reading began is not part of it.
    (tmp_path / "a").write_bytes(b"empty")
    assert scan(tmp_path, wanted) == (set(), 1)
    assert scrub._waiting == {}


def test_a_reading_that_fails_leaves_the_others_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"one of the secrets")
    reading = scrub._scan
    left = [OSError(5, "spoilt")]

    def failing(directory: Path, strings: Sequence[bytes]) -> tuple[set[bytes], int]:
        if left:
            raise left.pop()
        return reading(directory, strings)

    monkeypatch.setattr(scrub, "_scan", failing)
    heard = asked_at_once(tmp_path, [b"one of the secrets"] * 3)
    assert sorted(str(h) for h in heard) == sorted(["[Errno 5] spoilt", *[str(({b"one of the secrets"}, 1))] * 2])


@pytest.mark.parametrize("behind", [1, 23, 24, 25, 4000])
def test_a_log_that_is_just_being_written_is_read_as_far_as_it_goes(tmp_path: Path, behind: int) -> None:
    with closing(opened(tmp_path / "data")) as store:
        with store.write("ana") as w:
            say(w, "m1", "The gate code is 7741.")
        log = tmp_path / "data" / f"{files.DATABASE}-wal"
        taken = tmp_path / "taken"
        taken.mkdir()
        (taken / files.DATABASE).write_bytes((tmp_path / "data" / files.DATABASE).read_bytes())
        whole = log.read_bytes()
    frame = 24 + 4096
    kept = 32 + (len(whole) - 32) // frame * frame
    secret = b"left between the rows of it"
    (taken / log.name).write_bytes(whole[:kept] + bytes(24) + secret + bytes(behind))
    assert scan(taken, [secret])[0] == {secret}
    for length in (kept, 32):
        (taken / log.name).write_bytes(whole[:length] + whole[32 : 32 + behind])
        assert scan(taken, [secret]) == (set(), 2)
