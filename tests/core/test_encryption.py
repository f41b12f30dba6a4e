"""An encrypted store shows nothing without its master key, and nothing of a forgotten user with it."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_core import ConfigError, ConflictError, CorruptError, LongTermMemory, MasterKeyError, UnavailableError
from ltm_core.store.keyed import Keyed
from ltm_core.store.keys import LocalKeys, fingerprint, resolve_keys
from ltm_core.store.needles import variants
from ltm_core.store.sql.tables import ENVELOPES, KEYED_COLUMNS, USER_TABLES, VECTORS
from ltm_core.store.sqlite import SqliteStore, files, rekey
from ltm_core.store.vault import ID_BYTES, StoreKeys
from ltm_core.testing.clock import Clock
from ltm_core.testing.embedders import HashEmbedder

pytest.importorskip("cryptography")
ONE, TWO = b"\x01" * 32, b"\x02" * 32
CLOCK = Clock(datetime(2026, 3, 1, 9, tzinfo=UTC))
"""One for all: what is opened again is opened later."""
WORDS = ["KESTREL", "红隼七号", "ana@example.org", "session-of-ana", "Porto", "lives_in", "chart", "cron-bot", "oboe"]


@pytest.fixture(autouse=True)
def _no_keys_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LTM_MASTER_KEY", raising=False)
    monkeypatch.delenv("LTM_MASTER_KEY_FILE", raising=False)


def opened(path: Path, key: object = ONE, **options: Any) -> LongTermMemory:
    given = {"embedder": HashEmbedder(), "timezone": "UTC", "clock": CLOCK}
    return LongTermMemory.open(path, key_provider=key, **{**given, **options})


def fill(memory: LongTermMemory) -> None:
    ana, ben = memory.bind("ana@example.org", session_id="session-of-ana", actor="cron-bot"), memory.bind("ben")
    ana.observe(user="I live in Porto and my dog is called KESTREL.", metadata={"place": "红隼七号"})
    ana.observe(assistant="A fine name for a dog.")
    ana.remember("I play the oboe.")
    ana.set_slot("open", "chart-KESTREL", ttl=10**6)
    ana.put_document(("charts", "红隼七号"), "chart", {"text": "KESTREL of Porto"})
    ben.observe(session_id="s", user="我住在杭州。我喜欢红隼七号。")
    ben.put_document(("charts",), "k", {"text": "Porto"})


def told(memory: LongTermMemory) -> list[Any]:
    """What the users see."""
    seen: list[Any] = []
    for user, query in (("ana@example.org", "Where do I live?"), ("ben", "我住在哪里？")):
        seen.append([(f.id, f.text, f.object) for f in memory.facts(user_id=user, subject="user")])
        seen.append([(m.content, dict(m.metadata)) for m in memory.messages(user_id=user)])
        seen.append([(i.text, round(i.similarity or 0, 5)) for i in memory.context(query, user_id=user).items])
        seen.append([(h.text, round(h.score, 5)) for h in memory.search("oboe Porto 红隼", user_id=user)])
        seen.append([d.value for d in memory.search_documents((), user_id=user, query="Porto")])
        seen.append([s.id for s in memory.sessions(user_id=user)])
        seen.append([(e.action, e.actor) for e in memory.audit(user)])
    return seen


def found_in(path: Path, words: list[str] = WORDS) -> set[str]:
    data = b"".join(p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file())
    return {w for w in words if any(v in data for v in variants([w.encode()]))}


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path / files.DATABASE)) as conn:
        return conn.execute(sql).fetchall()


def store_of(memory: LongTermMemory) -> SqliteStore:
    store = memory._runtime.store
    assert isinstance(store, SqliteStore)
    return store


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    with opened(tmp_path / "plain", "none") as memory:
        fill(memory)
    return tmp_path / "plain"


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[Path]:
    with opened(tmp_path / "secret") as memory:
        fill(memory)
    yield tmp_path / "secret"


# what the files show ----------------------------------------------------------------------------------
def test_no_file_of_an_encrypted_store_holds_a_word_while_it_is_open_or_after(tmp_path: Path, plain: Path) -> None:
    assert found_in(plain) == set(WORDS)
    with opened(tmp_path / "s") as memory:
        fill(memory)
        memory.audit("ana@example.org")
        memory.maintain()
        assert (tmp_path / "s" / f"{files.DATABASE}-wal").stat().st_size
        assert found_in(tmp_path / "s") == set()
        memory.backup(tmp_path / "copies" / "one", actor="cron-bot", reason="KESTREL")
    assert found_in(tmp_path / "s") == found_in(tmp_path / "copies") == set()


def test_every_column_of_a_user_is_sealed_or_a_keyed_hash(secret: Path) -> None:
    sealed = {*ENVELOPES, *((table, column) for table, column, _ in VECTORS)}
    for table in USER_TABLES:
        for _, column, kind, *_ in rows(secret, f"PRAGMA table_info({table})"):
            if kind == "BLOB":
                assert (table, column) in sealed or column in KEYED_COLUMNS, (table, column)
            # Text that is no envelope: ours (codes), or the name of a user.
            assert kind != "TEXT" or (table, column) in {
                ("users", "user_id"),
                ("users", "timezone"),
                ("users", "retention"),
                ("messages", "timezone"),
                ("messages", "language"),
                ("anchors", "kind"),
                ("changes", "op"),
                ("jobs", "kind"),
                ("jobs", "error"),
                ("audit", "action"),
                ("user_keys", "master"),
                ("external_vectors", "name"),
            }, (table, column)
    for table, column in ENVELOPES:
        assert {r[0] for r in rows(secret, f"SELECT substr({column}, 1, 1) FROM {table}")} <= {b"\x03", None}


def test_terms_cannot_be_guessed_with_the_key_of_the_hashes(secret: Path, plain: Path) -> None:
    def hashes(path: Path, hashing: bytes, no: int) -> set[int]:
        term = Keyed(hashing).terms(no)
        return {(no << 40) | term(w) for w in ("porto", "oboe", "kestrel", "dog")}

    keys = files.load_keys(secret, read_only=True, provider=LocalKeys(ONE))
    stored = {r[0] for r in rows(secret, "SELECT key FROM postings")}
    assert stored and not stored & hashes(secret, keys.hashing, 1)
    known = {r[0] for r in rows(plain, "SELECT key FROM postings")}
    assert len(known & hashes(plain, (plain / files.KEY).read_bytes(), 1)) >= 3


# keys -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("key", [None, "none", TWO, lambda name: TWO])
def test_without_its_master_key_the_store_is_refused_before_anything_is_read(secret: Path, key: object) -> None:
    before = {p.name: p.read_bytes() for p in secret.iterdir()}
    with pytest.raises(MasterKeyError, match=fingerprint(ONE)):
        opened(secret, key)
    with pytest.raises(MasterKeyError):
        opened(secret, key, read_only=True)
    assert {p.name: p.read_bytes() for p in secret.iterdir()} == before
    assert issubclass(MasterKeyError, ConfigError)


def test_a_plain_store_is_not_taken_for_an_encrypted_one(plain: Path) -> None:
    with pytest.raises(ConfigError, match="ltm encrypt"):
        opened(plain, ONE)
    with opened(plain, "none") as memory:
        assert memory.facts(user_id="ben").items


def test_the_key_comes_from_the_environment_a_file_or_a_callback(
    secret: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []

    def older(name: str | None) -> bytes:
        asked.append(name)
        return TWO if name is None else ONE

    (tmp_path / "key").write_text(ONE.hex() + "\n")
    (tmp_path / "key").chmod(0o600)
    for given in (f"file:{tmp_path / 'key'}", lambda name: ONE, older, LocalKeys(ONE)):
        with opened(secret, given) as memory:
            assert memory.facts(user_id="ben").items
    assert asked == [None, fingerprint(ONE)]
    monkeypatch.setenv("LTM_MASTER_KEY_FILE", str(tmp_path / "key"))
    opened(secret, None).close()
    monkeypatch.setenv("LTM_MASTER_KEY", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")
    opened(secret, None).close()
    opened(secret, "env:LTM_MASTER_KEY").close()
    with opened(tmp_path / "new", None) as memory:
        assert store_of(memory).core.vault is not None


@pytest.mark.parametrize("spec", ["KESTREL", "env:", 7, b"short", lambda name: b"KESTREL", lambda name: 1 / 0])
def test_what_is_no_key_is_refused_without_repeating_it(spec: object, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        opened(tmp_path / "new", spec)
    assert "KESTREL" not in str(raised.value) and not (tmp_path / "new").exists()


def test_a_key_file_others_can_read_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "key").write_bytes(ONE)
    (tmp_path / "key").chmod(0o644)
    assert resolve_keys(f"file:{tmp_path / 'key'}") is not None
    assert "chmod 600" in caplog.text


def test_a_key_service_seals_and_opens_by_itself(tmp_path: Path) -> None:
    class Service:
        key_id = "alias/memory"
        broken = False

        def wrap(self, secret: bytes) -> bytes:
            return bytes(b ^ 0x5A for b in secret)

        def unwrap(self, wrapped: bytes, key_id: str) -> bytes:
            if self.broken:
                raise OSError("KESTREL")
            return bytes(b ^ 0x5A for b in wrapped)

    service = Service()
    with opened(tmp_path / "s", service) as memory:
        fill(memory)
    with opened(tmp_path / "s", service) as memory:
        assert memory.facts(user_id="ben").items
    service.broken = True
    with pytest.raises(MasterKeyError, match="OSError") as raised:
        opened(tmp_path / "s", service)
    assert "KESTREL" not in str(raised.value)


def test_envelopes_and_vectors_moved_to_another_row_do_not_open(
    secret: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(secret / files.DATABASE)) as conn:
        (mine,) = conn.execute("SELECT body FROM messages WHERE user_no = 1 ORDER BY id").fetchone()
        conn.execute("UPDATE messages SET body = ? WHERE user_no = 2", (mine,))
        (vector,) = conn.execute("SELECT vector FROM vectors ORDER BY id").fetchone()
        conn.execute(
            "UPDATE vectors SET vector = ? WHERE id = (SELECT max(id) FROM vectors WHERE id < 1 << 33)", (vector,)
        )
        conn.commit()
    with opened(secret) as memory:
        with pytest.raises(CorruptError, match="another row"):
            memory.messages(user_id="ben")
        memory.search("oboe", user_id="ana@example.org")
        assert "cannot be opened" in caplog.text
        assert [p.kind for p in memory.doctor(user_id="ana@example.org").problems] == ["index"]
        assert memory.doctor(user_id="ana@example.org", repair=True).healthy


def test_a_plain_envelope_is_not_read_in_a_sealed_users_place(secret: Path) -> None:
    with closing(sqlite3.connect(secret / files.DATABASE)) as conn:
        body = b"\x01" + json.dumps({"id": "m", "session": "s", "text": "I live in Rome."}).encode()
        conn.execute("UPDATE messages SET body = ? WHERE user_no = 2", (body,))
        conn.commit()
    with opened(secret) as memory, pytest.raises(CorruptError):
        memory.messages(user_id="ben")


# a plain store becomes an encrypted one ---------------------------------------------------------------
def test_encrypting_a_store_changes_nothing_but_what_others_can_read(plain: Path) -> None:
    with opened(plain, "none") as memory:
        before = told(memory)
    progress: list[tuple[int, int]] = []
    report = LongTermMemory.encrypt(
        plain, key_provider=ONE, progress=lambda done, total: progress.append((done, total))
    )
    assert (report.users, report.master_key, progress) == (2, fingerprint(ONE), [(1, 2), (2, 2)])
    assert found_in(plain) == set()
    with opened(plain) as memory:
        assert told(memory) == before
        assert memory.doctor().healthy
        memory.observe(user_id="ana@example.org", session_id="s2", user="I moved to Lisbon.")
        assert [f.object for f in memory.facts(user_id="ana@example.org", relation="lives_in")] == ["Lisbon"]
        memory.remember("I play the oboe.", user_id="ana@example.org")
    assert LongTermMemory.encrypt(plain, key_provider=ONE).users == 0
    with pytest.raises(MasterKeyError):
        LongTermMemory.encrypt(plain, key_provider=TWO)


def test_encrypting_goes_on_where_it_was_stopped(plain: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with opened(plain, "none") as memory:
        before = told(memory)
    with pytest.raises(KeyboardInterrupt):
        LongTermMemory.encrypt(plain, key_provider=ONE, progress=stop)
    with opened(plain) as memory:
        assert told(memory) == before
        problems = memory.doctor().problems
        assert [(p.kind, p.count) for p in problems] == [("plain", 1)] and "ltm encrypt" in problems[0].detail
    assert LongTermMemory.encrypt(plain, key_provider=ONE).users == 1
    with opened(plain) as memory:
        assert told(memory) == before and memory.doctor().healthy
    assert found_in(plain) == set()


def test_a_killed_run_leaves_each_user_whole(plain: Path) -> None:
    code = (
        "import os, signal; from ltm_core import LongTermMemory\n"
        "from ltm_core.store.sqlite import encrypting\n"
        "def die(*_): os.kill(os.getpid(), signal.SIGKILL)\n"
        "whole = encrypting._hash_again\n"
        "def second(conn, secrets, user_no): whole(conn, secrets, user_no) if user_no == 1 else die()\n"
        "encrypting._hash_again = second\n"
        f"LongTermMemory.encrypt({str(plain)!r}, key_provider=b'\\x01' * 32)\n"
    )
    with opened(plain, "none") as memory:
        before = told(memory)
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    with opened(plain) as memory:
        assert told(memory) == before and [p.kind for p in memory.doctor().problems] == ["plain"]
    assert LongTermMemory.encrypt(plain, key_provider=ONE).users == 1
    with opened(plain) as memory:
        assert told(memory) == before and memory.doctor().healthy
    assert found_in(plain) == set()


def test_who_has_the_store_open_while_it_is_encrypted_must_open_it_again(plain: Path) -> None:
    with opened(plain, "none") as memory:
        LongTermMemory.encrypt(plain, key_provider=ONE)
        for call in (
            lambda: memory.messages(user_id="ben"),
            lambda: memory.observe(user_id="new", session_id="s", user="I live in Rome."),
        ):
            with pytest.raises(MasterKeyError, match="open it again"):
                call()
    assert found_in(plain) == set()


def test_a_key_file_of_the_time_before_is_refused(plain: Path) -> None:
    key = (plain / files.KEY).read_bytes()
    LongTermMemory.encrypt(plain, key_provider=ONE)
    (plain / files.KEY).write_bytes(key)
    with pytest.raises(CorruptError, match="key file"):
        opened(plain, "none")


# another master key -----------------------------------------------------------------------------------
def test_a_new_master_key_opens_the_store_and_the_former_one_does_not(secret: Path) -> None:
    with opened(secret) as memory:
        before = told(memory)
        bodies = rows(secret, "SELECT body FROM messages UNION ALL SELECT vector FROM vectors")
        wrapped = rows(secret, "SELECT wrapped FROM user_keys")
        report = LongTermMemory.rekey(secret, key_provider=ONE, to=TWO)
        assert (report.users, report.master_key, report.not_reached) == (2, fingerprint(TWO), ())
        assert memory.facts(user_id="ben").items
        with pytest.raises(MasterKeyError, match="open it again"):
            memory.observe(user_id="new", session_id="s", user="I live in Rome.")
    assert rows(secret, "SELECT body FROM messages UNION ALL SELECT vector FROM vectors") == bodies
    again = rows(secret, "SELECT wrapped FROM user_keys")
    assert [w[:ID_BYTES] for (w,) in again] == [w[:ID_BYTES] for (w,) in wrapped] and again != wrapped
    with pytest.raises(MasterKeyError, match=fingerprint(TWO)):
        opened(secret, ONE)
    with opened(secret, TWO) as memory:
        assert told(memory) == before
        memory.observe(user_id="new", session_id="s", user="I live in Rome.")


def test_a_change_of_keys_goes_on_where_it_was_stopped(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(secret) as memory:
        before = told(memory)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(rekey, "_rewrap", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        LongTermMemory.rekey(secret, key_provider=ONE, to=TWO)
    with opened(secret, TWO) as memory:
        assert told(memory) == before
        memory.observe(user_id="new", session_id="s", user="I live in Rome.")
    assert LongTermMemory.rekey(secret, key_provider=ONE, to=TWO).users == 2
    with opened(secret, TWO) as memory:
        assert told(memory) == before and memory.facts(user_id="new").items
    assert len({m for (m,) in rows(secret, "SELECT master FROM user_keys")}) == 1
    with pytest.raises(ConfigError):
        LongTermMemory.rekey(secret, key_provider=None, to=None)


# forgetting, and backups ------------------------------------------------------------------------------
def test_a_forgotten_user_cannot_be_read_in_any_backup_with_the_master_key(secret: Path, tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    with opened(secret) as memory:
        memory.backup(copies / "one")
        (wrapped,) = next(iter(rows(secret, "SELECT wrapped FROM user_keys ORDER BY user_no")))
        names = rows(copies / "one", "SELECT wrapped FROM user_keys ORDER BY user_no")
        assert [len(w) for (w,) in names] == [ID_BYTES] * 2 and names[0][0] == wrapped[:ID_BYTES]
        (key_file,) = copies.glob("keys-*.sqlite3")
        assert wrapped in key_file.read_bytes() and key_file.stat().st_mode & 0o077 == 0
        bodies = [b for (b,) in rows(copies / "one", "SELECT body FROM messages WHERE user_no = 1")]
        receipt = memory.forget_user("ana@example.org")
        assert receipt.bytes_clean and receipt.counts["user_keys"] == 1
    everywhere = b"".join(p.read_bytes() for d in (secret, copies) for p in d.rglob("*") if p.is_file())
    assert wrapped[ID_BYTES:] not in everywhere and bodies and all(b in everywhere for b in bodies)
    # The whole backup, the key file and the master key together open everybody but the forgotten user.
    shutil.rmtree(secret)
    shutil.copytree(copies, tmp_path / "elsewhere")
    LongTermMemory.restore_backup(tmp_path / "elsewhere" / "one", tmp_path / "again", key_provider=ONE)
    with opened(tmp_path / "again") as memory:
        assert not memory.messages(user_id="ana@example.org").items and memory.facts(user_id="ben").items
    # Without the list of erasures the rows come back, and are refused as unreadable.
    with pytest.raises(CorruptError, match="data keys of 1 users"):
        LongTermMemory.restore_backup(
            tmp_path / "elsewhere" / "one", tmp_path / "third", key_provider=ONE, erasures="none"
        )
    with opened(tmp_path / "elsewhere" / "one") as memory, pytest.raises(MasterKeyError, match="destroyed"):
        memory.messages(user_id="ana@example.org")


def test_a_copy_of_the_files_themselves_is_readable_until_the_master_key_changes(
    secret: Path, tmp_path: Path
) -> None:
    shutil.copytree(secret, tmp_path / "snapshot")
    with opened(secret) as memory:
        memory.forget_user("ana@example.org")
    LongTermMemory.rekey(secret, key_provider=ONE, to=TWO)
    with pytest.raises(MasterKeyError):
        opened(tmp_path / "snapshot", TWO)
    # Said so in docs/encryption.md: whoever kept the former master key and such a copy can read it.
    with opened(tmp_path / "snapshot", ONE) as memory:
        assert memory.messages(user_id="ana@example.org").items


def test_a_key_file_that_cannot_be_reached_is_told_later(secret: Path, tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    with opened(secret) as memory:
        memory.backup(copies / "one")
        copies.rename(tmp_path / "away")
        memory.forget_user("ana@example.org")
        assert LongTermMemory.rekey(secret, key_provider=ONE, to=TWO).not_reached
    (tmp_path / "away").rename(copies)
    (key_file,) = copies.glob("keys-*.sqlite3")
    with closing(sqlite3.connect(key_file)) as conn:
        assert conn.execute("SELECT count(*) FROM keys").fetchone() == (2,)
    assert LongTermMemory.rekey(secret, key_provider=ONE, to=TWO).not_reached == ()
    CLOCK.now += timedelta(hours=1)
    with opened(secret, TWO) as memory:
        memory.maintain()
    with closing(sqlite3.connect(key_file)) as conn:
        assert conn.execute("SELECT count(*) FROM keys").fetchone() == (1,)


@pytest.mark.parametrize("lost", [False, True])
def test_a_backup_from_before_a_change_of_keys_is_restored_with_the_new_one(
    secret: Path, tmp_path: Path, lost: bool
) -> None:
    with opened(secret) as memory:
        before = told(memory)
        memory.backup(tmp_path / "copies" / "one")
        memory.forget_user("ben")
    LongTermMemory.rekey(secret, key_provider=ONE, to=TWO)
    if lost:
        shutil.rmtree(secret)
        with pytest.raises(UnavailableError, match="key file"):
            LongTermMemory.restore_backup(
                tmp_path / "copies" / "one", secret, key_provider=TWO, key_file=tmp_path / "nowhere"
            )
    with pytest.raises(MasterKeyError):
        LongTermMemory.restore_backup(tmp_path / "copies" / "one", secret, key_provider=ONE)
    LongTermMemory.restore_backup(tmp_path / "copies" / "one", secret, key_provider=TWO)
    with opened(secret, TWO) as memory:
        assert told(memory)[:6] == before[:6] and not memory.messages(user_id="ben").items
        memory.observe(user_id="ben", session_id="s9", user="I live in Rome.", at=datetime(2026, 3, 2, tzinfo=UTC))
        memory.observe(user_id="cy", session_id="s", user="I live in Oslo.")
        assert memory.doctor().healthy
    assert found_in(secret) == set()


def test_a_plain_backup_in_the_place_of_an_encrypted_store_is_encrypted(plain: Path, tmp_path: Path) -> None:
    with opened(plain, "none") as memory:
        before = told(memory)
        memory.backup(tmp_path / "copies" / "one")
    LongTermMemory.encrypt(plain, key_provider=ONE)
    with opened(plain) as memory:
        memory.forget_user("ben")
        memory.backup(tmp_path / "copies" / "two")
    LongTermMemory.restore_backup(tmp_path / "copies" / "one", plain, key_provider=ONE)
    with opened(plain) as memory:
        assert told(memory)[:6] == before[:6] and not memory.messages(user_id="ben").items
    assert found_in(plain) == set()
    LongTermMemory.restore_backup(tmp_path / "copies" / "one", tmp_path / "fresh", key_provider=ONE, erasures="none")
    with opened(tmp_path / "fresh") as memory:
        assert memory.facts(user_id="ben").items
    assert found_in(tmp_path / "fresh") == set()
    LongTermMemory.restore_backup(tmp_path / "copies" / "one", tmp_path / "open", erasures="none")
    with pytest.raises(ConflictError, match="ltm encrypt"):
        LongTermMemory.restore_backup(tmp_path / "copies" / "two", tmp_path / "open", key_provider=ONE)


def test_an_export_does_not_tell_which_store_it_came_from(secret: Path, plain: Path, tmp_path: Path) -> None:
    with opened(plain, "none") as source, opened(secret) as other:
        whole = list(source.export_user("ana@example.org"))
        other.import_user(whole, user_id="cy", trust=True)
        back = list(other.export_user("cy"))
    with opened(tmp_path / "third", "none") as third:
        third.import_user(back, user_id="cy", trust=True)
        assert [f.text for f in third.facts(user_id="cy")]
        assert list(third.export_user("cy"))[1:-1] == back[1:-1]


def test_names_keys_and_seals_are_those_of_one_store() -> None:
    keys = StoreKeys.new()
    assert keys.turned().name == keys.name != StoreKeys.new().name
    turned = keys.turned()
    assert len(turned.wrapping) == 2 and list(turned.newest().wrapping) == list(turned.wrapping)[1:]
    assert keys.hashing.hex() not in repr(keys) and repr(keys.hashing) not in repr(keys)
