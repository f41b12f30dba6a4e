"""What opening a SQLite store accepts, makes and refuses."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ltm_core.config import Config
from ltm_core.errors import BusyError, CorruptError, SchemaTooNewError, UnavailableError
from ltm_core.store.base import Store
from ltm_core.store.sqlite import files, migrations, open_store
from ltm_core.store.sqlite.schema import APPLICATION_ID
from ltm_core.testing.builders import DIMENSION, T0, say

CONFIG = Config.make()


def filled(path: Path, count: int = 1) -> Path:
    """A closed store with that many messages of user "ana"."""
    with closing(open_store(path, config=CONFIG)) as store:
        store.operations().set_embedder_identity("e", dimension=DIMENSION, now=T0)
        with store.write("ana") as w:
            for i in range(count):
                say(w, f"m{i}", f"text number {i} " * 20)
    return path


def ids(store: Store) -> list[str]:
    with store.read("ana") as r:
        return [m.id for m in r.messages()]


def test_open_makes_private_files_and_opens_them_again(tmp_path: Path) -> None:
    path = filled(tmp_path / "deep" / "data")
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((path / files.KEY).stat().st_mode) == 0o600
    assert sorted(p.name for p in path.iterdir()) == [files.DATABASE, files.KEY, files.LOCK]
    for _ in range(2):
        with closing(open_store(path, config=CONFIG)) as store:
            assert ids(store) == ["m0"]
            assert store.location == str(path) and not store.read_only
    with closing(sqlite3.connect(path / files.DATABASE)) as conn:
        assert conn.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert conn.execute("PRAGMA user_version").fetchone() == (migrations.SCHEMA_VERSION,)
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_connections_carry_the_pragmas(tmp_path: Path) -> None:
    for durability, synchronous in (("process", 1), ("power", 2)):
        config = Config.make(durability=durability)
        with closing(open_store(tmp_path / durability, config=config)) as store:
            for write in (True, False):
                with store.connection(write=write) as conn:

                    def pragma(name: str, conn: sqlite3.Connection = conn) -> object:
                        return conn.execute(f"PRAGMA {name}").fetchone()[0]

                    assert pragma("secure_delete") == 1 and pragma("temp_store") == 2
                    assert pragma("foreign_keys") == 1 and pragma("synchronous") == synchronous
                    assert pragma("busy_timeout") == 30_000


def test_a_temporary_store_is_gone_after_close() -> None:
    store = open_store(":memory:", config=CONFIG)
    directory = store.directory
    with store.write("ana") as w:
        w.ensure_user(now=T0)
    assert directory.is_dir()
    store.close()
    store.close()
    assert not directory.exists()
    for door in (store.read, store.write):
        with pytest.raises(UnavailableError, match="closed"), door("ana"):
            pass


def test_numpy_is_not_imported_with_the_store() -> None:
    code = "import sys, ltm_core.store.sqlite; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = filled(tmp_path / "data")
    with closing(sqlite3.connect(path / files.DATABASE)) as conn:
        conn.execute(f"PRAGMA user_version = {migrations.SCHEMA_VERSION + 1}")
    for read_only in (True, False):
        with pytest.raises(SchemaTooNewError, match="upgrade"):
            open_store(path, config=CONFIG, read_only=read_only)


def test_an_older_schema_is_migrated_in_one_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path / "data")

    def add_table(conn: sqlite3.Connection) -> None:
        conn.execute("CREATE TABLE later (id INTEGER PRIMARY KEY)")

    def fail(conn: sqlite3.Connection) -> None:
        raise RuntimeError("half-way")

    published = migrations.MIGRATIONS
    monkeypatch.setattr(migrations, "MIGRATIONS", (*published, add_table, fail))
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", len(published) + 2)
    with pytest.raises(UnavailableError, match="open it once for writing"):
        open_store(path, config=CONFIG, read_only=True)
    with pytest.raises(RuntimeError, match="half-way"):
        open_store(path, config=CONFIG)
    with closing(sqlite3.connect(path / files.DATABASE)) as conn:
        assert conn.execute("SELECT count(*) FROM sqlite_master WHERE name = 'later'").fetchone() == (0,)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*published, add_table))
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", len(published) + 1)
    with closing(open_store(path, config=CONFIG)) as store:
        assert ids(store) == ["m0"]


def test_what_is_not_ours_is_corrupt(tmp_path: Path) -> None:
    garbage = filled(tmp_path / "garbage")
    (garbage / files.DATABASE).write_bytes(b"not a database at all " * 400)
    truncated = filled(tmp_path / "truncated", 200)
    database = truncated / files.DATABASE
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])
    other = filled(tmp_path / "other")
    (other / files.DATABASE).unlink()
    with closing(sqlite3.connect(other / files.DATABASE)) as conn:
        conn.execute("CREATE TABLE notes (text)")
    for path in (garbage, truncated, other):
        before = (path / files.DATABASE).read_bytes()
        with pytest.raises(CorruptError) as caught:
            open_store(path, config=CONFIG)
        assert str(path) in str(caught.value)
        assert (path / files.DATABASE).read_bytes() == before


def test_a_damaged_page_is_corrupt_when_it_is_read(tmp_path: Path) -> None:
    path = filled(tmp_path / "data", 400)
    database = path / files.DATABASE
    data = bytearray(database.read_bytes())
    for page in range(60 * 4096, len(data), 4096):
        data[page : page + 64] = b"\xff" * 64
    database.write_bytes(bytes(data))
    # Of the pages from the sixtieth on some may belong to the schema, which opening reads.
    with pytest.raises(CorruptError), closing(open_store(path, config=CONFIG)) as store:
        ids(store)


def test_a_lost_or_foreign_key_is_refused(tmp_path: Path) -> None:
    path, other = filled(tmp_path / "a"), filled(tmp_path / "b")
    key = path / files.KEY
    kept = key.read_bytes()
    key.unlink()
    for read_only in (True, False):
        with pytest.raises(CorruptError, match="restore"):
            open_store(path, config=CONFIG, read_only=read_only)
    assert not key.exists()
    key.write_bytes((other / files.KEY).read_bytes())
    with pytest.raises(CorruptError, match="does not belong"):
        open_store(path, config=CONFIG)
    key.write_bytes(kept[:31])
    with pytest.raises(CorruptError, match="31 bytes"):
        open_store(path, config=CONFIG)
    key.write_bytes(kept)
    with closing(open_store(path, config=CONFIG)) as store:
        assert ids(store) == ["m0"]


def test_a_file_is_no_location(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for location in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UnavailableError, match=str(tmp_path)):
            open_store(location, config=CONFIG)


def test_a_directory_without_write_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path / "data")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UnavailableError, match="not writable"):
        open_store(path, config=CONFIG)
    with closing(open_store(path, config=CONFIG, read_only=True)) as store:
        assert ids(store) == ["m0"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user")
def test_another_uid_can_read_but_not_write(tmp_path: Path) -> None:
    path = filled(tmp_path / "data")
    for directory in (path, *path.parents):
        if directory != Path("/tmp") and directory.owner() == "root":
            directory.chmod(directory.stat().st_mode | 0o555)
    for file in path.iterdir():
        file.chmod(0o644)
    code = (
        "import os, sys\n"
        "from ltm_core.config import Config\n"
        "from ltm_core.errors import UnavailableError\n"
        "from ltm_core.store.sqlite import open_store\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try: open_store(sys.argv[1], config=Config.make())\n"
        "except UnavailableError as e: print('refused', sys.argv[1] in str(e))\n"
        "s = open_store(sys.argv[1], config=Config.make(), read_only=True)\n"
        "with s.read('ana') as r: print(len(r.messages()))\n"
        "s.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["refused", "True", "1"], done.stderr


def test_read_only_reads_and_refuses_writes(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="no store"):
        open_store(tmp_path / "none", config=CONFIG, read_only=True)
    assert not (tmp_path / "none").exists()
    path = filled(tmp_path / "data")
    with closing(open_store(path, config=CONFIG, read_only=True)) as store:
        assert store.read_only and ids(store) == ["m0"]
        with store.read("ana") as r:
            assert len(r.snapshot().rows.item) == 1
        for refused in (
            lambda: store.write("ana").__enter__(),
            lambda: store.operations().set_embedder_identity("x", dimension=3, now=T0),
            lambda: store.operations().scrub(wait_seconds=0),
        ):
            with pytest.raises(UnavailableError, match="reading only"):
                refused()
        assert store.operations().stats().messages == 1
        # A writer elsewhere goes on, and is seen.
        with closing(open_store(path, config=CONFIG)) as other, other.write("ana") as w:
            say(w, "later")
        assert len(ids(store)) == 2


def test_network_file_systems_are_refused_unless_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "share with space"
    mounts = tmp_path / "mounts"
    point = str(place.resolve()).replace(" ", "\\040")
    mounts.write_text(f"/dev/a / ext4 rw 0 0\nhost:/x {point} nfs4 rw 0 0\nhost:/y {point}er cifs rw 0 0\nodd\n")
    monkeypatch.setattr(files, "MOUNTS", mounts)
    with pytest.raises(UnavailableError, match="nfs4"):
        open_store(place / "data", config=CONFIG)
    assert not place.exists()
    open_store(place / "data", config=Config.make(allow_network_filesystem=True)).close()
    open_store(tmp_path / "local", config=CONFIG).close()
    mounts.unlink()
    open_store(place / "data", config=CONFIG).close()


def test_a_foreign_lock_becomes_busy(tmp_path: Path) -> None:
    path = filled(tmp_path / "data")
    with (
        closing(open_store(path, config=Config.make(busy_timeout_seconds=0.2))) as store,
        closing(open_store(path, config=Config.make(busy_timeout_seconds=0.2))) as second,
        closing(sqlite3.connect(path / files.DATABASE, isolation_level=None)) as foreign,
    ):
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError), store.write("ana"):
            pass
        foreign.execute("ROLLBACK")
        with store.write("ana") as w:
            say(w, "ok")
            with pytest.raises(BusyError), second.write("ana"):
                pass
        assert len(ids(store)) == 2


def test_a_full_disk_is_unavailable_and_loses_nothing(tmp_path: Path) -> None:
    path = filled(tmp_path / "data")
    with closing(open_store(path, config=CONFIG)) as store:
        with store.connection(write=True) as conn:
            pages = conn.execute("PRAGMA page_count").fetchone()[0]
            conn.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(UnavailableError, match="full"), store.write("ana") as w:
            for i in range(500):
                say(w, f"x{i}", "word " * 300)
        assert ids(store) == ["m0"]
        with store.connection(write=True) as conn:
            conn.execute("PRAGMA max_page_count = 1000000")
        with store.write("ana") as w:
            say(w, "after")
        assert len(ids(store)) == 2
